//! What `offload compare` says to people.
//!
//! `level` finds the rows that belong together, `tables` and `plots` show them; [`verdict`](super::verdict) says what
//! they come to.

mod level;
mod plots;
mod tables;

use trueplane_study::report::Report;
use trueplane_units::{Nanos, Percent};

pub(crate) use self::level::Level;
pub(crate) use self::tables::period;
use trueplane_study::rounded::as_asked;

use crate::comparison::{Comparison, Keys, Row};
use crate::options::{Dyso, Options, Reports};
use crate::policy::SystemName;
use crate::timing::Timing;
use crate::words::{counted, elapsed, packets, per_second};

/// What the classical model believes.
pub const BELIEF: &str = "what is hot is in the table: the miss ratio is that of an instantly updated cache";

impl Comparison {
    /// The report: every system beside the classical number and Bélády's, and figures 3, 4, 8, 9, 10, 11 and 12 of the paper.
    pub fn report(&self) -> Report {
        let document = self.document();
        Report {
            study: document.study.to_owned(),
            title: format!("What a slow control loop costs a switch's table: {}", self.workload),
            belief: BELIEF.to_owned(),
            verdict: document.verdict.clone(),
            facts: self.facts(),
            tables: self.tables(),
            plots: self.plots(),
            document: serde_json::to_value(document).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let timing = Timing { rate: options.rate };
        let lookups = self.rows.first().map_or(0, Row::lookups);
        let mut facts = vec![
            ("workload".to_owned(), self.workload.clone()),
            ("lookups".to_owned(), lookups_of(lookups, options, timing)),
        ];
        facts.extend(keys(self.keys));
        facts.extend(
            self.skipped.iter().map(|(what, count)| (format!("left out: {what}"), count.to_string())),
        );
        facts.push(("table".to_owned(), entries(options.entries)));
        let has = |wanted: fn(SystemName) -> bool| self.rows.iter().any(|row| wanted(row.system));
        if has(|system| system.properties().is_batched()) {
            let rates: Vec<String> = options.update_rates.iter().map(|&rate| per_second(rate)).collect();
            let batches = format!("{} at {}", entries(options.batch), rates.join(", "));
            facts.push(("batches".to_owned(), batches));
        }
        if has(|system| system == SystemName::Frequency) {
            facts.push(("counters are halved".to_owned(), format!("every {}", options.ageing)));
        }
        if has(|system| matches!(system, SystemName::NetCache | SystemName::Tea)) {
            facts.push(("reports".to_owned(), reports(&options.reports)));
        }
        if has(|system| system == SystemName::Dyso) {
            facts.push(("control packets".to_owned(), control(options)));
            facts.push(("history buffer".to_owned(), history(&options.dyso)));
            facts.push(("ageing period of dyso".to_owned(), ageing(&options.dyso)));
        }
        if has(|system| system == SystemName::Optimal) {
            facts.push(("optimal".to_owned(), search(options)));
        }
        facts.push(("seed".to_owned(), options.seed.to_string()));
        facts
    }
}

/// `240000000 at 80Mpps (3s)`, and how many more came before.
fn lookups_of(lookups: u64, options: &Options, timing: Timing) -> String {
    let mut said = format!("{lookups} at {} ({})", packets(options.rate), elapsed(lookups, timing));
    if options.warmup > 0 {
        let before = elapsed(options.warmup, timing);
        said += &format!(", after {} that warm the tables up ({before})", options.warmup);
    }
    said
}

/// What is known of the keys.
fn keys(keys: Keys) -> Vec<(String, String)> {
    let about = if keys.one_in > 1 { "about " } else { "" };
    let mut facts = Vec::new();
    facts.extend(keys.distinct.map(|distinct| ("keys".to_owned(), format!("{about}{distinct}"))));
    let collided = keys.collided.map(|collided| match collided {
        0 if keys.one_in > 1 => "none seen".to_owned(),
        0 => "none".to_owned(),
        collided => format!("{about}{collided}"),
    });
    facts.extend(collided.map(|said| ("keys that share their hash".to_owned(), said)));
    facts
}

/// `from 128 lookups in 1s, after 10ms; 4096 counters sampled a batch, at most 90 % of the table in use`.
fn reports(of: &Reports) -> String {
    let delay = if of.delay > Nanos(0) { format!(", after {}", of.delay) } else { String::new() };
    format!(
        "from {} in {}{delay}; {} sampled a batch, at most {} % of the table in use",
        counted(of.threshold.into(), "lookup"),
        of.interval,
        counted(of.sample, "counter"),
        of.load_percent
    )
}

/// `1Mpps, 5Mpps, back after 10us; 1.0 % are lost on each of the two ways; sent again after 30us`.
fn control(options: &Options) -> String {
    let dyso = &options.dyso;
    let rates: Vec<String> = options.control_rates.iter().map(|&rate| packets(rate)).collect();
    let mut said = format!("{}, back after {}", rates.join(", "), dyso.round_trip);
    if dyso.jitter > Nanos(0) {
        said += &format!(" and up to {} more on each of the two ways", dyso.jitter);
    }
    if dyso.loss_ppm > 0 {
        said += &format!("; {} are lost on each of the two ways", Percent(f64::from(dyso.loss_ppm) / 1e6));
    }
    format!("{said}; sent again after {}", dyso.resend_after())
}

fn history(of: &Dyso) -> String {
    format!("{} of {}", counted(of.history_rows.into(), "row"), counted(of.history_slots.into(), "key"))
}

/// How the optimum is looked for.
fn search(options: &Options) -> String {
    if options.exact {
        return "found exactly, as a linear programme by HiGHS".to_owned();
    }
    let gap = as_asked(options.bound.gap);
    format!(
        "searched until its bounds are within {gap}, in {} at most",
        counted(options.bound.iterations, "step")
    )
}

fn ageing(of: &Dyso) -> String {
    match of.tuning {
        Some(tuning) => format!("{} at first, tuned every {tuning}", of.ageing),
        None => format!("{}, never tuned", of.ageing),
    }
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}
