//! The tables of `offload compare`.

use trueplane_study::metrics::ratio;
use trueplane_study::report::{Cell, Column, Table};
use trueplane_study::rounded::Toward;
use trueplane_units::Nanos;

use super::Level;
use crate::Counts;
use crate::comparison::{Comparison, Outcome, Recovery, Row};
use crate::policy::SystemName;
use crate::words::{PROMPT, tuned};

/// A column that is left out where no row has anything in it.
struct Field<'a> {
    title: &'static str,
    name: &'static str,
    cell: Box<dyn Fn(&Row) -> Cell + 'a>,
}

fn field<'a>(title: &'static str, name: &'static str, cell: impl Fn(&Row) -> Cell + 'a) -> Field<'a> {
    Field { title, name, cell: Box::new(cell) }
}

fn count(count: Option<u64>) -> Cell {
    count.map_or(Cell::Missing, Cell::Count)
}

impl Comparison {
    pub(super) fn tables(&self) -> Vec<Table> {
        let levels = self.levels();
        let loops = self.loops();
        let mut tables = vec![self.misses(&levels)];
        tables.extend((!loops.rows.is_empty()).then_some(loops));
        tables
    }

    /// Every row beside the classical number and Bélády's.
    fn misses(&self, levels: &[Level<'_>]) -> Table {
        let level = |row: &Row| levels.iter().find(|level| level.change == row.change);
        let beside = |row: &Row, base: Option<&Row>| {
            let base = base.filter(|base| base.misses() > 0 && base.system != row.system);
            base.map_or(Cell::Missing, |base| Cell::Change(ratio(row.misses().into(), base.misses()) - 1.0))
        };
        let is_exact = self.options.exact;
        let mut fields = named();
        fields.extend([
            field("lookups", "lookups", |row| Cell::Count(row.lookups())),
            field("misses", "misses", |row| Cell::Count(row.misses())),
            field("miss ratio", "miss_ratio", |row| match row.outcome {
                Outcome::Bounds { .. } => Toward::Down.ratio_cell(row.miss_ratio()),
                _ => Cell::Ratio(row.miss_ratio()),
            }),
            field("a schedule has", "miss_ratio_upper", |row| match row.outcome {
                // What was found exactly is said once.
                Outcome::Bounds { upper: Some(upper), lookups, lower } if !is_exact || upper > lower => {
                    Toward::Up.ratio_cell(ratio(upper.into(), lookups))
                }
                _ => Cell::Missing,
            }),
            field("beside the classical", "misses_beside_classical", |row| {
                beside(row, level(row).and_then(Level::classical))
            }),
            field("beside belady", "misses_beside_belady", |row| {
                beside(row, level(row).and_then(Level::belady))
            }),
            field("recovery", "recovery_ns", |row| {
                recovery(row).and_then(|of| of.median).map_or(Cell::Missing, Cell::from)
            }),
            field("of changes", "recovery_changes", |row| count(recovery(row).map(|of| of.changes))),
            field("never over", "recovery_never", |row| count(recovery(row).map(|of| of.never))),
        ]);
        let rows: Vec<&Row> = self.rows.iter().collect();
        table("misses", &self.title(), fields, &rows)
    }

    /// What is counted, and what that means for the optimum if it is there.
    fn title(&self) -> String {
        let title = "Lookups that the table does not answer".to_owned();
        if !self.rows.iter().any(|row| row.system == SystemName::Optimal) {
            return title;
        }
        let fewest = if self.options.exact { "the fewest there can be" } else { "a lower bound" };
        format!("{title}; optimal: {fewest} for a {PROMPT}")
    }

    /// What the control loops did.
    fn loops(&self) -> Table {
        let mut fields = named();
        fields.extend([
            field("updates sent", "updates_sent", |row| count(counts(row).updates_sent)),
            field("applied", "updates_applied", |row| count(counts(row).updates_applied)),
            field("sent again", "updates_resent", |row| count(counts(row).updates_resent)),
            field("no place", "updates_failed", |row| count(counts(row).updates_failed)),
            field("history recorded", "history_recorded", |row| count(counts(row).history_recorded)),
            field("found no room", "history_lost", |row| count(counts(row).history_lost)),
            field("lost under way", "history_dropped", |row| count(counts(row).history_dropped)),
            field("last ageing period", "period_final", |row| period(row).map_or(Cell::Missing, Cell::from)),
        ]);
        let rows: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| counts(row) != Counts::default() || period(row).is_some())
            .collect();
        table("loops", "What the control loops did, the warm-up too", fields, &rows)
    }
}

/// What tells a row from the others.
fn named<'a>() -> Vec<Field<'a>> {
    vec![
        field("keys moved", "change", |row| count(row.change)),
        field("system", "system", |row| Cell::text(row.system.name())),
        field("updates a second", "update_rate", |row| count(row.update_rate)),
        field("control packets a second", "control_rate", |row| count(row.control_rate)),
        field("k", "chain", |row| count(row.chain)),
        field("threshold", "threshold", |row| count(row.threshold.map(u64::from))),
        field("tuned", "best", |row| {
            if row.best { Cell::text(format!("best {}", tuned(row.system))) } else { Cell::Missing }
        }),
    ]
}

/// The rows in all columns that are not empty.
fn table(id: &str, title: &str, fields: Vec<Field<'_>>, rows: &[&Row]) -> Table {
    let columns = fields.into_iter().map(|field| {
        let cells: Vec<Cell> = rows.iter().map(|row| (field.cell)(row)).collect();
        (Column::new(field.title, field.name), cells)
    });
    let columns: Vec<(Column, Vec<Cell>)> =
        columns.filter(|(_, cells)| cells.iter().any(|cell| *cell != Cell::Missing)).collect();
    let row = |index: usize| columns.iter().map(|(_, cells)| cells[index].clone()).collect();
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        rows: (0..rows.len()).map(row).collect(),
        columns: columns.iter().map(|(column, _)| column.clone()).collect(),
        detail: false,
    }
}

/// What the control loop of a row counted; nothing for what has none.
fn counts(row: &Row) -> Counts {
    match &row.outcome {
        Outcome::Run { counts, .. } => *counts,
        Outcome::Bounds { .. } => Counts::default(),
    }
}

fn recovery(row: &Row) -> Option<Recovery> {
    match &row.outcome {
        Outcome::Run { recovery, .. } => *recovery,
        Outcome::Bounds { .. } => None,
    }
}

/// The ageing period at the end, in ns, for those who age.
pub(crate) fn period(row: &Row) -> Option<Nanos> {
    match &row.outcome {
        Outcome::Run { period, .. } => *period,
        Outcome::Bounds { .. } => None,
    }
}
