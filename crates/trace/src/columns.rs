//! The `--columns` flag: which column of a CSV trace holds what.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use trueplane_units::text_value;

/// Columns of a trace by their meaning: `time=2,key=5,size=4,fetch=7`, or by header name `time=gmt_create,key=lbn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The time of arrival.
    pub time: Option<Column>,
    /// The key; the one column that a trace cannot do without.
    pub key: Column,
    /// The size in bytes: whole numbers (`3.0` is one), or empty or `-` for 0.
    pub size: Option<Column>,
    /// The measured fetch time; empty or `-` where it was not measured, which is 0.
    pub fetch: Option<Column>,
}

impl Columns {
    /// The columns that were given, each with the role that it plays.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Column> {
        [self.time.as_ref(), Some(&self.key), self.size.as_ref(), self.fetch.as_ref()].into_iter().flatten()
    }
}

/// One column of a CSV trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Its place, counted from 1.
    Number(NonZeroUsize),
    /// Its name in the header, without regard to case.
    Name(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => write!(f, "{number}"),
            Column::Name(name) => f.write_str(name),
        }
    }
}

/// Writes columns as people do: `time=2,key=5`.
impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = [
            ("time", self.time.as_ref()),
            ("key", Some(&self.key)),
            ("size", self.size.as_ref()),
            ("fetch", self.fetch.as_ref()),
        ];
        let parts = roles.into_iter().filter_map(|(role, column)| Some(format!("{role}={}", column?)));
        f.pad(&parts.collect::<Vec<_>>().join(","))
    }
}

text_value!(Columns, "columns such as time=2,key=5,size=4 or key=object_id");

/// Fault of a list of columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected columns such as time=2,key=5,size=4 or key=object_id, {problem}")]
pub struct ParseColumnsError {
    problem: String,
}

impl FromStr for Columns {
    type Err = ParseColumnsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|problem| ParseColumnsError { problem })
    }
}

fn parse(text: &str) -> Result<Columns, String> {
    let (mut time, mut key, mut size, mut fetch) = (None, None, None, None);
    for part in text.split(',') {
        let (role, column) = part.split_once('=').ok_or_else(|| format!("got \"{part}\""))?;
        let place = match role.trim() {
            "time" => &mut time,
            "key" => &mut key,
            "size" => &mut size,
            "fetch" => &mut fetch,
            other => {
                return Err(format!("got the unknown role \"{other}\"; known are time, key, size, fetch"));
            }
        };
        if place.replace(parse_column(column.trim())?).is_some() {
            return Err(format!("got {} twice", role.trim()));
        }
    }
    let key = key.ok_or("but there is no key")?;
    Ok(Columns { time, key, size, fetch })
}

fn parse_column(text: &str) -> Result<Column, String> {
    if text.is_empty() {
        return Err("got an empty column".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(Column::Name(text.to_owned()));
    }
    text.parse().map(Column::Number).map_err(|_| format!("got column {text}; columns count from 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbers_or_names() {
        let columns: Columns = "time=2, key=lbn,size=4".parse().unwrap();
        assert_eq!(columns.time, Some(Column::Number(NonZeroUsize::new(2).unwrap())));
        assert_eq!(columns.key, Column::Name("lbn".to_owned()));
        assert_eq!(columns.fetch, None);
    }

    #[test]
    fn bad_columns_are_told_apart() {
        let problem = |text: &str| text.parse::<Columns>().unwrap_err().problem;
        assert_eq!(problem(""), "got \"\"");
        assert_eq!(problem("key"), "got \"key\"");
        assert_eq!(problem("key="), "got an empty column");
        assert_eq!(problem("key=0"), "got column 0; columns count from 1");
        assert_eq!(
            problem("key=99999999999999999999999"),
            "got column 99999999999999999999999; columns count from 1"
        );
        assert_eq!(problem("key=1,key=2"), "got key twice");
        assert_eq!(problem("time=1"), "but there is no key");
        assert_eq!(problem("ttl=1,key=2"), "got the unknown role \"ttl\"; known are time, key, size, fetch");
    }
}
