//! Which column of a CSV trace is what: from `--columns`, else from the header's names, else from their places.

use super::cell;
use super::columns::{Column, Columns};
use super::options::{TimeUnit, TraceOptions};

/// How the rows of a CSV trace are laid out; columns count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    /// Whether the first row names the columns.
    pub(super) header: bool,
    pub(super) time: Option<usize>,
    pub(super) key: usize,
    pub(super) size: Option<usize>,
    pub(super) fetch: Option<usize>,
    pub(super) time_unit: TimeUnit,
    pub(super) fetch_unit: TimeUnit,
}

/// Names that columns go by, the likeliest first; lower case, `_` between words, without the suffix of a unit.
const TIME_NAMES: [&str; 13] = [
    "time",
    "timestamp",
    "time_stamp",
    "ts",
    "datetime",
    "date_time",
    "clock_time",
    "arrival_time",
    "request_time",
    "access_time",
    "arrival",
    "gmt_create",
    "created_at",
];
const KEY_NAMES: [&str; 16] = [
    "key",
    "id",
    "obj_id",
    "object_id",
    "obj",
    "object",
    "item_id",
    "item",
    "content_id",
    "lbn",
    "lba",
    "block",
    "page",
    "url",
    "uri",
    "request_uri",
];
const SIZE_NAMES: [&str; 10] = [
    "size",
    "bytes",
    "obj_size",
    "object_size",
    "size_bytes",
    "content_length",
    "content_size",
    "request_size",
    "length",
    "len",
];
const FETCH_NAMES: [&str; 8] = [
    "fetch",
    "fetch_time",
    "fetch_latency",
    "miss_latency",
    "origin_latency",
    "backend_latency",
    "latency",
    "exec_time",
];

/// Suffixes that tell the unit of a column; of two that fit, the longer comes first.
const UNIT_SUFFIXES: [(&str, TimeUnit); 13] = [
    ("_nanoseconds", TimeUnit::Nanos),
    ("_microseconds", TimeUnit::Micros),
    ("_milliseconds", TimeUnit::Millis),
    ("_seconds", TimeUnit::Seconds),
    ("_nanos", TimeUnit::Nanos),
    ("_micros", TimeUnit::Micros),
    ("_millis", TimeUnit::Millis),
    ("_secs", TimeUnit::Seconds),
    ("_sec", TimeUnit::Seconds),
    ("_ns", TimeUnit::Nanos),
    ("_us", TimeUnit::Micros),
    ("_ms", TimeUnit::Millis),
    ("_s", TimeUnit::Seconds),
];

impl Layout {
    /// The layout of a trace whose first row has these cells. Errors say what the user can do.
    pub(super) fn of(cells: &[&[u8]], delimiter: u8, options: &TraceOptions) -> Result<Self, String> {
        let names: Vec<Name> = cells.iter().map(|cell| Name::of(cell)).collect();
        let header = match (options.header, &options.columns) {
            (Some(header), _) => header,
            (None, Some(columns)) if columns.iter().any(|column| matches!(column, Column::Name(_))) => true,
            (None, columns) => looks_like_header(cells, &names, columns.as_ref()),
        };
        let [time, key, size, fetch] = match &options.columns {
            Some(columns) => chosen(columns, &names, header)?,
            None if header => named(&names),
            None => placed(cells.len()),
        };
        let key = key.ok_or_else(|| {
            let names: Vec<String> = cells.iter().map(|cell| cell::excerpt(cell)).collect();
            format!("none of the columns {} is known to be the key; say --columns key=NAME", names.join(", "))
        })?;
        let suffix = |column: Option<usize>| column.filter(|_| header).and_then(|column| names[column].unit);
        let time_unit = options.time_unit.or(suffix(time)).unwrap_or(TimeUnit::Seconds);
        let fetch_unit = options.fetch_unit.or(suffix(fetch)).unwrap_or(time_unit);
        Ok(Self { delimiter, header, time, key, size, fetch, time_unit, fetch_unit })
    }
}

/// The delimiter of a trace that starts with `row`: the most frequent of tab, `;` and `,`; a space where there is none.
pub(super) fn delimiter_of(row: &[u8]) -> u8 {
    let mut counts = [(b'\t', 0), (b';', 0), (b',', 0)];
    let mut is_quoted = false;
    for byte in row {
        is_quoted ^= *byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(delimiter, _)| delimiter == byte && !is_quoted) {
            *count += 1;
        }
    }
    let most = counts.iter().map(|&(_, count)| count).max().unwrap_or(0);
    match counts.iter().find(|&&(_, count)| count == most && count > 0) {
        Some(&(delimiter, _)) => delimiter,
        // A lone date-time has a space too, but a time without a key is no trace.
        None if row.trim_ascii().contains(&b' ') => b' ',
        None => b',',
    }
}

/// A cell of the header, in the form that names are compared in.
struct Name {
    /// Lower case, `_` for everything that is neither letter nor digit: `time_ms` for `Time (ms)`.
    whole: String,
    /// The length of `whole` without the suffix of a unit.
    stem: usize,
    unit: Option<TimeUnit>,
}

impl Name {
    fn of(cell: &[u8]) -> Self {
        let mut whole = String::new();
        for character in String::from_utf8_lossy(cell).chars() {
            if character.is_alphanumeric() {
                whole.extend(character.to_lowercase());
            } else if !whole.ends_with('_') {
                whole.push('_');
            }
        }
        let whole = whole.trim_matches('_').to_owned();
        let suffix = UNIT_SUFFIXES.iter().find(|(suffix, _)| whole.ends_with(suffix));
        let stem = whole.len() - suffix.map_or(0, |(suffix, _)| suffix.len());
        Self { unit: suffix.map(|&(_, unit)| unit), stem, whole }
    }

    fn is(&self, alias: &str) -> bool {
        self.whole == alias || &self.whole[..self.stem] == alias
    }
}

/// Columns by role: time, key, size, fetch.
type Roles = [Option<usize>; 4];

/// The columns that the user chose.
fn chosen(columns: &Columns, names: &[Name], header: bool) -> Result<Roles, String> {
    let place = |column: &Column| match column {
        Column::Number(number) if number.get() <= names.len() => Ok(number.get() - 1),
        Column::Number(number) => Err(format!("there is no column {number}, only {}", names.len())),
        Column::Name(name) if !header => Err(format!("there is no header to name column \"{name}\"")),
        Column::Name(name) => {
            let name = Name::of(name.as_bytes()).whole;
            let mut places = (0..names.len()).filter(|&place| names[place].whole == name);
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(format!("there are two columns \"{column}\"; use a number")),
                (None, _) => {
                    let known: Vec<&str> = names.iter().map(|name| name.whole.as_str()).collect();
                    Err(format!(
                        "there is no column \"{column}\", only {}",
                        cell::excerpt(known.join(", ").as_bytes())
                    ))
                }
            }
        }
    };
    let time = columns.time.as_ref().map(place).transpose()?;
    let size = columns.size.as_ref().map(place).transpose()?;
    let fetch = columns.fetch.as_ref().map(place).transpose()?;
    Ok([time, Some(place(&columns.key)?), size, fetch])
}

/// The columns that a header's names tell.
fn named(names: &[Name]) -> Roles {
    let find =
        |aliases: &[&str]| aliases.iter().find_map(|alias| names.iter().position(|name| name.is(alias)));
    [find(&TIME_NAMES), find(&KEY_NAMES), find(&SIZE_NAMES), find(&FETCH_NAMES)]
}

/// The columns where nothing tells: key; time, key; time, key, size.
fn placed(columns: usize) -> Roles {
    match columns {
        0 => [None; 4],
        1 => [None, Some(0), None, None],
        2 => [Some(0), Some(1), None, None],
        _ => [Some(0), Some(1), Some(2), None],
    }
}

/// Whether the first row names columns: none of its cells is a value, and one has a name that we know, or all those
/// that would be times and sizes could be names.
fn looks_like_header(cells: &[&[u8]], names: &[Name], columns: Option<&Columns>) -> bool {
    if cells.iter().any(|cell| cell::time(cell, TimeUnit::Nanos).is_some()) {
        return false;
    }
    let aliases = || TIME_NAMES.iter().chain(&KEY_NAMES).chain(&SIZE_NAMES).chain(&FETCH_NAMES);
    if names.iter().any(|name| aliases().any(|alias| name.is(alias))) {
        return true;
    }
    let [time, _, size, fetch] = match columns {
        Some(columns) => chosen(columns, names, false).unwrap_or([None; 4]),
        None => placed(cells.len()),
    };
    let mut numbers = [time, size, fetch].into_iter().flatten().map(|column| cells[column]).peekable();
    numbers.peek().is_some() && numbers.all(could_be_name)
}

/// A number that went wrong (`-1`, `nan`) is no name, or its row would go unnoticed.
fn could_be_name(cell: &[u8]) -> bool {
    let is_word =
        cell.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || !byte.is_ascii());
    is_word && !["nan", "inf", "infinity"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(row: &str, columns: Option<&str>) -> Result<Layout, String> {
        let columns = columns.map(|text| text.parse().unwrap());
        let options = TraceOptions { columns, ..TraceOptions::default() };
        let delimiter = delimiter_of(row.as_bytes());
        let cells: Vec<&[u8]> = row.as_bytes().split(|byte| *byte == delimiter).collect();
        Layout::of(&cells, delimiter, &options)
    }

    fn roles(row: &str, columns: Option<&str>) -> (bool, Roles) {
        let layout = layout(row, columns).unwrap();
        (layout.header, [layout.time, Some(layout.key), layout.size, layout.fetch])
    }

    #[test]
    fn without_a_header_the_places_tell() {
        assert_eq!(roles("42", None), (false, [None, Some(0), None, None]));
        assert_eq!(roles("photo", None), (false, [None, Some(0), None, None]));
        assert_eq!(roles("0;47752", None), (false, [Some(0), Some(1), None, None]));
        assert_eq!(roles("2024-11-15 16:57:50\ta\t3\tx", None), (false, [Some(0), Some(1), Some(2), None]));
        assert_eq!(roles("1,a,b", Some("key=2")), (false, [None, Some(1), None, None]));
    }

    #[test]
    fn a_header_tells_by_name() {
        assert_eq!(roles("version,time,op,size,lbn", None), (true, [Some(1), Some(4), Some(3), None]));
        assert_eq!(roles("Object ID; Time (ms)", None), (true, [Some(1), Some(0), None, None]));
        assert_eq!(layout("Object ID; Time (ms)", None).unwrap().time_unit, TimeUnit::Millis);
        assert_eq!(roles("key", None), (true, [None, Some(0), None, None]));
        let units = layout("ts_ns,id,latency_us,obj_size", None).unwrap();
        assert_eq!((units.time_unit, units.fetch_unit), (TimeUnit::Nanos, TimeUnit::Micros));
        assert_eq!(roles("a,b,c", Some("time=1,key=C")), (true, [Some(0), Some(2), None, None]));
        assert_eq!(roles("when,what", Some("time=1,key=2")), (true, [Some(0), Some(1), None, None]));
    }

    #[test]
    fn a_row_that_went_wrong_is_no_header() {
        for row in ["-1,a", "nan,a", "1e9,a", ",a", "abc,17"] {
            assert!(!layout(row, None).unwrap().header, "{row}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_an_error() {
        assert_eq!(
            layout("when,what", None).unwrap_err(),
            "none of the columns when, what is known to be the key; say --columns key=NAME"
        );
        assert_eq!(layout("1,2", Some("key=3")).unwrap_err(), "there is no column 3, only 2");
        assert_eq!(layout("a,b", Some("key=c")).unwrap_err(), "there is no column \"c\", only a, b");
        assert_eq!(layout("a,a", Some("key=a")).unwrap_err(), "there are two columns \"a\"; use a number");
    }

    #[test]
    fn the_delimiter_is_the_most_frequent() {
        for (row, delimiter) in [
            ("a,b;c,d", b','),
            ("a;b", b';'),
            ("a\tb,c", b'\t'),
            ("a b", b' '),
            ("a", b','),
            ("\"a,b,c\";d", b';'),
        ] {
            assert_eq!(delimiter_of(row.as_bytes()), delimiter, "{row}");
        }
    }
}
