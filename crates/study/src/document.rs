//! The document that `--json` prints: one shape for all studies.
//!
//! Tables are lists of rows, whose keys are the machine names of the columns, as in CSV files; numbers are plain numbers in the unit
//! that ends the name.

use serde_json::{Map, Value, json};
use trueplane_units::{Datum, Setting};

use crate::page::Fact;
use crate::report::{Cell, Plot, Report, Series, Table, Unit};

/// The number of the document's shape. It grows when a program that reads documents has to change.
pub const SCHEMA: u64 = 1;

/// The document of a report.
pub(crate) fn of(report: &Report, settings: &[Setting], facts: &[Fact]) -> Value {
    let named = settings.iter().map(|setting| (setting.parameter.machine_name(), datum(&setting.datum)));
    let parameters: Map<String, Value> = named.collect();
    let facts: Map<String, Value> =
        facts.iter().map(|fact| (fact.name.to_owned(), cell(&fact.value))).collect();
    let tables: Map<String, Value> =
        report.tables.iter().map(|table| (table.id.clone(), rows(table))).collect();
    json!({
        "schema": SCHEMA,
        "study": report.study,
        "version": env!("CARGO_PKG_VERSION"),
        "title": report.title,
        "belief": report.belief,
        "parameters": parameters,
        "facts": facts,
        "warnings": report.warnings,
        "verdict": report.verdict,
        "advice": report.advice,
        "tables": tables,
        "plots": report.plots.iter().map(|plot| (plot.id.clone(), curves(plot))).collect::<Map<_, _>>(),
    })
}

/// The rows of a table, each as an object.
pub fn rows(table: &Table) -> Value {
    let object = |row: &Vec<Cell>| -> Value {
        let cells = table.columns.iter().zip(row);
        cells.map(|(column, value)| (column.name.clone(), cell(value))).collect::<Map<_, _>>().into()
    };
    table.rows.iter().map(object).collect()
}

/// The curves of a plot, each as two lists of numbers.
fn curves(plot: &Plot) -> Value {
    let numbers = |of: fn(&(f64, f64)) -> f64, series: &Series| -> Value {
        series.points.iter().map(|point| real(of(point))).collect()
    };
    let series = plot.series.iter().map(|series| {
        let mut curve = json!({
            "name": series.name,
            "x": numbers(|point| point.0, series),
            "y": numbers(|point| point.1, series),
        });
        if series.steps {
            curve["steps"] = true.into();
        }
        if !series.panel.is_empty() {
            curve["panel"] = series.panel.as_str().into();
        }
        if !series.sizes.is_empty() {
            curve["size"] = series.sizes.iter().map(|&size| real(size)).collect();
            curve["size_of"] = series.size_of.into();
        }
        curve
    });
    let mut document = json!({
        "title": plot.title,
        "note": plot.note,
        "x": plot.x.label,
        "x_unit": plot.x.unit.symbol(),
        "y": plot.y.label,
        "y_unit": plot.y.unit.symbol(),
        "series": series.collect::<Vec<_>>(),
    });
    if let Unit::Names(names) = plot.x.unit {
        document["x_names"] = names.into();
    }
    document
}

/// The plain value of a cell.
fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => text.as_str().into(),
        Cell::Count(count) => (*count).into(),
        Cell::Bytes(bytes) => bytes.0.into(),
        Cell::Rate(rate) => rate.0.into(),
        Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Nanos(number)
        | Cell::LongTime(number)
        | Cell::Steps(number)
        | Cell::Number(number)
        | Cell::Bound { value: number, .. } => real(*number),
        Cell::Missing => Value::Null,
    }
}

/// A whole number without a point, any other with; null for what is no number.
fn real(number: f64) -> Value {
    /// Up to here every whole number is one of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT { (number as i64).into() } else { number.into() }
}

/// A value of a parameter.
pub(crate) fn datum(datum: &Datum) -> Value {
    match datum {
        Datum::Nothing => Value::Null,
        Datum::Switch(is_on) => (*is_on).into(),
        Datum::Integer(number) => (*number).into(),
        Datum::Real(number) => real(*number),
        Datum::Text(text) => text.as_str().into(),
        Datum::List(list) => list.iter().map(self::datum).collect(),
    }
}
