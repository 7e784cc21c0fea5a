//! Tables and plots as CSV: machine names, plain numbers, full precision.

use std::borrow::Cow;

use super::cells;
use crate::report::{Cell, Plot, Table, Unit};

/// One line per row under the columns' machine names.
///
/// # Errors
/// Only what the writer below reports; writing to memory does not fail.
pub fn table(table: &Table) -> csv::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A table without columns has no header either; `csv` would write an empty pair of quotes for it.
    if !table.columns.is_empty() {
        writer.write_record(table.columns.iter().map(|column| &column.name))?;
        for row in &table.rows {
            writer.write_record(cells::cells(table, row).map(field))?;
        }
    }
    finish(writer)
}

/// The points of all series in long form, `series,x_ns,y_bps` with the units of the axes, in the order in which they are drawn; with
/// a column `panel` if there are small pictures, and with `size` if they are bubbles.
///
/// # Errors
/// As [`table`].
pub(super) fn plot(plot: &Plot) -> csv::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let has_panels = plot.series.iter().any(|series| !series.panel.is_empty());
    let has_sizes = plot.series.iter().any(|series| !series.sizes.is_empty());
    let (x, y) = (axis("x", plot.x.unit), axis("y", plot.y.unit));
    let shown = [has_panels, true, true, true, has_sizes];
    let record = |fields: [&str; 5]| -> Vec<String> {
        fields
            .into_iter()
            .zip(shown)
            .filter(|(_, is_shown)| *is_shown)
            .map(|(text, _)| text.to_owned())
            .collect()
    };
    writer.write_record(record(["panel", "series", &x, &y, "size"]))?;
    for series in &plot.series {
        let (panel, name) = (inert(&series.panel), inert(&series.name));
        for (index, (x, y)) in series.points.iter().enumerate() {
            let size = series.sizes.get(index).map_or_else(String::new, f64::to_string);
            writer.write_record(record([&panel, &name, &x.to_string(), &y.to_string(), &size]))?;
        }
    }
    finish(writer)
}

/// The name of a column of coordinates, with its unit.
fn axis(name: &str, unit: Unit) -> String {
    match unit.symbol() {
        "" => name.to_owned(),
        symbol => format!("{name}_{symbol}"),
    }
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => inert(text).into_owned(),
        number => cells::for_programs(number),
    }
}

/// `text` as a spreadsheet shows it instead of calculating it: with an apostrophe before what begins like a formula. Names come from
/// other people's traces.
fn inert(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

fn finish(writer: csv::Writer<Vec<u8>>) -> csv::Result<Vec<u8>> {
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use crate::report::{Column, Series};

    #[test]
    fn tables_read_back_as_written() {
        let report = sample::report();
        let written = &report.tables[0];
        let bytes = table(written).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let names: Vec<&str> = written.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(reader.headers().unwrap(), names);
        let mut rows = 0;
        for (record, row) in reader.records().zip(&written.rows) {
            for (field, cell) in record.unwrap().iter().zip(row) {
                match cell {
                    Cell::Text(text) => assert_eq!(field, text),
                    Cell::Count(count) => assert_eq!(field.parse(), Ok(*count)),
                    Cell::Ratio(number) | Cell::Change(number) | Cell::Nanos(number) => {
                        assert_eq!(field.parse(), Ok(*number));
                    }
                    Cell::Missing => assert_eq!(field, ""),
                    other => panic!("the sample has no {other:?}"),
                }
            }
            rows += 1;
        }
        assert_eq!(rows, written.rows.len());
    }

    #[test]
    fn names_are_no_formulas() {
        let written = Table {
            columns: vec![Column::new("key", "key"), Column::new("change", "change")],
            rows: vec![
                vec![Cell::text("=HYPERLINK(A1)"), Cell::Change(-0.5)],
                vec![Cell::text("a=b"), Cell::Missing],
            ],
            ..Table::default()
        };
        assert_eq!(table(&written).unwrap(), b"key,change\n'=HYPERLINK(A1),-0.5\na=b,\n");
        let series = Series { name: "@SUM".into(), points: vec![(1.0, -2.0)], ..Series::default() };
        let written = plot(&Plot { series: vec![series], ..Plot::default() }).unwrap();
        assert_eq!(written, b"series,x,y\n'@SUM,1,-2\n");
    }

    #[test]
    fn plots_are_written_in_long_form() {
        let curve = Plot {
            series: vec![
                Series { name: "a, \"b\"".into(), points: vec![(1.0, 0.1 + 0.2)], ..Series::default() },
                Series { name: "empty".into(), ..Series::default() },
                Series { name: "c".into(), points: vec![(2.0, f64::NAN)], ..Series::default() },
            ],
            ..Plot::default()
        };
        let text = String::from_utf8(plot(&curve).unwrap()).unwrap();
        assert_eq!(text, "series,x,y\n\"a, \"\"b\"\"\",1,0.30000000000000004\nc,2,NaN\n");
        let points = vec![(1.0, 2.0), (3.0, 4.0)];
        let bubbles = Plot {
            series: vec![
                Series {
                    name: "b".into(),
                    points: points.clone(),
                    sizes: vec![0.5, 7.0],
                    ..Series::default()
                },
                Series { name: "line".into(), points, ..Series::default() },
            ],
            ..Plot::default()
        };
        let text = String::from_utf8(plot(&bubbles).unwrap()).unwrap();
        assert_eq!(text, "series,x,y,size\nb,1,2,0.5\nb,3,4,7\nline,1,2,\nline,3,4,\n");
    }

    #[test]
    fn ragged_rows_and_empty_tables_are_no_errors() {
        let ragged = Table {
            columns: vec![Column::new("A", "a"), Column::new("B", "b")],
            rows: vec![vec![Cell::Count(1)], vec![Cell::Count(1), Cell::Count(2), Cell::Count(3)]],
            ..Table::default()
        };
        assert_eq!(table(&ragged).unwrap(), b"a,b\n1,\n1,2\n");
        assert_eq!(table(&Table::default()).unwrap(), b"");
    }
}
