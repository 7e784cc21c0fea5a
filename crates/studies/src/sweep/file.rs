//! Sweeps as files in TOML.

use std::fmt::Display;
use std::sync::Arc;

use toml::{Table, Value};

use super::Sweep;
use super::point::Given;
use crate::{is_file, named};

/// More points than these are a mistake.
const MOST_POINTS: usize = 1_000_000;

/// Why a text is no sweep, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSweep(String);

fn wrong(expected: impl Display) -> InvalidSweep {
    InvalidSweep(format!("expected {expected}"))
}

impl Sweep {
    /// The sweep that a text in TOML says.
    ///
    /// ```
    /// let sweep = trueplane_studies::sweep::Sweep::parse(
    ///     r#"
    ///     study = "sched.bandwidth"
    ///     [parameters]
    ///     flows = 4
    ///     [grid]
    ///     queues = [1, 2, 8]
    ///     policies = ["fifo", "pifo"]
    ///     "#,
    /// )?;
    /// assert_eq!(sweep.points(), 6);
    /// # Ok::<(), trueplane_studies::sweep::InvalidSweep>(())
    /// ```
    ///
    /// # Errors
    /// It is no TOML, or not the TOML of a sweep.
    pub fn parse(text: &str) -> Result<Self, InvalidSweep> {
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            InvalidSweep(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        let study = match table.remove("study") {
            // Experiments measure this machine, which points beside each other would disturb.
            Some(Value::String(name)) => {
                named(&name).filter(|_| !name.ends_with(".experiment")).ok_or_else(|| {
                    wrong(format!("the name of a study, such as study = \"cache.compare\", got \"{name}\""))
                })?
            }
            _ => return Err(wrong("the name of a study, such as study = \"cache.compare\"")),
        };
        let collected = match table.remove("table") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => {
                return Err(wrong(format!("table to be the name of a table, got {}", other.type_str())));
            }
        };
        let fixed = match table.remove("parameters") {
            None => Vec::new(),
            Some(Value::Table(parameters)) => given(&parameters)?,
            Some(other) => {
                return Err(wrong(format!(
                    "[parameters] with the same values at all points, got {}",
                    other.type_str()
                )));
            }
        };
        let points = match (table.remove("grid"), table.remove("zip"), table.remove("points")) {
            (Some(grid), None, None) => grid_of(&axes("grid", grid)?)?,
            (None, Some(zip), None) => zip_of(&axes("zip", zip)?)?,
            (None, None, Some(Value::Array(points))) => {
                let point = |point: &Value| match point {
                    Value::Table(point) => given(point),
                    other => Err(wrong(format!("a table in [[points]], got {}", other.type_str()))),
                };
                points.iter().map(point).collect::<Result<_, _>>()?
            }
            _ => return Err(wrong("one of [grid], [zip] and [[points]]")),
        };
        if let Some(unknown) = table.keys().next() {
            return Err(wrong(format!(
                "study, table, [parameters], and one of [grid], [zip] and [[points]], got {unknown}"
            )));
        }
        if points.is_empty() {
            return Err(wrong("at least one point"));
        }
        let is_fixed = |name: &&Arc<str>| fixed.iter().any(|(other, _)| other == *name);
        if let Some(twice) = points.iter().flatten().map(|(name, _)| name).find(is_fixed) {
            return Err(wrong(format!("{twice} in [parameters] or in the points, not in both")));
        }
        let files: Vec<&str> =
            study.parameters().iter().filter(|one| is_file(one)).map(|one| one.field).collect();
        let mut values = fixed.iter().chain(points.iter().flatten());
        if let Some((name, _)) = values.find(|(name, text)| &**text == "-" && files.contains(&&**name)) {
            return Err(wrong(format!(
                "{name} to be a file, as standard input can be read only once, got \"-\""
            )));
        }
        Ok(Self { study, table: collected, fixed, points })
    }
}

/// Parameters with a value each.
fn given(parameters: &Table) -> Result<Given, InvalidSweep> {
    let pair = |(name, value): (&String, &Value)| Ok((name.as_str().into(), text(name, value)?.into()));
    // A switch that is off is not given.
    parameters.iter().filter(|(_, value)| **value != Value::Boolean(false)).map(pair).collect()
}

/// A value as on the command line.
fn text(name: &str, value: &Value) -> Result<String, InvalidSweep> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(is_on) => is_on.to_string(),
        Value::Array(values) => {
            values.iter().map(|value| text(name, value)).collect::<Result<Vec<_>, _>>()?.join(",")
        }
        Value::Table(pairs) => {
            let pair = |(key, value)| Ok(format!("{key}={}", text(name, value)?));
            pairs.iter().map(pair).collect::<Result<Vec<_>, _>>()?.join(",")
        }
        Value::Datetime(_) => {
            return Err(wrong(format!("{name} to be a text, a number or a list, got {}", value.type_str())));
        }
    })
}

/// The values of each axis.
type Axes = Vec<(Arc<str>, Vec<Arc<str>>)>;

fn axes(what: &str, value: Value) -> Result<Axes, InvalidSweep> {
    let Value::Table(axes) = value else {
        return Err(wrong(format!(
            "[{what}] with a list of values for each parameter, got {}",
            value.type_str()
        )));
    };
    let axis = |(name, value): (String, Value)| match value {
        Value::Array(values) if !values.is_empty() => {
            let values =
                values.iter().map(|value| Ok(text(&name, value)?.into())).collect::<Result<_, _>>()?;
            Ok((name.into(), values))
        }
        Value::Array(_) => Err(wrong(format!("[{what}] to have a value for {name}, got an empty list"))),
        other => {
            Err(wrong(format!("[{what}] to have a list of values for {name}, got {}", other.type_str())))
        }
    };
    let axes: Axes = axes.into_iter().map(axis).collect::<Result<_, _>>()?;
    if axes.is_empty() { Err(wrong(format!("[{what}] with a list of values"))) } else { Ok(axes) }
}

/// All combinations; the last axis changes fastest.
fn grid_of(axes: &Axes) -> Result<Vec<Given>, InvalidSweep> {
    let count = axes.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
    if count.is_none_or(|count| count > MOST_POINTS) {
        return Err(wrong(format!("up to {MOST_POINTS} points in [grid]")));
    }
    Ok(axes.iter().fold(vec![Vec::new()], |points, (name, values)| {
        let with = |point: &Given, value: &Arc<str>| {
            point.iter().cloned().chain([(name.clone(), value.clone())]).collect::<Given>()
        };
        points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect()
    }))
}

/// The first values of all axes, the second ones, and so on.
fn zip_of(axes: &Axes) -> Result<Vec<Given>, InvalidSweep> {
    let length = axes[0].1.len();
    if let Some((name, values)) = axes.iter().find(|(_, values)| values.len() != length) {
        return Err(wrong(format!(
            "{length} values for {name} in [zip], as for {}, got {}",
            axes[0].0,
            values.len()
        )));
    }
    Ok((0..length)
        .map(|place| axes.iter().map(|(name, values)| (name.clone(), values[place].clone())).collect())
        .collect())
}
