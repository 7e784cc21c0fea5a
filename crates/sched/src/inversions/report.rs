//! What `sched inversions` says to people.

use trueplane_study::prose::join;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::BELIEF;
use crate::choice::Arrivals;
use crate::inversions::document::{Inversions, SchedulerRun, find};
use crate::inversions::verdict::{Loaded, offered};
use crate::policy::SchedulerName;
use crate::rank::RankName;
use crate::scheduler::HEADROOM_PER_MILLE;
use crate::tally::RankRun;

impl Inversions {
    /// The report: the schedulers side by side, what changes if one thing does, and figures 5 and 6 of the paper.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.side_by_side()];
        if !self.variations.is_empty() {
            tables.push(self.varied_table());
        }
        if self.schedulers.iter().any(|run| !run.by_rank.is_empty()) {
            tables.push(self.by_rank());
        }
        let ranks = &self.parameters.ranks;
        Report {
            study: self.study.to_owned(),
            title: match &self.trace {
                Some(trace) => format!("The order of packets: ranks {ranks}, {}", trace.name),
                None => format!("The order of packets: ranks {ranks}"),
            },
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
        let of = &self.parameters;
        let mut facts: Vec<(&str, String)> = Vec::new();
        if let Some(trace) = &self.trace {
            facts.push(("trace", trace.name.clone()));
        }
        let span = of.span.map_or_else(|| "of no known span".to_owned(), |span| format!("below {span}"));
        facts.extend([
            ("ranks", format!("{}, {span}", of.ranks)),
            ("arrivals", of.arrivals.to_owned()),
            ("packets", of.packets.to_string()),
        ]);
        facts.extend(self.packet_fact());
        facts.extend([
            ("line", BitsPerSec(of.rate_bps).to_string()),
            ("load", self.load_fact()),
            ("queues", format!("{} of {} packets", of.queues, of.depth_packets)),
        ]);
        facts.extend(of.flows.map(|flows| ("flows", flows.to_string())));
        if let (Some(size), Some(access)) = (of.flow_size_bytes, of.access_bps) {
            facts.push(("flows", format!("of {} at {} each", Bytes(size), BitsPerSec(access))));
        }
        // Only these ranks look at it.
        let has_slack = |ranks: &str| matches!(ranks, "lstf" | "edf" | "fifo+");
        let slack = of.slack_ns.filter(|_| {
            has_slack(&of.ranks) || self.varied("ranks").any(|variation| has_slack(&variation.value))
        });
        facts.extend(slack.map(|slack| ("slack of flows", format!("up to {}", Nanos(slack)))));
        facts.push(("seed", of.seed.to_string()));
        let mut facts: Vec<(String, String)> =
            facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        facts.extend(self.scheduler_facts());
        facts.extend((self.left_out.iter()).map(|out| {
            (format!("left out: {}", out.scheduler), format!("it {} (ranks {})", out.why, out.ranks))
        }));
        let without = self.trace.as_ref().map_or(0, |trace| trace.packets_without_length);
        if without > 0 {
            let taken =
                format!("{without}, taken for {} bytes (--packet-size)", self.parameters.packet_bytes);
            facts.push(("packets without a length, or with one of 0".to_owned(), taken));
        }
        let skipped = self.trace.iter().flat_map(|trace| &trace.skipped);
        facts.extend(skipped.map(|(what, count)| (format!("left out: {what}"), count.to_string())));
        facts
    }

    /// The length of packets, unless the trace has all of them.
    fn packet_fact(&self) -> Option<(&'static str, String)> {
        let (of, policies) =
            (&self.parameters, RankName::ALL.iter().map(|policy| policy.name()).collect::<Vec<_>>());
        let length = Bytes(of.packet_bytes.into());
        if of.arrivals != Arrivals::Trace.name() {
            return Some(("packet", format!("{} bytes", length.0)));
        }
        // Only captures have what policies need, and every packet of a capture has a length.
        let is_capture = policies.contains(&of.ranks.as_str());
        (!is_capture).then(|| ("packet", format!("{} bytes, where the trace has no length", length.0)))
    }

    /// What the schedulers that are there were made with.
    fn scheduler_facts(&self) -> Vec<(String, String)> {
        use SchedulerName::{
            Afq, AfqStrict, Aifo, AifoAtMost, Fifo, Gradient, GradientAuthors, Packs, PacksPast, Pifo,
            SpPifo, SpPifoArrivals,
        };
        let of = &self.parameters;
        let present = |names: &[SchedulerName]| -> Vec<String> {
            let names = names.iter().filter(|&&name| self.run(name).is_some());
            names.map(|name| name.name().to_owned()).collect()
        };
        let quantiles = format!(
            "quantiles over {} packets, {} % of the buffer as headroom",
            of.window_packets,
            HEADROOM_PER_MILLE / 10
        );
        let facts = [
            (
                "memory of ",
                present(&[Fifo, Aifo, AifoAtMost, Pifo]),
                format!("{} packets", of.queues.saturating_mul(of.depth_packets)),
            ),
            ("", present(&[SpPifo, SpPifoArrivals]), format!("pushes down by {}", of.push_down)),
            (
                "",
                present(&[Gradient]),
                format!("adapts after every {} packets, {}", of.window_packets, of.adaptation),
            ),
            (
                "",
                present(&[GradientAuthors]),
                format!("adapts after every {} packets that are taken in", of.window_packets),
            ),
            ("", present(&[Aifo, AifoAtMost, Packs, PacksPast]), quantiles),
            ("", present(&[Afq, AfqStrict]), format!("{} bytes per flow and round", of.bytes_per_round)),
        ];
        let facts = facts.into_iter().filter(|(_, names, _)| !names.is_empty());
        facts.map(|(of, names, value)| (format!("{of}{}", join(&names)), value)).collect()
    }

    /// A capture with long gaps has hardly any load on average.
    fn shown_load(&self) -> String {
        let load = (self.parameters.load * 1e6).round() / 1e6;
        if load == 0.0 { "nearly 0".to_owned() } else { load.to_string() }
    }

    fn load_fact(&self) -> String {
        let of = &self.parameters;
        let rounded = |load: f64| (load * 1e6).round() / 1e6;
        let asked = rounded(of.load);
        let came = offered(of);
        let load = came.map_or(asked, rounded);
        let shown = came.map_or(self.shown_load(), |came| format!("{asked} was asked for, {came:.3} came"));
        match Loaded::at(load) {
            Loaded::Below => shown,
            Loaded::Critical => format!("{shown}: critical, so that only what is dropped bounds the queue"),
            Loaded::Beyond(share) => {
                format!("{shown}: overloaded, so that a share of {share:.3} of the packets has to be dropped")
            }
        }
    }

    /// What the inversions of others are relative to, each per packet that left: SP-PIFO's if it is there, else FIFO's.
    fn relative_to(&self) -> Option<&SchedulerRun> {
        let base = self.run(SchedulerName::SpPifo).or_else(|| self.run(SchedulerName::Fifo));
        base.filter(|base| base.inversions > 0)
    }

    fn side_by_side(&self) -> Table {
        let base = self.relative_to();
        let relative =
            |run: &SchedulerRun| base.map(|base| Cell::Number(run.inversion_share / base.inversion_share));
        let is_expected = self.schedulers.iter().any(|run| run.expected_unpifoness.is_some());
        let expected = if is_expected {
            " (expected: the unpifoness by eq. 5, from ranks and bounds alone)"
        } else {
            ""
        };
        let mut columns = vec![Column::new("scheduler", "scheduler")];
        columns.extend(measured_columns(
            base.map(|base| Column::new(format!("to {}", base.scheduler), "inversions_relative")),
        ));
        Table {
            id: "schedulers".to_owned(),
            title: format!("Inversions, drops and delay at a load of {}{expected}", self.shown_load()),
            columns,
            rows: (self.schedulers.iter())
                .map(|run| {
                    std::iter::once(Cell::text(run.scheduler)).chain(measured(run, relative(run))).collect()
                })
                .collect(),
            ..Table::default()
        }
    }

    /// Everything but the base; inversions beside those of a FIFO, at the base if there is none here.
    fn varied_table(&self) -> Table {
        let base = self.run(SchedulerName::Fifo);
        let mut columns = vec![
            Column::new("varied", "varied"),
            Column::new("value", "value"),
            Column::new("scheduler", "scheduler"),
        ];
        columns.extend(measured_columns(base.map(|_| Column::new("to fifo", "inversions_to_fifo"))));
        let mut rows = Vec::new();
        for variation in &self.variations {
            let fifo = find(&variation.schedulers, SchedulerName::Fifo).or(base);
            for run in &variation.schedulers {
                let ratio = fifo
                    .filter(|fifo| fifo.inversions > 0)
                    .map_or(Cell::Missing, |fifo| Cell::Number(run.inversion_share / fifo.inversion_share));
                let names = [variation.varied, &variation.value, run.scheduler].map(Cell::text);
                rows.push(names.into_iter().chain(measured(run, base.map(|_| ratio))).collect());
            }
        }
        let title = "One thing other than above".to_owned();
        Table { id: "variations".to_owned(), title, columns, rows, detail: true }
    }

    fn by_rank(&self) -> Table {
        let row = |run: &SchedulerRun, rank: &RankRun| {
            vec![
                Cell::text(run.scheduler),
                Cell::Count(rank.rank),
                Cell::Count(rank.ranks),
                Cell::Count(rank.arrivals),
                Cell::Count(rank.departures),
                Cell::Count(rank.drops),
                Cell::Count(rank.inversions),
                Cell::Number(rank.unpifoness as f64),
                rank.mean_delay_ns.map_or(Cell::Missing, Cell::Nanos),
            ]
        };
        Table {
            id: "by-rank".to_owned(),
            title: "By rank".to_owned(),
            columns: vec![
                Column::new("scheduler", "scheduler"),
                Column::new("rank", "rank"),
                Column::new("ranks", "ranks"),
                Column::new("arrivals", "arrivals"),
                Column::new("departures", "departures"),
                Column::new("drops", "drops"),
                Column::new("inversions", "inversions"),
                Column::new("unpifoness", "unpifoness"),
                Column::new("mean delay", "mean_delay_ns"),
            ],
            rows: (self.schedulers.iter())
                .flat_map(|run| run.by_rank.iter().map(move |rank| row(run, rank)))
                .collect(),
            detail: true,
        }
    }
}

/// The columns of what is measured of a scheduler, with one for what its inversions are relative to, if there is such a thing.
fn measured_columns(relative: Option<Column>) -> Vec<Column> {
    let mut columns =
        vec![Column::new("inversions", "inversions"), Column::new("of departures", "inversion_share")];
    columns.extend(relative);
    columns.extend([
        Column::new("unpifoness", "unpifoness_mean"),
        Column::new("expected", "expected_unpifoness"),
        Column::new("drops", "drops"),
        Column::new("of arrivals", "drop_share"),
        Column::new("mean delay", "mean_delay_ns"),
    ]);
    columns
}

/// The cells below [`measured_columns`].
fn measured(run: &SchedulerRun, relative: Option<Cell>) -> Vec<Cell> {
    let mut cells = vec![Cell::Count(run.inversions), Cell::Ratio(run.inversion_share)];
    cells.extend(relative);
    cells.extend([
        Cell::Number(run.unpifoness_mean),
        run.expected_unpifoness.map_or(Cell::Missing, Cell::Number),
        Cell::Count(run.drops),
        Cell::Ratio(run.drop_share),
        Cell::Nanos(run.mean_delay_ns),
    ]);
    cells
}
