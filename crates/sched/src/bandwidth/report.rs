//! What `sched bandwidth` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{BitsPerSec, Nanos};

use crate::BELIEF;
use crate::bandwidth::found::{BINS_PER_STEP, Bandwidth, FlowRun, SchedulerRun};
use crate::scheduler::SchedulerName;

impl Bandwidth {
    /// The report: what every flow gets in every step, and figure 11 of the paper for every scheduler.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "Who gets the line while flows of higher and higher priority join".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: self.schedulers.iter().map(|run| self.table(run)).collect(),
            plots: self.schedulers.iter().map(|run| self.plot(run)).collect(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![
            ("flows", format!("{} of {}", self.flows, BitsPerSec(self.flow_rate_bps))),
            ("line", BitsPerSec(self.rate_bps).to_string()),
            ("queues", format!("{} of {} packets", self.queues, self.depth_packets)),
            ("packet", format!("{} bytes", self.packet_bytes)),
            ("step", Nanos(self.step_ns).to_string()),
            ("seed", self.seed.to_string()),
        ];
        for run in &self.schedulers {
            let is = |names: [SchedulerName; 2]| names.iter().any(|name| name.name() == run.scheduler);
            if is([SchedulerName::SpPifo, SchedulerName::SpPifoArrivals]) {
                facts.push((run.scheduler, format!("pushes down by {}", self.push_down)));
            } else if is([SchedulerName::Afq, SchedulerName::AfqStrict]) {
                facts.push((run.scheduler, format!("{} bytes per flow and round", self.bytes_per_round)));
            }
        }
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// A row for every flow, a column for every step.
    fn table(&self, run: &SchedulerRun) -> Table {
        let mut columns = vec![Column::new("flow", "flow"), Column::new("rank", "rank")];
        columns.extend(
            (1..=self.flows).map(|step| Column::new(format!("step {step}"), format!("step_{step}_bps"))),
        );
        let rows = run.flows.iter().map(|flow| {
            // Before its start a flow has no bandwidth to speak of.
            let rate = |(step, &rate): (usize, &u64)| {
                if step < flow.flow as usize { Cell::Missing } else { Cell::Rate(BitsPerSec(rate)) }
            };
            let ends = [Cell::Count(u64::from(flow.flow) + 1), Cell::Count(flow.rank)];
            ends.into_iter().chain(flow.by_step_bps.iter().enumerate().map(rate)).collect()
        });
        Table {
            id: format!("bandwidth-{}", run.scheduler),
            title: format!("Bandwidth of every flow in every step: {}", run.scheduler),
            columns,
            rows: rows.collect(),
            ..Table::default()
        }
    }

    fn plot(&self, run: &SchedulerRun) -> Plot {
        let bin = self.bin_ns as f64;
        let curve = |flow: &FlowRun| Series {
            name: format!("flow {}, rank {}", flow.flow + 1, flow.rank),
            // Before its start a flow has no bandwidth to speak of.
            points: (flow.over_time_bps.iter().enumerate().skip(flow.flow as usize * BINS_PER_STEP as usize))
                .map(|(index, &rate)| ((index as f64 + 0.5) * bin, rate as f64))
                .collect(),
            color: Some(flow.flow as usize),
            ..Series::default()
        };
        Plot {
            id: format!("over-time-{}", run.scheduler),
            title: format!("Bandwidth over time: {} (figure 11)", run.scheduler),
            note: format!(
                "A flow joins every {}, each of a lower rank than all before.",
                Nanos(self.step_ns)
            ),
            x: Axis { label: "time".to_owned(), unit: Unit::Nanos, log: false },
            y: Axis { label: "bandwidth".to_owned(), unit: Unit::BitsPerSec, log: false },
            series: run.flows.iter().map(curve).collect(),
        }
    }
}
