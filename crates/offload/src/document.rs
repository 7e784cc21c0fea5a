//! The document of `offload compare`.

use serde::Serialize;
use trueplane_study::metrics::ratio;

use crate::Counts;
use crate::comparison::{Comparison, Keys, Outcome, Row};
use crate::options::Options;
use crate::tally::WINDOWS_PER_SECOND;
use crate::timing::Timing;

/// Windows that are written, in hundredths of a second.
pub(super) const WINDOWS: [u64; 3] = [WINDOWS_PER_SECOND, WINDOWS_PER_SECOND / 10, WINDOWS_PER_SECOND / 100];

/// A row has at most so many windows of a length: finer ones are left out where they are more.
const MOST_WINDOWS: usize = 20_000;

/// The result of `offload compare`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// `offload.compare`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The workload as its user wrote it.
    pub workload: String,
    /// What is known of its keys.
    pub keys: KeyFacts,
    /// What of a trace is no lookup, and how often.
    pub skipped: Vec<(String, u64)>,
    /// What was compared.
    pub parameters: Parameters,
    /// Every system in every configuration.
    pub rows: Vec<RowFacts>,
    /// Their misses over time, from the start on, the warm-up too.
    pub series: Vec<SeriesFacts>,
    /// What the user should know before believing the numbers, a sentence each.
    pub warnings: Vec<String>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// The keys of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct KeyFacts {
    /// Different keys; none if they were not counted.
    pub distinct: Option<u64>,
    /// Keys that share their 64-bit hash with another; none if that could not be found out.
    pub collided: Option<u64>,
    /// Both are estimates from every so many hashes; 1: they are exact, or there are none.
    pub one_in: u64,
}

impl From<Keys> for KeyFacts {
    fn from(keys: Keys) -> Self {
        Self { distinct: keys.distinct, collided: keys.collided, one_in: keys.one_in.max(1) }
    }
}

/// What was compared.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Which systems.
    pub systems: Vec<&'static str>,
    /// Entries of the table.
    pub entries: u64,
    /// Lookups a second.
    pub rate_per_s: u64,
    /// Entries a second that a batched controller replaces.
    pub update_rates_per_s: Vec<u64>,
    /// Entries of a batch.
    pub batch_entries: u64,
    /// Control packets a second.
    pub control_rates_per_s: Vec<u64>,
    /// Entries in a row of DySO's table.
    pub chains: Vec<u64>,
    /// Keys that move at every change, a level of change each, in the order of the rows; empty where nothing changes.
    pub changes: Vec<u64>,
    /// Lookups at the start that were not counted.
    pub warmup_lookups: u64,
    /// How often `frequency` halves its counters.
    pub ageing_ns: u64,
    /// Whether the best ageing period and threshold were looked for as well.
    pub best_config: bool,
    /// Lookups of a key within an interval that make it worth an entry.
    pub threshold: u32,
    /// After how long the statistics are cleared.
    pub interval_ns: u64,
    /// How long a report takes to the controller; NetCache.
    pub report_delay_ns: u64,
    /// Counters that are read for each batch.
    pub sample_counters: u64,
    /// The share of the table's entries that is used.
    pub load: f64,
    /// Rows of the history buffer.
    pub history_rows: u32,
    /// Keys that a row of it holds.
    pub history_slots: u32,
    /// From the controller to the switch and back.
    pub rtt_ns: u64,
    /// Up to so much more on each of the two ways.
    pub jitter_ns: u64,
    /// The probability that a control packet is lost on one of the two ways.
    pub loss: f64,
    /// After how long an update is sent again: as given, or three times the round trip and the jitter.
    pub timeout_ns: u64,
    /// The ageing period that DySO begins with.
    pub dyso_ageing_ns: u64,
    /// How often it is tuned; none: never.
    pub tuning_ns: Option<u64>,
    /// Whether `optimal` was found exactly, by its linear programme, without a search.
    pub exact: bool,
    /// Steps of the search for `optimal`'s bound, at most.
    pub bound_iterations: u64,
    /// How close its two bounds are to be, as a share of the lower.
    pub bound_gap: f64,
    /// Where random draws began.
    pub seed: u64,
}

impl Parameters {
    fn of(options: &Options, rows: &[Row]) -> Self {
        let (reports, dyso) = (&options.reports, &options.dyso);
        let mut changes: Vec<u64> = rows.iter().filter_map(|row| row.change).collect();
        // All rows of a level are together.
        changes.dedup();
        Self {
            systems: options.systems.iter().map(|system| system.name()).collect(),
            entries: options.entries,
            rate_per_s: options.rate,
            update_rates_per_s: options.update_rates.clone(),
            batch_entries: options.batch,
            control_rates_per_s: options.control_rates.clone(),
            chains: options.chains.clone(),
            changes,
            warmup_lookups: options.warmup,
            ageing_ns: options.ageing.0,
            best_config: options.best_config,
            threshold: reports.threshold,
            interval_ns: reports.interval.0,
            report_delay_ns: reports.delay.0,
            sample_counters: reports.sample,
            load: f64::from(reports.load_percent) / 1e2,
            history_rows: dyso.history_rows,
            history_slots: dyso.history_slots,
            rtt_ns: dyso.round_trip.0,
            jitter_ns: dyso.jitter.0,
            loss: f64::from(dyso.loss_ppm) / 1e6,
            timeout_ns: dyso.resend_after().0,
            dyso_ageing_ns: dyso.ageing.0,
            tuning_ns: dyso.tuning.map(|tuning| tuning.0),
            exact: options.exact,
            bound_iterations: options.bound.iterations,
            bound_gap: options.bound.gap,
            seed: options.seed,
        }
    }
}

/// One system in one configuration. What it does not have is none.
#[derive(Clone, Debug, Serialize)]
pub struct RowFacts {
    /// Which system.
    pub system: &'static str,
    /// Entries replaced a second.
    pub update_rate: Option<u64>,
    /// Control packets a second.
    pub control_rate: Option<u64>,
    /// Entries in a row of DySO's table.
    pub chain: Option<u64>,
    /// Keys that become the most popular at every change.
    pub change: Option<u64>,
    /// Whether this is the best configuration found, beside the one given.
    pub best: bool,
    /// The threshold of reports.
    pub threshold: Option<u32>,
    /// Lookups after the warm-up.
    pub lookups: u64,
    /// Those that missed; of `optimal`, what no schedule can undercut.
    pub misses: u64,
    /// Misses / lookups.
    pub miss_ratio: f64,
    /// Of `optimal`, misses of a schedule that there is; none if none was looked for.
    pub misses_upper: Option<u64>,
    /// Changes that the controller decided.
    pub updates_sent: Option<u64>,
    /// Changes that the table made.
    pub updates_applied: Option<u64>,
    /// Changes that were sent once more.
    pub updates_resent: Option<u64>,
    /// Insertions for which there was no place.
    pub updates_failed: Option<u64>,
    /// Lookups that entered the history buffer.
    pub history_recorded: Option<u64>,
    /// Lookups that found their row of it full.
    pub history_lost: Option<u64>,
    /// Lookups that left it on a control packet that was lost.
    pub history_dropped: Option<u64>,
    /// The median time until, after a change, the miss ratio was back within a tenth of its level before the changes, in seconds; none if
    /// there were no changes of which that can be told, or if in half of them the next one came first.
    pub recovery_s: Option<f64>,
    /// Changes of which it could be told.
    pub recovery_changes: Option<u64>,
    /// Changes of which it never got over before the next.
    pub recovery_never: Option<u64>,
    /// The ageing period at the end, in nanoseconds: of `frequency` that of the row, of `dyso` what it has tuned it to.
    pub period_final: Option<u64>,
}

impl RowFacts {
    fn of(row: &Row) -> Self {
        let (counts, period, recovery, upper) = match &row.outcome {
            Outcome::Run { counts, period, recovery, .. } => (*counts, *period, *recovery, None),
            Outcome::Bounds { upper, .. } => (Counts::default(), None, None, *upper),
        };
        Self {
            system: row.system.name(),
            update_rate: row.update_rate,
            control_rate: row.control_rate,
            chain: row.chain,
            change: row.change,
            best: row.best,
            threshold: row.threshold,
            lookups: row.lookups(),
            misses: row.misses(),
            miss_ratio: row.miss_ratio(),
            misses_upper: upper,
            updates_sent: counts.updates_sent,
            updates_applied: counts.updates_applied,
            updates_resent: counts.updates_resent,
            updates_failed: counts.updates_failed,
            history_recorded: counts.history_recorded,
            history_lost: counts.history_lost,
            history_dropped: counts.history_dropped,
            recovery_s: recovery.and_then(|of| of.median).map(|median| median.0 as f64 / 1e9),
            recovery_changes: recovery.map(|of| of.changes),
            recovery_never: recovery.map(|of| of.never),
            period_final: period.map(|period| period.0),
        }
    }
}

/// Misses of a row over time.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesFacts {
    /// The place of the row in `rows`, from 0.
    pub row: usize,
    /// How long a window is.
    pub window_s: f64,
    /// When each window begins.
    pub t_s: Vec<f64>,
    /// The share of its lookups that missed.
    pub miss_ratio: Vec<f64>,
}

impl Comparison {
    /// Everything that was found, for machines.
    pub fn document(&self) -> Document {
        let timing = Timing { rate: self.options.rate };
        let mut over_time = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            over_time.extend(WINDOWS.iter().filter_map(|&window| series(index, row, window, timing)));
        }
        Document {
            study: "offload.compare",
            version: env!("CARGO_PKG_VERSION"),
            workload: self.workload.clone(),
            keys: self.keys.into(),
            skipped: self.skipped.clone(),
            parameters: Parameters::of(&self.options, &self.rows),
            rows: self.rows.iter().map(RowFacts::of).collect(),
            series: over_time,
            warnings: self.warnings.clone(),
            verdict: self.verdict(),
        }
    }
}

/// The misses of a row in windows of so many hundredths of a second; none if its tally keeps no windows as short, or too many.
fn series(index: usize, row: &Row, window: u64, timing: Timing) -> Option<SeriesFacts> {
    let Outcome::Run { tally, .. } = &row.outcome else { return None };
    let windows = || tally.series(window as usize);
    // A long run has no fine ones.
    windows().next()?;
    if windows().nth(MOST_WINDOWS).is_some() {
        return None;
    }
    Some(SeriesFacts {
        row: index,
        window_s: ratio(window.into(), WINDOWS_PER_SECOND),
        t_s: windows().map(|window| timing.seconds(window.start)).collect(),
        miss_ratio: windows().map(|window| window.miss_ratio()).collect(),
    })
}
