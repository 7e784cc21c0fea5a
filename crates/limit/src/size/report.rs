//! What `limit size` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::Bytes;

use crate::BELIEF;
use crate::size::found::{Layout, Size, TableSize};

/// Memories are drawn from so many times less to as many times more than what there is.
const DRAWN_SPAN: u64 = 64;

impl Size {
    /// The report: figure 15 of the paper for every layout, and the tables to drain by.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "How many limiters fit".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: vec![
                ("memory".to_owned(), Bytes(self.memory_bytes).to_string()),
                ("limiters".to_owned(), self.limiters.to_string()),
            ],
            tables: vec![self.layouts(), self.drains()],
            plots: vec![self.fitting(), self.lines()],
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn layouts(&self) -> Table {
        let row = |layout: &Layout| {
            vec![
                Cell::text(&layout.layout),
                Cell::Count(layout.bytes),
                Cell::Count(layout.limiters_in_memory),
                Cell::Bytes(Bytes(layout.limiters_bytes)),
                Cell::text(&layout.state),
            ]
        };
        Table {
            id: "layouts".to_owned(),
            title: "What a limiter takes".to_owned(),
            columns: vec![
                Column::new("layout", "layout"),
                Column::new("bytes", "bytes"),
                Column::new(format!("fit into {}", Bytes(self.memory_bytes)), "limiters_in_memory"),
                Column::new(format!("{} take", self.limiters), "limiters_bytes"),
                Column::new("state", "state"),
            ],
            rows: self.layouts.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn drains(&self) -> Table {
        let row = |table: &TableSize| {
            vec![
                Cell::Ratio(table.error_max),
                Cell::Count(table.ranges),
                Cell::Bytes(Bytes(table.ranges_bytes)),
                Cell::Count(table.prefixes),
                Cell::Bytes(Bytes(table.prefixes_bytes)),
            ]
        };
        Table {
            id: "drain-tables".to_owned(),
            title: "Beside them, once for all: the table to drain by where there is no multiplication"
                .to_owned(),
            columns: vec![
                Column::new("maximum error", "error_max"),
                Column::new("ranges", "ranges"),
                Column::new("at 8 bytes", "ranges_bytes"),
                Column::new("TCAM prefixes", "prefixes"),
                Column::new("at 12 bytes", "prefixes_bytes"),
            ],
            rows: self.drain_tables.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn fitting(&self) -> Plot {
        let memories = || {
            let doublings = 2 * DRAWN_SPAN.ilog2();
            (0..=doublings)
                .map(|doubling| (self.memory_bytes / DRAWN_SPAN).max(1).saturating_mul(1 << doubling))
        };
        // A layout as large as one before it is drawn with it.
        let mut series: Vec<(u64, Series)> = Vec::new();
        for layout in &self.layouts {
            if let Some((_, drawn)) = series.iter_mut().find(|(bytes, _)| *bytes == layout.bytes) {
                drawn.name = format!("{}; {}", drawn.name, layout.layout);
                continue;
            }
            let points = memories().map(|memory| (memory as f64, (memory / layout.bytes) as f64)).collect();
            series.push((layout.bytes, Series { name: layout.layout.clone(), points, ..Series::default() }));
        }
        Plot {
            id: "fitting".to_owned(),
            title: "Limiters by memory".to_owned(),
            note: "The paper's figure 15 is Nimble at 1 MiB: 64 K.".to_owned(),
            x: Axis { label: "memory (bytes)".to_owned(), unit: Unit::Plain, log: true },
            y: Axis { label: "limiters".to_owned(), unit: Unit::Plain, log: true },
            series: series.into_iter().map(|(_, series)| series).collect(),
        }
    }

    fn lines(&self) -> Plot {
        let curve = |name: &str, lines: fn(&TableSize) -> u64| Series {
            name: name.to_owned(),
            points: self.drawn_tables.iter().map(|table| (table.error_max, lines(table) as f64)).collect(),
            ..Series::default()
        };
        Plot {
            id: "table-lines".to_owned(),
            title: "Lines of the table to drain by".to_owned(),
            note: "Each halving of the error about doubles the table.".to_owned(),
            x: Axis { label: "maximum error of the drain".to_owned(), unit: Unit::Percent, log: true },
            y: Axis { label: "lines".to_owned(), unit: Unit::Plain, log: true },
            series: vec![
                curve("ranges", |table| table.ranges),
                curve("TCAM prefixes", |table| table.prefixes),
            ],
        }
    }
}
