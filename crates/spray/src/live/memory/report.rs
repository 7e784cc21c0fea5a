//! What `spray memory` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::Bytes;

use super::document::{Compare, Row};
use crate::live::memory::options::Traffic;

impl Compare {
    /// The report: every system at every number of cycles as a table, and rates over cycles as a figure.
    pub fn report(&self) -> Report {
        let mut cycles: Vec<u64> = self.rows.iter().map(|row| row.cycles).collect();
        cycles.dedup();
        Report {
            study: self.study.to_owned(),
            title: "Network functions on several cores, with real threads in memory".to_owned(),
            belief: self.belief.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: vec![self.rates(), self.runs()],
            plots: if cycles.len() > 1 { vec![self.plot()] } else { Vec::new() },
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (of, machine) = (&self.parameters, &self.machine);
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let sent = match of.traffic {
            Traffic::Steady => "open flows that send data in turns",
            Traffic::Connections => "connections from SYN to FIN, UDP and echoes",
            Traffic::Flood => "SYNs from everywhere between packets of open connections",
        };
        let full = if of.drops { "what finds it full is dropped" } else { "the dispatcher waits for room" };
        vec![
            fact("function", of.nf.to_string()),
            fact("sent", format!("{sent}; {} at a time", of.flows)),
            fact("a run", format!("about {} packets; {} of each system, in turns", of.packets, of.repeat)),
            fact("tables", format!("{} flows", of.table_flows)),
            fact("ring to a core", format!("{} packets; {full}", of.ring_packets)),
            fact(
                "machine",
                format!(
                    "{} cores for {} threads; {:.3} GHz",
                    machine.cores,
                    of.cores + 1,
                    machine.frequency_hz / 1e9
                ),
            ),
            fact("seed", of.seed.to_string()),
        ]
    }

    fn rates(&self) -> Table {
        let some = |value: Option<Cell>| value.unwrap_or(Cell::Missing);
        let cells = |row: &Row| {
            vec![
                Cell::text(row.dispatch.to_string()),
                Cell::Count(row.cycles),
                Cell::Count(row.rate_pps.round() as u64),
                Cell::Number(row.ratio),
                some(row.reordered.map(Cell::Ratio)),
                Cell::Count(row.handed_over),
                Cell::Ratio(row.busy),
                Cell::Ratio(row.dispatcher),
                some(row.identical.map(|same| Cell::text(if same { "yes" } else { "no" }))),
            ]
        };
        let columns = [
            ("dispatch", "dispatch"),
            ("cycles", "cycles"),
            ("packets/s", "rate_pps"),
            ("ratio", "ratio"),
            ("reordered", "reordered"),
            ("handed over", "handed_over"),
            ("cores busy", "busy"),
            ("dispatcher", "dispatcher"),
            ("as one core", "identical"),
        ];
        Table {
            id: "rates".to_owned(),
            title: "Every system, medians of all runs".to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).to_vec(),
            rows: self.rows.iter().map(cells).collect(),
            ..Table::default()
        }
    }

    fn runs(&self) -> Table {
        let cells = |row: &Row| {
            let each = row.rates_pps.iter().enumerate().map(|(run, &rate)| {
                vec![
                    Cell::text(row.dispatch.to_string()),
                    Cell::Count(row.cycles),
                    Cell::Count(run as u64 + 1),
                    Cell::Count(rate.round() as u64),
                    Cell::Count(row.packets / row.rates_pps.len().max(1) as u64),
                    Cell::Count(row.refused),
                    Cell::Bytes(Bytes(row.table_bytes as u64)),
                ]
            });
            each.collect::<Vec<_>>()
        };
        let columns = [
            ("dispatch", "dispatch"),
            ("cycles", "cycles"),
            ("run", "run"),
            ("packets/s", "rate_pps"),
            ("packets", "packets"),
            ("refused in all runs", "refused"),
            ("tables", "table_bytes"),
        ];
        Table {
            id: "runs".to_owned(),
            title: "Every run".to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).to_vec(),
            rows: self.rows.iter().flat_map(cells).collect(),
            detail: true,
        }
    }

    fn plot(&self) -> Plot {
        let mut systems = Vec::new();
        for row in &self.rows {
            if !systems.contains(&row.dispatch) {
                systems.push(row.dispatch);
            }
        }
        let curve = |system| Series {
            name: format!("{system}"),
            points: self
                .rows
                .iter()
                .filter(|row| row.dispatch == system)
                .map(|row| (row.cycles as f64, row.rate_pps))
                .collect(),
            ..Series::default()
        };
        Plot {
            id: "rates-by-cycles".to_owned(),
            title: "Processing rate over cycles per packet (figure 3.6a)".to_owned(),
            note: "Few flows leave cores idle when they are hashed; sprayed, they have all of them."
                .to_owned(),
            x: Axis { label: "cycles per packet".to_owned(), unit: Unit::Plain, log: false },
            y: Axis { label: "packets per second".to_owned(), unit: Unit::Plain, log: false },
            series: systems.into_iter().map(curve).collect(),
        }
    }
}
