//! What a sweep has found.

use super::point::{Given, Rows, internal};
use crate::Error;

/// The rows of all points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// One long table as CSV: first the parameters of the point, then the columns of the study's table. A parameter that has the name of such a column
    /// has `point_` in front.
    pub csv: Vec<u8>,
    /// The number of points that did not run, because the store had them.
    pub stored: usize,
    /// The points that failed.
    pub failed: Vec<Failed>,
}

/// A point that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its parameters.
    pub point: Vec<(String, String)>,
    /// Why, in one line.
    pub error: String,
}

/// Puts the rows of all points into one table.
pub(super) fn collect(points: &[Given], found: Vec<Result<Rows, Error>>) -> Result<Swept, Error> {
    let mut swept = Swept { csv: Vec::new(), stored: 0, failed: Vec::new() };
    let mut parts = Vec::new();
    for (point, rows) in points.iter().zip(found) {
        match rows {
            Ok((csv, is_stored)) => {
                swept.stored += usize::from(is_stored);
                let mut reader = csv::Reader::from_reader(csv.as_slice());
                let header: Vec<String> =
                    reader.headers().map_err(internal)?.iter().map(str::to_owned).collect();
                let records = reader.into_records().collect::<Result<Vec<_>, _>>().map_err(internal)?;
                parts.push((point, header, records));
            }
            Err(error) => swept.failed.push(failed(point, &error)),
        }
    }
    let axes = distinct(points.iter().flatten().map(|(name, _)| &**name));
    let columns = distinct(parts.iter().flat_map(|(_, header, _)| header).map(String::as_str));
    let title =
        |axis: &&str| if columns.contains(axis) { format!("point_{axis}") } else { (*axis).to_owned() };
    let mut writer = csv::Writer::from_writer(Vec::new());
    if !parts.is_empty() {
        let header = axes.iter().map(title).chain(columns.iter().map(|&column| column.to_owned()));
        writer.write_record(header).map_err(internal)?;
    }
    for (point, header, records) in &parts {
        // A point need not have a value on every axis, nor every column of the others.
        let values: Vec<&str> = axes.iter().map(|axis| value(point, axis)).collect();
        let places: Vec<Option<usize>> =
            columns.iter().map(|column| header.iter().position(|name| name == column)).collect();
        for record in records {
            let cells =
                places.iter().map(|place| place.and_then(|place| record.get(place)).unwrap_or_default());
            writer.write_record(values.iter().copied().chain(cells)).map_err(internal)?;
        }
    }
    swept.csv = writer.into_inner().map_err(internal)?;
    Ok(swept)
}

fn failed(point: &Given, error: &Error) -> Failed {
    let point = point.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    Failed { point, error: error.to_string() }
}

fn value<'a>(point: &'a Given, axis: &str) -> &'a str {
    point.iter().find(|(name, _)| &**name == axis).map_or("", |(_, text)| text)
}

/// Each name once, in the order in which they come.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
