//! What `limit replay` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::BELIEF;
use crate::replay::found::{ClassRun, LimiterRun, Replay};
use crate::tally::Bin;

/// More classes than these cannot be told apart in one picture.
const MOST_DRAWN: usize = 6;

/// Pictures have at most so many points along the time.
const MOST_POINTS: u64 = 400;

impl Replay {
    /// The report: what became of every class, when, and what TCP's fairness would have come to.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.fairness(), self.outcomes()];
        tables.extend(self.limiters());
        Report {
            study: self.study.to_owned(),
            title: format!("What limits would have done: {}", self.trace),
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
        let mut facts = vec![
            ("capture".to_owned(), self.trace.clone()),
            ("packets".to_owned(), self.counts.arrived_packets.to_string()),
            ("bytes on the wire".to_owned(), Bytes(self.counts.arrived_bytes).to_string()),
            ("flows".to_owned(), self.flows.to_string()),
            ("time".to_owned(), Nanos(self.span_ns).to_string()),
            ("longest silence".to_owned(), Nanos(self.longest_silence_ns).to_string()),
            ("limiter".to_owned(), self.policy.to_owned()),
            ("peaks are of".to_owned(), Nanos(self.bin_ns).to_string()),
            ("fair by flow".to_owned(), "flows of the class / all flows × all bytes".to_owned()),
        ];
        if self.drain != "exact" {
            facts.push(("drained by a table of".to_owned(), self.drain.clone()));
        }
        if self.speedup != 1.0 {
            facts.push(("replayed".to_owned(), format!("{} times as fast", self.speedup)));
        }
        facts.extend(
            self.skipped.iter().map(|(what, count)| (format!("left out: {what}"), count.to_string())),
        );
        facts
    }

    /// The classical number beside what happened and what the limits make of it.
    fn fairness(&self) -> Table {
        let row = |class: &ClassRun| {
            vec![
                Cell::text(&class.class),
                Cell::Count(class.flows),
                Cell::Ratio(class.share_by_flows),
                Cell::Bytes(Bytes((class.share_by_flows * self.counts.arrived_bytes as f64).round() as u64)),
                Cell::Ratio(class.share_offered),
                Cell::Bytes(Bytes(class.counts.arrived_bytes)),
                Cell::Ratio(class.share_admitted),
                Cell::Bytes(Bytes(class.counts.admitted_bytes())),
            ]
        };
        Table {
            id: "fairness".to_owned(),
            title: "What TCP's fairness would give, what classes took, and what the limits let through"
                .to_owned(),
            columns: vec![
                Column::new("class", "class"),
                Column::new("flows", "flows"),
                Column::new("fair by flow", "share_by_flows"),
                Column::new("fair bytes", "bytes_by_flows"),
                Column::new("took", "share_offered"),
                Column::new("taken bytes", "arrived_bytes"),
                Column::new("limited", "share_admitted"),
                Column::new("limited bytes", "admitted_bytes"),
            ],
            rows: self.shown().map(row).collect(),
            ..Table::default()
        }
    }

    /// All classes, the packets of none only if there are any.
    fn shown(&self) -> impl Iterator<Item = &ClassRun> {
        self.classes.iter().filter(|class| class.rate_bps.is_some() || class.counts.arrived_packets > 0)
    }

    fn outcomes(&self) -> Table {
        let row = |class: &ClassRun| {
            let rate = |bps: Option<u64>| bps.map_or(Cell::Missing, |bps| Cell::Rate(BitsPerSec(bps)));
            vec![
                Cell::text(&class.class),
                rate(class.rate_bps),
                rate(class.offered_mean_bps),
                rate(Some(class.offered_peak_bps)),
                rate(class.admitted_mean_bps),
                rate(Some(class.admitted_peak_bps)),
                Cell::Count(class.counts.arrived_packets),
                Cell::Count(class.counts.passed_packets),
                Cell::Count(class.counts.marked_packets),
                Cell::Count(class.counts.dropped_packets),
                Cell::Bytes(Bytes(class.counts.dropped_bytes)),
                Cell::Ratio(class.counts.drop_share()),
                bytes_or_none(class.occupancy_max_bytes),
                bytes_or_none(class.burst_bytes),
            ]
        };
        Table {
            id: "classes".to_owned(),
            title: "What the limits would have done".to_owned(),
            columns: vec![
                Column::new("class", "class"),
                Column::new("limit", "rate_bps"),
                Column::new("offered mean", "offered_mean_bps"),
                Column::new("offered peak", "offered_peak_bps"),
                Column::new("let through mean", "admitted_mean_bps"),
                Column::new("let through peak", "admitted_peak_bps"),
                Column::new("packets", "arrived_packets"),
                Column::new("passed", "passed_packets"),
                Column::new("marked", "marked_packets"),
                Column::new("dropped", "dropped_packets"),
                Column::new("dropped bytes", "dropped_bytes"),
                Column::new("of its bytes", "drop_share"),
                Column::new("fullest", "occupancy_max_bytes"),
                Column::new("burst", "burst_bytes"),
            ],
            rows: self.shown().map(row).collect(),
            ..Table::default()
        }
    }

    /// The limiters of classes that have several, if there are any.
    fn limiters(&self) -> Option<Table> {
        let row = |limiter: &LimiterRun| {
            vec![
                Cell::text(&limiter.limiter),
                Cell::Count(limiter.counts.arrived_packets),
                Cell::Count(limiter.counts.passed_packets),
                Cell::Count(limiter.counts.marked_packets),
                Cell::Count(limiter.counts.dropped_packets),
                Cell::Bytes(Bytes(limiter.counts.arrived_bytes)),
                Cell::Bytes(Bytes(limiter.counts.dropped_bytes)),
                bytes_or_none(limiter.occupancy_max_bytes),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.classes.iter().flat_map(|class| &class.limiters).map(row).collect();
        (!rows.is_empty()).then(|| Table {
            id: "limiters".to_owned(),
            title: "Limiters of classes that have one for each prefix".to_owned(),
            columns: vec![
                Column::new("limiter", "limiter"),
                Column::new("packets", "arrived_packets"),
                Column::new("passed", "passed_packets"),
                Column::new("marked", "marked_packets"),
                Column::new("dropped", "dropped_packets"),
                Column::new("bytes", "arrived_bytes"),
                Column::new("dropped bytes", "dropped_bytes"),
                Column::new("fullest", "occupancy_max_bytes"),
            ],
            rows,
            detail: true,
        })
    }

    fn plots(&self) -> Vec<Plot> {
        // A class with packets only of those inside it has bins too.
        let mut drawn: Vec<&ClassRun> =
            self.shown().filter(|class| !class.over_time.bins().is_empty()).collect();
        drawn.sort_by_key(|class| std::cmp::Reverse(class.counts.arrived_bytes));
        let note = if drawn.len() > MOST_DRAWN {
            format!(" Only the {MOST_DRAWN} classes that sent most are drawn.")
        } else {
            String::new()
        };
        drawn.truncate(MOST_DRAWN);
        let time = Time::of(self);
        let mut plots = vec![time.rates(&drawn, &note)];
        plots.extend(time.occupancies(&drawn, &note));
        plots
    }
}

fn bytes_or_none(bytes: Option<u64>) -> Cell {
    bytes.map_or(Cell::Missing, |bytes| Cell::Bytes(Bytes(bytes)))
}

/// The horizontal axis of all pictures.
struct Time {
    bins: u64,
    /// Bins that are drawn as one.
    width: u64,
    bin: Nanos,
}

impl Time {
    fn of(replay: &Replay) -> Self {
        let bins = replay.span_ns / replay.bin_ns.max(1) + 1;
        Self { bins, width: bins.div_ceil(MOST_POINTS), bin: Nanos(replay.bin_ns) }
    }

    fn axis() -> Axis {
        Axis { label: "time since the first packet".to_owned(), unit: Unit::Nanos, log: false }
    }

    /// The length of what is drawn as one point.
    fn step(&self) -> Nanos {
        Nanos(self.bin.0.saturating_mul(self.width))
    }

    /// A value for each point, from all of its bins.
    fn points(
        &self,
        class: &ClassRun,
        add: impl Fn(u64, &Bin) -> u64,
        value: impl Fn(u64) -> f64,
    ) -> Vec<(f64, f64)> {
        let coarse = class.over_time.coarse(self.bins, self.width, add);
        let step = self.step().0 as f64;
        coarse.into_iter().enumerate().map(|(index, sum)| (index as f64 * step, value(sum))).collect()
    }

    fn rates(&self, classes: &[&ClassRun], note: &str) -> Plot {
        let rate = |bytes: u64| BitsPerSec::of(Bytes(bytes), self.step()).0 as f64;
        let mut series = Vec::new();
        for (index, class) in classes.iter().enumerate() {
            let offered = self.points(class, |sum, bin| sum + bin.counts.arrived_bytes, rate);
            let admitted = self.points(class, |sum, bin| sum + bin.counts.admitted_bytes(), rate);
            let curve = |name: String, points, dashed| Series {
                name,
                points,
                dashed,
                color: Some(index),
                ..Series::default()
            };
            series.push(curve(format!("{}, let through", class.class), admitted, false));
            series.push(curve(format!("{}, offered", class.class), offered, true));
        }
        Plot {
            id: "rates".to_owned(),
            title: format!("Rates over time, in steps of {}", self.step()),
            note: format!("Dashed: what was sent. Solid: what the limits let through.{note}"),
            x: Self::axis(),
            y: Axis { label: "rate".to_owned(), unit: Unit::BitsPerSec, log: false },
            series,
        }
    }

    /// None, if the policy cannot tell.
    fn occupancies(&self, classes: &[&ClassRun], note: &str) -> Option<Plot> {
        let curves = classes.iter().enumerate().filter(|(_, class)| class.occupancy_max_bytes.is_some());
        let series: Vec<Series> = curves
            .map(|(index, class)| Series {
                name: class.class.clone(),
                points: self.points(
                    class,
                    |most, bin| most.max(bin.occupancy_max_bytes),
                    |bytes| bytes as f64,
                ),
                color: Some(index),
                ..Series::default()
            })
            .collect();
        (!series.is_empty()).then(|| Plot {
            id: "occupancy".to_owned(),
            title: "How full the fullest bucket of every class is".to_owned(),
            note: format!(
                "The most of every step of {}; what would overflow the burst is dropped.{note}",
                self.step()
            ),
            x: Self::axis(),
            y: Axis { label: "occupancy (bytes)".to_owned(), unit: Unit::Plain, log: false },
            series,
        })
    }
}
