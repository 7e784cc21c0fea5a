//! The three numbers of every study: what the classical model predicts, what the refined model predicts, and what was measured.

use crate::report::{Cell, Column, Table};

/// The name of the table of the three numbers.
pub const TABLE: &str = "numbers";

/// The word for the prediction of the classical model, in every table and text.
pub const CLASSICAL: &str = "classical";
/// The word for the prediction of the refined model.
pub const REFINED: &str = "refined";
/// The word for what was seen on a live system.
pub const MEASURED: &str = "measured";

/// The heading of what would measure a quantity.
pub(crate) const TO_MEASURE: &str = "to measure";

/// One quantity, three times.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The quantity in words: `mean latency under lru`.
    pub quantity: String,
    /// The name of its values for programs, which ends in their unit: `latency_mean_ns`.
    pub name: String,
    /// The prediction of the classical model.
    pub classical: Cell,
    /// The prediction of the refined model.
    pub refined: Cell,
    /// Measured value, or the way to measure it.
    pub measured: Measured,
}

/// Measured value of a live system, or the way to find it.
#[derive(Clone, Debug)]
pub enum Measured {
    /// It was measured.
    Is(Cell),
    /// This command measures it.
    By(&'static str),
    /// No command can measure it; this is what it takes, in a few words.
    Needs(&'static str),
}

impl Numbers {
    /// Whether the name ends in the unit of every value, as names of columns do.
    pub(crate) fn fits(&self) -> bool {
        let measured = match &self.measured {
            Measured::Is(cell) => cell,
            Measured::By(_) | Measured::Needs(_) => &Cell::Missing,
        };
        [&self.classical, &self.refined, measured].into_iter().all(|cell| cell.fits(&self.name))
    }
}

/// The table of these numbers.
pub(crate) fn table(numbers: &[Numbers]) -> Table {
    let is_measured = numbers.iter().any(|row| matches!(row.measured, Measured::Is(_)));
    let has_command = numbers.iter().any(|row| !matches!(row.measured, Measured::Is(_)));
    let mut columns = vec![
        Column::new("", "quantity"),
        // Values of people have their units beside them.
        Column::for_programs("name"),
        Column::new(CLASSICAL, CLASSICAL),
        Column::new(REFINED, REFINED),
    ];
    columns.extend(is_measured.then(|| Column::new(MEASURED, MEASURED)));
    columns.extend(has_command.then(|| Column::new(TO_MEASURE, "measured_by")));
    let cells = |row: &Numbers| {
        let (measured, command) = match &row.measured {
            Measured::Is(cell) => (cell.clone(), Cell::Missing),
            Measured::By(how) | Measured::Needs(how) => (Cell::Missing, Cell::text(*how)),
        };
        let mut cells = vec![
            Cell::text(&row.quantity),
            Cell::text(&row.name),
            row.classical.clone(),
            row.refined.clone(),
        ];
        cells.extend(is_measured.then_some(measured));
        cells.extend(has_command.then_some(command));
        cells
    };
    Table {
        id: TABLE.to_owned(),
        title: "Classical, refined, measured".to_owned(),
        columns,
        rows: numbers.iter().map(cells).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_measured_says_how() {
        let row = |measured| Numbers {
            quantity: "hit rate".to_owned(),
            name: "hit_rate".to_owned(),
            classical: Cell::Ratio(0.5),
            refined: Cell::Ratio(0.25),
            measured,
        };
        let names = |numbers: &[Numbers]| {
            table(numbers).columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        let (seen, by) = (row(Measured::Is(Cell::Ratio(0.25))), row(Measured::By("trueplane limit attach")));
        assert_eq!(
            names(std::slice::from_ref(&seen)),
            ["quantity", "name", "classical", "refined", "measured"]
        );
        assert_eq!(
            names(std::slice::from_ref(&by)),
            ["quantity", "name", "classical", "refined", "measured_by"]
        );
        let both = table(&[seen, by]);
        assert!(both.rows.iter().all(|row| row.len() == both.columns.len()));
    }

    #[test]
    fn the_name_ends_in_the_unit_of_every_value() {
        let row = |name: &str, measured| Numbers {
            quantity: "mean wait".to_owned(),
            name: name.to_owned(),
            classical: Cell::Missing,
            refined: Cell::Nanos(2.5),
            measured,
        };
        assert!(row("wait_mean_ns", Measured::By("a command")).fits());
        assert!(row("wait_mean_ns", Measured::Is(Cell::Nanos(3.0))).fits());
        assert!(!row("wait_mean", Measured::By("a command")).fits());
        assert!(!row("wait_mean_ns", Measured::Is(Cell::Number(3.0))).fits());
    }
}
