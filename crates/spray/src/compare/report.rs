//! What `spray compare` tells: the document, tables, plots and sentences.

use serde::Serialize;
use trueplane_study::report::{Axis, Cell as Value, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{Nanos, Percent};

use crate::belief::busiest_share;
use crate::compare::{Cell, Comparison, Row, Spread};
use crate::options::{Options, Sizes, SystemName};

/// The result of `spray compare`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// `spray.compare`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The capture, if it was one.
    pub capture: Option<String>,
    /// What was compared.
    pub parameters: Parameters,
    /// Every system in every cell.
    pub rows: Vec<RowFacts>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// What was compared.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Packets a second that were offered to find the processing rate.
    pub rate_pps: u64,
    /// The share of the smallest rate at which latency was measured.
    pub load: f64,
    /// Packets in a run.
    pub packets: u64,
    /// Runs.
    pub runs: u32,
    /// Descriptors of a ring.
    pub ring: usize,
    /// Cycles a second.
    pub clock_hz: u64,
    /// What things cost, in cycles.
    pub costs: String,
    /// How the time of a packet varies.
    pub service: String,
    /// When packets came; none for a capture.
    pub arrivals: Option<String>,
    /// How long flows were; none for a capture.
    pub sizes: Option<String>,
    /// The silence that ends a burst.
    pub flowlet_gap_ns: u64,
    /// Packets a second that the card sprays at most.
    pub card_limit_pps: Option<u64>,
    /// Where random draws began.
    pub seed: u64,
}

/// One system in one cell.
#[derive(Clone, Debug, Serialize)]
pub struct RowFacts {
    /// Which system.
    pub dispatch: String,
    /// Which function.
    pub nf: String,
    /// Cores.
    pub cores: usize,
    /// Flows at a time.
    pub flows: u64,
    /// Cycles of work for each packet.
    pub cycles: u64,
    /// Packets a second that get through: the mean of all runs.
    pub rate_pps: f64,
    /// The smallest of all runs.
    pub rate_min_pps: f64,
    /// The largest.
    pub rate_max_pps: f64,
    /// Cores times the rate of one.
    pub believed_pps: f64,
    /// What is to be expected of hashing.
    pub hashing_expected_pps: Option<f64>,
    /// The share of the packets that the busiest core is to be expected to get by hashing.
    pub hashing_busiest_share: f64,
    /// Type-P-Reordered-Ratio at the processing rate.
    pub reordered: f64,
    /// 3-reordering at the processing rate.
    pub late_by_3: f64,
    /// Jain's index over flows, the mean of all runs.
    pub jain: f64,
    /// The smallest.
    pub jain_min: f64,
    /// The largest.
    pub jain_max: f64,
    /// Packets a second that were offered for what follows.
    pub load_pps: f64,
    /// The 99th percentile of latency, the mean of all runs.
    pub p99_ns: f64,
    /// The smallest.
    pub p99_min_ns: f64,
    /// The largest.
    pub p99_max_ns: f64,
    /// The median of latency.
    pub median_ns: f64,
    /// Type-P-Reordered-Ratio at that load.
    pub reordered_at_load: f64,
    /// 3-reordering at that load.
    pub late_by_3_at_load: f64,
    /// The share of handled packets that were handed over.
    pub handed_over: f64,
    /// The share of handled packets that the function dropped.
    pub dropped: f64,
}

impl RowFacts {
    fn of(row: &Row) -> Self {
        Self {
            dispatch: row.system.to_string(),
            nf: row.cell.function.to_string(),
            cores: row.cell.cores,
            flows: row.cell.flows,
            cycles: row.cell.cycles,
            rate_pps: row.rate.mean,
            rate_min_pps: row.rate.min,
            rate_max_pps: row.rate.max,
            believed_pps: row.believed,
            hashing_expected_pps: row.hashed,
            hashing_busiest_share: busiest_share(row.cell.flows, row.cell.cores),
            reordered: row.reordered.mean,
            late_by_3: row.late.mean,
            jain: row.jain.mean,
            jain_min: row.jain.min,
            jain_max: row.jain.max,
            load_pps: row.load,
            p99_ns: row.p99.mean,
            p99_min_ns: row.p99.min,
            p99_max_ns: row.p99.max,
            median_ns: row.median.mean,
            reordered_at_load: row.reordered_at_load.mean,
            late_by_3_at_load: row.late_at_load.mean,
            handed_over: row.handed,
            dropped: row.dropped,
        }
    }
}

fn sizes(options: &Options) -> String {
    match &options.sizes {
        Sizes::Forever => "forever".to_owned(),
        Sizes::Packets(packets) => packets.to_string(),
        Sizes::Drawn(sizes) => sizes.name().to_owned(),
    }
}

impl Comparison {
    /// Everything that was found, for machines.
    pub fn document(&self) -> Document {
        let options = &self.options;
        let generated = self.capture.is_none();
        Document {
            study: "spray.compare",
            version: env!("CARGO_PKG_VERSION"),
            capture: self.capture.as_ref().map(|(name, _)| name.clone()),
            parameters: Parameters {
                rate_pps: options.rate,
                load: options.load,
                packets: options.packets,
                runs: options.runs,
                ring: options.ring,
                clock_hz: options.clock,
                costs: options.costs.to_string(),
                service: options.service.to_string(),
                arrivals: generated.then(|| options.arrivals.to_string()),
                sizes: generated.then(|| sizes(options)),
                flowlet_gap_ns: options.dispatch.gap.0,
                card_limit_pps: options.card_limit,
                seed: options.seed,
            },
            rows: self.rows.iter().map(RowFacts::of).collect(),
            verdict: self.verdict(),
        }
    }

    /// Everything that was found, for people and machines.
    pub fn report(&self) -> Report {
        Report {
            study: "spray.compare".to_owned(),
            title: "Hashing flows to cores and spraying their packets".to_owned(),
            belief: "Hashing spreads flows evenly, so that m cores do m times as much as one.".to_owned(),
            verdict: self.verdict(),
            facts: self.facts(),
            tables: vec![self.table(), self.details()],
            plots: self.plots(),
            document: serde_json::to_value(self.document()).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let mut facts = match &self.capture {
            Some((name, skipped)) => {
                let skipped = skipped.iter().map(|(what, count)| fact(what, count.to_string()));
                std::iter::once(fact("capture", name.clone())).chain(skipped).collect()
            }
            None => vec![fact("flow sizes", sizes(options)), fact("arrivals", options.arrivals.to_string())],
        };
        facts.extend([
            fact("offered", format!("{} packets/s", options.rate)),
            fact("latency at", format!("{} of the smallest rate", Percent(options.load))),
            fact("runs", format!("{} of {} packets", options.runs, options.packets)),
            fact("clock", format!("{} Hz", options.clock)),
            fact("cycles", options.costs.to_string()),
            fact("service", options.service.to_string()),
            fact("ring", options.ring.to_string()),
            fact("seed", options.seed.to_string()),
        ]);
        facts
    }

    fn table(&self) -> Table {
        let column = |title: &str, name: &str| Column::new(title, name);
        let cells = |row: &Row| {
            vec![
                Value::text(row.cell.function.to_string()),
                Value::Count(row.cell.cores as u64),
                Value::Count(row.cell.flows),
                Value::Count(row.cell.cycles),
                Value::text(row.system.to_string()),
                Value::Count(row.rate.mean.round() as u64),
                Value::Change(row.rate.mean / row.believed - 1.0),
                Value::Nanos(row.p99.mean),
                Value::Ratio(row.reordered.mean),
                Value::Ratio(row.late.mean),
                Value::Number(row.jain.mean),
            ]
        };
        Table {
            id: "systems".to_owned(),
            title: "Processing rate, and latency at a load that all of them bear".to_owned(),
            columns: vec![
                column("function", "nf"),
                column("cores", "cores"),
                column("flows", "flows"),
                column("cycles", "cycles"),
                column("dispatch", "dispatch"),
                column("packets/s", "rate_pps"),
                column("against belief", "belief_change"),
                column("p99", "p99_ns"),
                column("reordered", "reordered"),
                column("late by 3", "late_by_3"),
                column("Jain", "jain"),
            ],
            rows: self.rows.iter().map(cells).collect(),
            detail: false,
        }
    }

    fn details(&self) -> Table {
        let column = |title: &str, name: &str| Column::new(title, name);
        let number = |value: f64| Value::Count(value.round() as u64);
        let cells = |row: &Row| {
            vec![
                Value::text(row.cell.function.to_string()),
                Value::Count(row.cell.cores as u64),
                Value::Count(row.cell.flows),
                Value::Count(row.cell.cycles),
                Value::text(row.system.to_string()),
                number(row.rate.min),
                number(row.rate.max),
                number(row.believed),
                row.hashed.map_or(Value::Missing, number),
                Value::Ratio(busiest_share(row.cell.flows, row.cell.cores)),
                number(row.load),
                Value::Nanos(row.median.mean),
                Value::Nanos(row.p99.min),
                Value::Nanos(row.p99.max),
                Value::Ratio(row.reordered_at_load.mean),
                Value::Ratio(row.late_at_load.mean),
                Value::Number(row.jain.min),
                Value::Number(row.jain.max),
                Value::Ratio(row.handed),
                Value::Ratio(row.dropped),
            ]
        };
        Table {
            id: "details".to_owned(),
            title: "Extremes over runs, what was believed and what is to be expected of hashing".to_owned(),
            columns: vec![
                column("function", "nf"),
                column("cores", "cores"),
                column("flows", "flows"),
                column("cycles", "cycles"),
                column("dispatch", "dispatch"),
                column("least packets/s", "rate_min_pps"),
                column("most packets/s", "rate_max_pps"),
                column("believed", "believed_pps"),
                column("expected of hashing", "hashing_expected_pps"),
                column("busiest core by hashing", "hashing_busiest_share"),
                column("load", "load_pps"),
                column("median", "median_ns"),
                column("least p99", "p99_min_ns"),
                column("most p99", "p99_max_ns"),
                column("reordered at load", "reordered_at_load"),
                column("late by 3 at load", "late_by_3_at_load"),
                column("least Jain", "jain_min"),
                column("most Jain", "jain_max"),
                column("handed over", "handed_over"),
                column("dropped", "dropped"),
            ],
            rows: self.rows.iter().map(cells).collect(),
            detail: true,
        }
    }

    /// The curves of figures 3.6a, 3.7a, 3.8 and 3.9, and reordering, where there are enough points for a curve.
    fn plots(&self) -> Vec<Plot> {
        type Of = fn(&Row) -> f64;
        let rate: Of = |row| row.rate.mean;
        let p99: Of = |row| row.p99.mean;
        let jain: Of = |row| row.jain.mean;
        let reordered: Of = |row| row.reordered.mean;
        // Whether by cycles, or else by flows.
        let plots: [(&str, &str, bool, Of, &str, Unit); 5] = [
            ("rate_by_cycles", "Processing rate by work", true, rate, "packets/s", Unit::Plain),
            ("rate_by_flows", "Processing rate by flows", false, rate, "packets/s", Unit::Plain),
            ("p99_by_cycles", "99th percentile of latency by work", true, p99, "latency", Unit::Nanos),
            ("jain_by_flows", "Fairness by flows", false, jain, "Jain's index", Unit::Plain),
            (
                "reordered_by_flows",
                "Reordering by flows",
                false,
                reordered,
                "packets reordered",
                Unit::Percent,
            ),
        ];
        let plot = |(id, title, by_cycles, y, label, unit): (&str, &str, bool, Of, &str, Unit)| {
            let series = self.series(by_cycles, y);
            let longest = series.iter().map(|series| series.points.len()).max()?;
            let (at, held) =
                if by_cycles { ("cycles for each packet", "flows") } else { ("flows", "cycles") };
            (longest > 1).then(|| Plot {
                id: id.to_owned(),
                title: title.to_owned(),
                note: format!("A curve for each function, dispatch, number of cores and of {held}."),
                x: Axis { label: at.to_owned(), unit: Unit::Plain, log: !by_cycles },
                y: Axis { label: label.to_owned(), unit, log: false },
                series,
            })
        };
        plots.into_iter().filter_map(plot).collect()
    }

    fn series(&self, by_cycles: bool, y: fn(&Row) -> f64) -> Vec<Series> {
        let mut series: Vec<(String, Series)> = Vec::new();
        for row in &self.rows {
            let Cell { function, cores, flows, cycles } = row.cell;
            let (x, held) = if by_cycles {
                (cycles, format!("{flows} flows"))
            } else {
                (flows, format!("{cycles} cycles"))
            };
            let several = |count: usize, text: String| (count > 1).then_some(text);
            let held_count = if by_cycles { self.options.flows.len() } else { self.options.cycles.len() };
            let parts = [
                Some(row.system.to_string()),
                several(self.options.functions.len(), function.to_string()),
                several(self.options.cores.len(), format!("{cores} cores")),
                several(held_count, held),
            ];
            let name = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let point = (x as f64, y(row));
            match series.iter_mut().find(|(known, _)| *known == name) {
                Some((_, series)) => series.points.push(point),
                None => {
                    series.push((name.clone(), Series { name, points: vec![point], ..Series::default() }));
                }
            }
        }
        let sorted = series.into_iter().map(|(_, mut series)| {
            series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
            series
        });
        sorted.collect()
    }

    /// What was found, the most important first.
    pub fn verdict(&self) -> Vec<String> {
        let cells: Vec<&[Row]> = self.rows.chunk_by(|a, b| a.cell == b.cell).collect();
        let mut sentences = Vec::new();
        sentences.extend(on_belief(&self.rows));
        sentences.extend(on_gain(&cells));
        sentences.extend(on_loss(&cells));
        sentences.extend(on_adaptive(&cells));
        sentences.extend(on_latency(&cells));
        sentences.extend(on_order(&self.rows));
        sentences
    }
}

/// A row of hashing in a cell.
fn hashing(cell: &[Row]) -> Option<&Row> {
    use crate::dispatch::DispatchName::Rss;
    cell.iter().find(|row| row.system == SystemName::Dispatch(Rss))
}

fn found<'a>(cell: &'a [Row], name: &str) -> Option<&'a Row> {
    cell.iter().find(|row| row.system.to_string() == name)
}

fn at(cell: &Cell) -> String {
    let flows = if cell.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", cell.flows) };
    format!("{flows}, {} cycles and {} cores", cell.cycles, cell.cores)
}

fn millions(rate: f64) -> String {
    format!("{:.2} M packets/s", rate / 1e6)
}

/// The classical number beside the truth, where they are farthest apart.
fn on_belief(rows: &[Row]) -> Option<String> {
    let worst = rows
        .iter()
        .filter(|row| hashing(std::slice::from_ref(row)).is_some())
        .min_by(|a, b| (a.rate.mean / a.believed).total_cmp(&(b.rate.mean / b.believed)))?;
    let Row { cell, believed, rate, .. } = worst;
    let flows = if cell.flows == 1 { "flow" } else { "flows" };
    Some(format!(
        "{} cores are believed to do {} at {} cycles; with {} {flows}, hashing to cores gets {} of that: {}.",
        cell.cores,
        millions(*believed),
        cell.cycles,
        cell.flows,
        Percent(rate.mean / believed),
        millions(rate.mean)
    ))
}

fn gain(cell: &[Row], name: &str) -> Option<f64> {
    Some(found(cell, name)?.rate.mean / hashing(cell)?.rate.mean).filter(|gain| gain.is_finite())
}

/// Where spraying gains most.
fn on_gain(cells: &[&[Row]]) -> Option<String> {
    let gains = cells.iter().filter_map(|cell| Some((cell, gain(cell, "spray")?)));
    let (cell, most) = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let cell = &cell.first()?.cell;
    (most > 1.005).then(|| {
        format!(
            "Spraying pays most with {}: {most:.2} times what hashing gets through, because every core works on every flow.",
            at(cell)
        )
    })
}

/// Where it does not pay.
fn on_loss(cells: &[&[Row]]) -> Option<String> {
    let gains: Vec<_> = cells.iter().filter_map(|cell| Some((cell, gain(cell, "spray")?))).collect();
    let losing = gains.iter().filter(|(_, gain)| *gain < 0.995).count();
    let (cell, least) = gains.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let least_at = at(&cell.first()?.cell);
    if losing == 0 {
        let all = gains.iter().all(|(_, gain)| *gain <= 1.005);
        return all.then(|| {
            "Spraying pays nowhere here: no core that hashing leaves idle could have done anything."
                .to_owned()
        });
    }
    Some(format!(
        "It does not pay in {losing} of {} cells, least with {least_at}: {least:.2} times hashing. There hashing keeps all cores busy, or the line full, and \
         spraying pays for looking up flows in other cores' tables.",
        gains.len()
    ))
}

/// How the adaptive policy compares with hashing.
fn on_adaptive(cells: &[&[Row]]) -> Option<String> {
    let gains = cells.iter().filter_map(|cell| Some((cell, gain(cell, "adaptive")?)));
    let (cell, least) = gains.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = gains.map(|(_, gain)| gain).fold(f64::MIN, f64::max);
    Some(format!(
        "adaptive gets through {least:.2} times what hashing does at least ({}), and {most:.2} times at most.",
        at(&cell.first()?.cell)
    ))
}

/// What spraying does to the 99th percentile.
fn on_latency(cells: &[&[Row]]) -> Option<String> {
    let pair = |cell: &&[Row]| Some((found(cell, "spray")?.p99.mean, hashing(cell)?.p99.mean));
    let changes = cells.iter().filter_map(|cell| pair(cell).map(|pair| (cell, pair)));
    let changes = changes.filter(|(_, (sprayed, hashed))| *sprayed > 0.0 && *hashed > 0.0);
    let (cell, (sprayed, hashed)) = changes.max_by(|a, b| (a.1.1 / a.1.0).total_cmp(&(b.1.1 / b.1.0)))?;
    let first = cell.first()?;
    Some(format!(
        "At {} (with {}), the 99th percentile of latency is {} sprayed and {} hashed.",
        millions(first.load),
        at(&first.cell),
        Nanos(sprayed.round() as u64),
        Nanos(hashed.round() as u64)
    ))
}

/// What spraying costs in order.
fn on_order(rows: &[Row]) -> Option<String> {
    let worst = rows.iter().max_by(|a, b| a.late.mean.total_cmp(&b.late.mean))?;
    let Spread { mean, .. } = worst.late;
    Some(if mean == 0.0 {
        "No packet comes so late that TCP would take it for lost.".to_owned()
    } else {
        format!(
            "{} of packets come right after three later ones of their flow, which TCP takes for a loss ({} with {}, at the processing rate); at the load of the \
             latencies {}.",
            Percent(mean),
            worst.system,
            at(&worst.cell),
            Percent(worst.late_at_load.mean)
        )
    })
}
