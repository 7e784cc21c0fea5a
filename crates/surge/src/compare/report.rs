//! What `surge compare` says to people.

use trueplane_study::prose::digits;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use crate::BELIEF;
use crate::document::{Compare, Row};
use crate::workload::size::Size;

/// Smaller intervals and expectations are called zero.
const DUST: f64 = 1e-6;

impl Compare {
    /// The report: every policy at its worst, all rows, and figures 3.17 and 3.18 of the thesis.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.worst_table()];
        if self.rows.len() > self.worst.len() {
            tables.push(self.all_rows());
        }
        Report {
            study: self.study.to_owned(),
            title: format!("What an attacker's bit costs users: {}", self.workload.name),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables,
            plots: self.plots(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (of, workload) = (&self.parameters, &self.workload);
        let mean_size = digits(workload.mean_packet_bits / 8.0, 4);
        let mean_job = Nanos(workload.mean_job_ns.round() as u64);
        let mut facts = vec![
            ("workload", workload.name.clone()),
            ("packets of users", format!("{} in {} flows", workload.packets, workload.flows)),
            ("a packet of users", format!("{mean_size}B and {mean_job} of work on average")),
            ("r_max", format!("{}: what the server can serve of users", rate(workload.r_max_bps))),
            ("users send", list(&of.innocent_bps, workload.r_max_bps)),
            ("the attacker sends", attack_rates(&of.attack_bps)),
            ("attack", self.attack_fact()),
            ("arrivals", of.arrivals.to_owned()),
            ("buffer", self.buffer_fact()),
            ("ranks", if of.exact_ranks { "exact" } else { "rounded for a find-first-set queue" }.to_owned()),
        ];
        facts.extend(of.link_bps.map(|link| ("link", BitsPerSec(link).to_string())));
        facts.push((
            if of.seeds.len() == 1 { "seed" } else { "seeds" },
            of.seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        ));
        let mut facts: Vec<(String, String)> =
            facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let left_out = workload.left_out.iter();
        facts.extend(left_out.map(|(what, count)| (format!("left out: {what}"), count.to_string())));
        facts
    }

    fn attack_fact(&self) -> String {
        let of = &self.parameters;
        let job = Nanos(of.attack_largest_job_ns);
        match (of.attack, Size::new(of.attack_smallest_packet_bits)) {
            ("by hand" | "from a file", _) | (_, None) => of.attack.to_owned(),
            ("own", _) => "packets that the application has for it".to_owned(),
            (attack, Some(size)) => format!("{attack}, packets from {size}, jobs up to {job}"),
        }
    }

    fn buffer_fact(&self) -> String {
        let of = &self.parameters;
        let size = match (of.capacity_packets, of.capacity_bits) {
            (Some(packets), _) => format!("{packets} packets"),
            (None, Some(bits)) => Bytes(bits / 8).to_string(),
            (None, None) => return "unbounded".to_owned(),
        };
        match of.overflow {
            "worst" => format!("{size}; the worst by the policy goes when it is full"),
            overflow => format!("{size}; the {overflow} goes when it is full"),
        }
    }

    fn worst_table(&self) -> Table {
        let several = self.parameters.attack_bps.len() > 1;
        let misjudged = is_misjudged(&self.rows);
        let rows = self.worst.iter().filter_map(|worst| self.rows.iter().find(|row| worst.is_of(row)));
        Table {
            id: "worst".to_owned(),
            title: if several {
                "Every policy under the attack rate at which a bit of attack displaces most".to_owned()
            } else {
                "Every policy under attack".to_owned()
            },
            columns: columns(misjudged),
            rows: rows.map(|row| cells(row, misjudged)).collect(),
            ..Table::default()
        }
    }

    fn all_rows(&self) -> Table {
        let misjudged = is_misjudged(&self.rows);
        let mut columns = columns(misjudged);
        columns.extend([
            Column::new("believed goodput", "believed_goodput_bps"),
            Column::new("arrived", "arrived"),
            Column::new("served", "served"),
            Column::new("dropped", "dropped"),
            Column::new("left", "left"),
            Column::new("most waiting", "backlog_packets"),
        ]);
        let row = |row: &Row| {
            let mut cells = cells(row, misjudged);
            cells.push(Cell::Rate(bits_per_sec(row.believed_goodput_bps)));
            let counts = [row.arrived, row.served, row.dropped, row.left, row.backlog_packets];
            cells.extend(counts.map(Cell::Count));
            cells
        };
        Table {
            id: "rows".to_owned(),
            title: "Every policy at every pair of rates".to_owned(),
            columns,
            rows: self.rows.iter().map(row).collect(),
            detail: true,
        }
    }
}

pub(crate) fn columns(misjudged: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::new("policy", "policy"),
        Column::new("users", "innocent_bps"),
        Column::new("attack", "attack_bps"),
        Column::new("displacement", "displacement_factor"),
        Column::new("±", "displacement_half_interval"),
        Column::new("theory", "theory"),
        Column::new("bound", "bound"),
        Column::new("goodput before", "baseline_goodput_bps"),
        Column::new("goodput", "goodput_bps"),
        Column::new("packet bits", "attack_packet_bits"),
        Column::new("job", "attack_job_ns"),
    ];
    columns.extend(misjudged.then(|| Column::new("thought", "attack_estimate_ns")));
    columns
}

/// The cells below [`columns`].
pub(crate) fn cells(row: &Row, misjudged: bool) -> Vec<Cell> {
    // What so few packets do is chance: a number would be read as one that means something.
    let displacement = row.tells().then_some(row.displacement_factor);
    let interval = row.displacement_interval.filter(|_| row.tells());
    let half = interval.map(|interval| (interval.high - interval.low) / 2.0);
    let mut cells = vec![
        Cell::text(row.policy),
        Cell::Rate(BitsPerSec(row.innocent_bps)),
        Cell::Rate(BitsPerSec(row.attack_bps)),
        displacement.map_or(Cell::Missing, without_dust),
        half.map_or(Cell::Missing, without_dust),
        row.theory.map_or(Cell::Missing, without_dust),
        row.bound.map_or(Cell::Missing, Cell::Number),
        Cell::Rate(bits_per_sec(row.baseline_goodput_bps)),
        Cell::Rate(bits_per_sec(row.goodput_bps)),
        Cell::Count(row.attack.packet_bits.into()),
        Cell::Nanos(row.attack.job_ns as f64),
    ];
    cells.extend(misjudged.then_some(Cell::Nanos(row.attack.estimate_ns as f64)));
    cells
}

/// Whether the scheduler takes an attack for something else than it is, which is then worth a column.
pub(crate) fn is_misjudged<'a>(rows: impl IntoIterator<Item = &'a Row>) -> bool {
    rows.into_iter().any(|row| row.attack.estimate_ns != row.attack.job_ns)
}

/// A number, or zero for what rounding leaves of it.
fn without_dust(number: f64) -> Cell {
    Cell::Number(if number.abs() < DUST { 0.0 } else { number })
}

/// A rate in whole bits per second.
fn bits_per_sec(rate: f64) -> BitsPerSec {
    BitsPerSec(rate.round() as u64)
}

fn rate(bps: f64) -> String {
    bits_per_sec(bps).to_string()
}

/// Rates of users, each with its share of r_max.
fn list(rates: &[u64], most: f64) -> String {
    let shown =
        rates.iter().map(|rate| format!("{} ({} of r_max)", BitsPerSec(*rate), Percent(*rate as f64 / most)));
    shown.collect::<Vec<_>>().join(", ")
}

fn attack_rates(rates: &[u64]) -> String {
    match rates {
        [] => String::new(),
        [one] => BitsPerSec(*one).to_string(),
        [first, .., last] => {
            format!("{} to {}, {} rates", BitsPerSec(*first), BitsPerSec(*last), rates.len())
        }
    }
}
