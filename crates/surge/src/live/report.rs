//! What `surge pipeline` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{BitsPerSec, Nanos, Percent};

use super::document::{Compare, Row};
use crate::live::options::Queue;

impl Compare {
    /// The report: goodput by queue and attack rate as a table and as figure 3.20, what became of the packets, and what the scheduler
    /// takes for one.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "A scheduler under flood: goodput of a pipeline over threads".to_owned(),
            belief: self.belief.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: vec![self.goodputs(), self.fates(), self.users()],
            plots: if self.parameters.attack_bps.len() > 1 { self.plots() } else { Vec::new() },
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (of, machine) = (&self.parameters, &self.machine);
        let share = Percent(of.innocent_bps as f64 / of.r_max_bps);
        let fact = |name: &str, value: String| (name.to_owned(), value);
        vec![
            fact("work", of.workload.clone()),
            fact(
                "a packet of users",
                format!(
                    "{:.0} bytes and {} of work on average",
                    of.mean_packet_bits / 8.0,
                    Nanos(of.mean_job_ns.round() as u64)
                ),
            ),
            fact("r_max", format!("{}: what the worker could serve of users", rate(of.r_max_bps))),
            fact("users send", format!("{} ({share} of r_max)", BitsPerSec(of.innocent_bps))),
            fact(
                "a packet of the attacker",
                format!("{} bytes and {} of work", of.attack_packet_bits / 8, Nanos(of.attack_job_ns)),
            ),
            fact(
                "buffer",
                format!(
                    "{} packets; full, heap and fcfs drop the newcomer, the others the worst",
                    of.buffer_packets
                ),
            ),
            fact("receive ring", format!("{} descriptors", of.ring_packets)),
            fact("hand-over", format!("up to {} chosen in advance", of.handover_packets)),
            fact("a run", format!("{} after {} to warm up", Nanos(of.duration_ns), Nanos(of.warm_up_ns))),
            fact(
                "machine",
                format!("{} cores, {:.0} ns for a look at the clock", machine.cores, machine.clock_ns),
            ),
            fact("seed", of.seed.to_string()),
        ]
    }

    fn goodputs(&self) -> Table {
        let cells = |row: &Row| {
            vec![
                Cell::text(row.queue),
                Cell::Rate(BitsPerSec(row.attack_bps)),
                Cell::Rate(rate(row.goodput_bps)),
                row.scheduler_ns_per_packet.map_or(Cell::Missing, Cell::Nanos),
                Cell::Ratio(part(row.dropped, row.arrived)),
                Cell::Ratio(part(row.lost, row.arrived)),
                Cell::Ratio(part(row.innocent.lost.packets, row.innocent.arrived.packets)),
            ]
        };
        let columns = [
            ("queue", "queue"),
            ("attack", "attack_bps"),
            ("goodput", "goodput_bps"),
            ("scheduler per packet", "scheduler_ns_per_packet"),
            ("dropped", "dropped_share"),
            ("lost at the ring", "lost_share"),
            ("of users", "innocent_lost_share"),
        ];
        Table {
            id: "goodput".to_owned(),
            title: "Every queue at every attack rate".to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).to_vec(),
            rows: self.rows.iter().map(cells).collect(),
            ..Table::default()
        }
    }

    fn fates(&self) -> Table {
        let cells = |row: &Row| {
            let mut cells = vec![Cell::text(row.queue), Cell::Rate(BitsPerSec(row.attack_bps))];
            cells.extend([row.arrived, row.served, row.dropped, row.lost, row.left].map(Cell::Count));
            cells.extend([
                Cell::Ratio(row.worker_busy),
                row.worker_excess_ns.map_or(Cell::Missing, Cell::Nanos),
                Cell::Nanos(row.scheduler.stall_ns as f64),
            ]);
            cells
        };
        let columns = [
            ("queue", "queue"),
            ("attack", "attack_bps"),
            ("arrived", "arrived"),
            ("served", "served"),
            ("dropped", "dropped"),
            ("lost at the ring", "lost"),
            ("left", "left"),
            ("worker busy", "worker_busy"),
            ("a job took more by", "worker_excess_ns"),
            ("longest stall of the scheduler", "scheduler_stall_ns"),
        ];
        Table {
            id: "fates".to_owned(),
            title: "What became of the packets, warming up included, and how exact the machine was"
                .to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).to_vec(),
            rows: self.rows.iter().map(cells).collect(),
            detail: true,
        }
    }

    fn users(&self) -> Table {
        let cells = |row: &Row| {
            let fate = &row.innocent;
            let counts = [fate.arrived, fate.served, fate.dropped, fate.lost, fate.left];
            let mut cells = vec![Cell::text(row.queue), Cell::Rate(BitsPerSec(row.attack_bps))];
            cells.extend(counts.map(|amount| Cell::Count(amount.packets)));
            cells
        };
        let columns = [
            ("queue", "queue"),
            ("attack", "attack_bps"),
            ("arrived", "innocent_arrived"),
            ("served", "innocent_served"),
            ("dropped", "innocent_dropped"),
            ("lost at the ring", "innocent_lost"),
            ("left", "innocent_left"),
        ];
        Table {
            id: "users".to_owned(),
            title: "What became of the packets of users, warming up included".to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).to_vec(),
            rows: self.rows.iter().map(cells).collect(),
            detail: true,
        }
    }

    fn plots(&self) -> Vec<Plot> {
        let attack = Axis { label: "attack rate".to_owned(), unit: Unit::BitsPerSec, log: true };
        vec![
            Plot {
                id: "goodput".to_owned(),
                title: "Goodput over the attack rate (figure 3.20)".to_owned(),
                note: "Bits of users per second whose service ended. A heap that only finds its minimum has to drop the newcomer when it \
                       is full of attack packets; two ends are enough as long as the scheduler keeps up."
                    .to_owned(),
                x: attack.clone(),
                y: Axis { label: "goodput".to_owned(), unit: Unit::BitsPerSec, log: false },
                series: self.curves(|row| Some(row.goodput_bps)),
            },
            Plot {
                id: "scheduler".to_owned(),
                title: "What a packet costs the scheduler".to_owned(),
                note: "From the ring to the worker or the floor, receiving and the clock included; few packets at a time share a look at \
                       the clock less."
                    .to_owned(),
                x: attack,
                y: Axis { label: "time per packet".to_owned(), unit: Unit::Nanos, log: false },
                series: self.curves(|row| row.scheduler_ns_per_packet),
            },
        ]
    }

    /// A curve over the attack rate for every queue.
    fn curves(&self, y: impl Fn(&Row) -> Option<f64>) -> Vec<Series> {
        let curve = |&queue: &&'static str| {
            let rows = self.rows.iter().filter(|row| row.queue == queue && row.attack_bps > 0);
            Series {
                name: queue.to_owned(),
                points: rows.filter_map(|row| Some((row.attack_bps as f64, y(row)?))).collect(),
                // Always the same one, whichever were chosen.
                color: Queue::NAMES.iter().position(|(name, _)| *name == queue),
                ..Series::default()
            }
        };
        self.parameters.queues.iter().map(curve).collect()
    }
}

fn rate(bps: f64) -> BitsPerSec {
    BitsPerSec(bps.round() as u64)
}

fn part(some: u64, all: u64) -> f64 {
    some as f64 / all.max(1) as f64
}
