//! Which column of a CSV trace is what: from `--columns`, else from the header's names, else from their places.

use crate::cell;
use crate::columns::{Column, Columns};
use crate::options::{TimeUnit, TraceOptions};

/// Layout of the rows of a CSV trace; columns count from 0.
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
    /// Whether nobody has said the unit of time.
    pub(super) guesses_time_unit: bool,
    /// The column that numbers the steps, and is not the time for that.
    pub(super) step: Option<usize>,
    /// How to name one more column, if there is one.
    pub(super) columns: Option<MoreColumns>,
}

/// The columns of a trace that play a role, written so that `--columns` can name one more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MoreColumns {
    /// The columns: `time=ts,key=2,`.
    known: String,
    /// The word for another column.
    another: &'static str,
}

impl MoreColumns {
    /// The columns with these names and roles, unless all columns play one.
    fn of(names: &[Name], header: bool, roles: Roles) -> Option<Self> {
        let written = |(role, place): (&str, Option<usize>)| {
            let name = place.map(|place| &names[place].whole)?;
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let is_alone = names.iter().filter(|other| other.whole == *name).count() == 1;
            let column =
                if header && is_alone && !is_number { name.clone() } else { (place? + 1).to_string() };
            Some(format!("{role}={column},"))
        };
        let known: Vec<String> = ROLES.into_iter().zip(roles).filter_map(written).collect();
        (known.len() < names.len())
            .then(|| Self { known: known.concat(), another: if header { "NAME" } else { "N" } })
    }

    /// The flag that makes another column play `role`: `--columns time=ts,key=2,size=NAME`.
    pub(super) fn with(&self, role: &str) -> String {
        format!("--columns {}{role}={}", self.known, self.another)
    }
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
/// Names of columns that count steps. A step is no time unless somebody says how long one is.
const STEP_NAMES: [&str; 5] = ["step", "steps", "time_step", "timestep", "slot"];
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

/// Roles of columns, in the order of [`Roles`].
const ROLES: [&str; 4] = ["time", "key", "size", "fetch"];

/// Names by role, in the order of [`Roles`].
const ALIASES: [&[&str]; 4] = [&TIME_NAMES, &KEY_NAMES, &SIZE_NAMES, &FETCH_NAMES];

/// Key names that a key may well have too, being plain words: where the user has said which column is the key, they do
/// not tell a header from a request for such a key.
const PLAIN_WORDS: [&str; 7] = ["obj", "object", "item", "block", "page", "url", "uri"];

/// Last words of a name that tell the unit of a column: `time_ms`, `Time (µs)`.
const UNIT_WORDS: [(TimeUnit, &[&str]); 4] = [
    (TimeUnit::Seconds, &["s", "sec", "secs", "second", "seconds"]),
    (TimeUnit::Millis, &["ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"]),
    (TimeUnit::Micros, &["us", "μs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds"]),
    (TimeUnit::Nanos, &["ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"]),
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
        let columns = MoreColumns::of(&names, header, [time, key, size, fetch]);
        let key = key.ok_or_else(|| {
            let names: Vec<String> = cells.iter().map(|cell| cell::excerpt(cell)).collect();
            let remedy = columns.as_ref().map(|columns| format!("; say {}", columns.with("key")));
            format!(
                "none of the columns {} is known to be the key{}",
                names.join(", "),
                remedy.unwrap_or_default()
            )
        })?;
        let suffix = |column: Option<usize>| column.filter(|_| header).and_then(|column| names[column].unit);
        let step = names.iter().position(|name| header && name.is_any(&STEP_NAMES));
        // A column that plays another role counts no steps.
        let step = step.filter(|_| ![Some(key), size, fetch].contains(&step));
        let time = match (time, options.time_unit) {
            (None, Some(_)) => step,
            (Some(_), None) if time == step => None,
            _ => time,
        };
        let told_unit = options.time_unit.or(suffix(time));
        let time_unit = told_unit.unwrap_or(TimeUnit::Seconds);
        let fetch_unit = options.fetch_unit.or(suffix(fetch)).unwrap_or(time_unit);
        Ok(Self {
            delimiter,
            header,
            time,
            key,
            size,
            fetch,
            time_unit,
            fetch_unit,
            guesses_time_unit: told_unit.is_none(),
            step: step.filter(|_| time.is_none()),
            columns,
        })
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
pub(super) struct Name {
    /// Lower case, `_` for everything that is neither letter nor digit: `time_ms` for `Time (ms)`.
    whole: String,
    /// The length of `whole` without the unit.
    stem: usize,
    unit: Option<TimeUnit>,
}

impl Name {
    pub(super) fn of(cell: &[u8]) -> Self {
        let mut whole = String::new();
        for character in String::from_utf8_lossy(cell).chars() {
            // There are two: the micro sign and the Greek letter, which look the same.
            let character = if character == '\u{b5}' { '\u{3bc}' } else { character };
            if character.is_alphanumeric() {
                whole.extend(character.to_lowercase());
            } else if !whole.ends_with('_') {
                whole.push('_');
            }
        }
        let whole = whole.trim_matches('_').to_owned();
        let (stem, last) = whole.rsplit_once('_').unwrap_or(("", &whole));
        let unit = UNIT_WORDS.iter().find(|(_, words)| words.contains(&last)).map(|&(unit, _)| unit);
        let stem = if unit.is_some() { stem.len() } else { whole.len() };
        Self { unit, stem, whole }
    }

    /// The name without its unit, and the unit.
    pub(super) fn without_unit(mut self) -> (String, Option<TimeUnit>) {
        self.whole.truncate(self.stem);
        (self.whole.trim_end_matches('_').to_owned(), self.unit)
    }

    /// Whether it is one of `aliases`, with a unit or without. Whatever else follows an alias makes it another name:
    /// nobody knows what a `time_min` is.
    fn is_any(&self, aliases: &[&str]) -> bool {
        aliases.iter().any(|alias| self.is(alias))
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
        Column::Name(name) if !header => {
            Err(format!("there is no header to name column \"{name}\"; use its number"))
        }
        Column::Name(name) => {
            let name = Name::of(name.as_bytes()).whole;
            let mut places = (0..names.len()).filter(|&place| names[place].whole == name);
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => {
                    Err(format!("there are two columns \"{column}\"; use a number, and --header true"))
                }
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
    ALIASES.map(find)
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
/// that would be times and sizes could be names. Of columns that the user chose, only these are looked at, each for a
/// name of its role.
fn looks_like_header(cells: &[&[u8]], names: &[Name], columns: Option<&Columns>) -> bool {
    if cells.iter().any(|cell| cell::time(cell, TimeUnit::Nanos).is_some()) {
        return false;
    }
    let (roles, is_known) = match columns {
        Some(columns) => {
            let roles = chosen(columns, names, false).unwrap_or([None; 4]);
            let plays = |(column, aliases): (Option<usize>, &&[&str])| {
                column.is_some_and(|column| {
                    names[column].is_any(aliases) && !names[column].is_any(&PLAIN_WORDS)
                })
            };
            (roles, roles.into_iter().zip(&ALIASES).any(plays))
        }
        None => {
            let plays_any = |name: &Name| ALIASES.iter().any(|aliases| name.is_any(aliases));
            (placed(cells.len()), names.iter().any(plays_any))
        }
    };
    let [time, _, size, fetch] = roles;
    let mut numbers = [time, size, fetch].into_iter().flatten().map(|column| cells[column]).peekable();
    is_known || (numbers.peek().is_some() && numbers.all(could_be_name))
}

/// Whether a cell that holds no number could be a column's name. What a number becomes when it goes wrong (`-1`,
/// `nan`, `NULL`) is none, nor is a date (`Nov 15 16:57:50`), or its row would go unnoticed.
fn could_be_name(cell: &[u8]) -> bool {
    const NO_NUMBERS: [&str; 7] = ["nan", "inf", "infinity", "null", "none", "na", "nat"];
    let Ok(text) = str::from_utf8(cell) else { return false };
    let is_word = text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_alphanumeric() || "_-()".contains(character));
    is_word && !NO_NUMBERS.iter().any(|word| text.eq_ignore_ascii_case(word))
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
    fn a_column_of_steps_is_no_time() {
        for (row, columns, step) in
            [("step;id", None, 0), ("step;id", Some("time=step,key=id"), 0), ("id,Time step", None, 1)]
        {
            let found = layout(row, columns).unwrap();
            assert_eq!((found.time, found.step), (None, Some(step)), "{row}");
        }
        for row in ["0;1", "time,id,step"] {
            assert_eq!(layout(row, None).unwrap().step, None, "{row}");
        }
        let options = TraceOptions { time_unit: Some(TimeUnit::Millis), ..TraceOptions::default() };
        let known = Layout::of(&[b"step", b"id"], b';', &options).unwrap();
        assert_eq!((known.time, known.time_unit, known.step), (Some(0), TimeUnit::Millis, None));
        let columns = Some("key=slot".parse().unwrap());
        let other = Layout::of(&[b"slot", b"a"], b',', &TraceOptions { columns, ..options }).unwrap();
        assert_eq!((other.time, other.key, other.step), (None, 0, None));
        assert!(layout("0;1", None).unwrap().guesses_time_unit && !known.guesses_time_unit);
        assert!(!layout("time_ms,id", None).unwrap().guesses_time_unit);
    }

    #[test]
    fn a_row_that_went_wrong_is_no_header() {
        for row in ["-1,a", "nan,a", "1e9,a", ",a", "abc,17"] {
            assert!(!layout(row, None).unwrap().header, "{row}");
        }
    }

    #[test]
    fn the_last_word_of_a_name_tells_the_unit() {
        for (words, unit) in [
            ("_s _sec _seconds (s)  [S]", TimeUnit::Seconds),
            ("_ms _msec _millis _milliseconds (ms) (MSec)", TimeUnit::Millis),
            ("_us _usec _USEC _micros (us) (\u{b5}s) (\u{3bc}s) _\u{b5}S", TimeUnit::Micros),
            ("_ns _nsec _nanos _Nanos (ns)", TimeUnit::Nanos),
        ] {
            for word in words.split_whitespace() {
                let found = layout(&format!("id,Time{word},latency{word}"), None).unwrap();
                assert_eq!((found.time, found.time_unit), (Some(1), unit), "{word}");
                assert_eq!((found.fetch, found.fetch_unit), (Some(2), unit), "{word}");
                let row = format!("what,when{word}");
                assert_eq!(
                    layout(&row, Some(&format!("key=1,time=when{word}"))).unwrap().time_unit,
                    unit,
                    "{row}"
                );
                let row = format!("what,arrival{word}");
                assert_eq!(layout(&row, Some("key=1,time=2")).unwrap().time_unit, unit, "{row}");
            }
        }
        assert_eq!(layout("what,ms", Some("key=1,time=2")).unwrap().time_unit, TimeUnit::Millis);
        assert_eq!(layout("id,time_min", None).unwrap().time, None);
        assert_eq!(layout("id,time_mss", None).unwrap().time, None);
    }

    #[test]
    fn a_request_is_no_header() {
        for (row, columns) in [
            ("alice,page", "key=2"),
            ("latency,alice", "key=2"),
            ("key,alice", "key=2"),
            ("Nov 15 16:57:50,a", "time=1,key=2"),
            ("Nov 15 16:57:50,page", "time=1,key=2"),
            ("NULL,a", "time=1,key=2"),
            ("x:y,a", "size=1,key=2"),
        ] {
            assert!(!layout(row, Some(columns)).unwrap().header, "{row}");
        }
        assert!(!layout("Nov 15 16:57:50,a", None).unwrap().header);
        for (row, columns) in
            [("user,Key", "key=2"), ("Time (ms),what", "time=1,key=2"), ("what,how_much", "key=1,size=2")]
        {
            assert!(layout(row, Some(columns)).unwrap().header, "{row}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_an_error() {
        assert_eq!(
            layout("when,what", None).unwrap_err(),
            "none of the columns when, what is known to be the key; say --columns key=NAME"
        );
        assert_eq!(
            layout("Time (s),what", None).unwrap_err(),
            "none of the columns Time (s), what is known to be the key; say --columns time=time_s,key=NAME"
        );
        assert_eq!(layout("1,2", Some("key=3")).unwrap_err(), "there is no column 3, only 2");
        assert_eq!(layout("a,b", Some("key=c")).unwrap_err(), "there is no column \"c\", only a, b");
        assert_eq!(
            layout("a,a", Some("key=a")).unwrap_err(),
            "there are two columns \"a\"; use a number, and --header true"
        );
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
