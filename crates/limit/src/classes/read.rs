//! From TOML to classes: types, units and keys, and the line of everything.

use std::net::IpAddr;
use std::ops::Range;
use std::str::FromStr;

use hashbrown::HashMap;
use ipnet::IpNet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trueplane_units::BitsPerSec;

use super::{
    Class, Classes, ClassesError, ClassesFault, Count, MAX_CLASSES, Place, Quoted, default_burst, one_line,
};

/// Keys of the file itself.
const TOP_KEYS: [&str; 2] = ["default", "class"];

/// Keys of a class.
const CLASS_KEYS: [&str; 11] =
    ["name", "rate", "burst", "mark", "source", "destination", "vlan", "fwmark", "inside", "each", "count"];

type Value<'a> = Spanned<DeValue<'a>>;

/// Fault, and its offset in the text.
struct Wrong {
    at: usize,
    what: String,
}

impl Classes {
    /// Reads the text of a classes file; `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// The text is no TOML, or breaks a rule of classes files; the error says where.
    pub fn parse(name: &str, text: &str) -> Result<Self, ClassesError> {
        let error = |wrong: Wrong| ClassesError {
            file: name.to_owned(),
            line: line_of(text, wrong.at),
            what: one_line(&wrong.what),
        };
        check_headers(text).map_err(error)?;
        let table = DeTable::parse(text).map_err(|problem| {
            let at = problem.span().map_or(0, |span| span.start);
            error(Wrong { at, what: format!("not TOML: {}", problem.message()) })
        })?;
        let mut layout = Layout::default();
        let (default, classes) = layout.read_file(table.get_ref()).map_err(error)?;
        Self::new(default, classes).map_err(|fault| error(layout.locate(text, fault)))
    }
}

/// Refuses more `[[class]]` than may be, before the text is parsed, which takes many times its memory.
fn check_headers(text: &str) -> Result<(), Wrong> {
    let mut at = 0;
    let mut headers = 0;
    for line in text.split_inclusive('\n') {
        headers += usize::from(line.trim_start().starts_with("[["));
        if headers > MAX_CLASSES {
            return Err(too_many(at));
        }
        at += line.len();
    }
    Ok(())
}

fn too_many(at: usize) -> Wrong {
    Wrong { at, what: format!("expected at most {MAX_CLASSES} classes, got more") }
}

/// The number of the line that holds the byte at `offset`, from one.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// Offset in the text of every value.
#[derive(Default)]
struct Layout {
    starts: HashMap<Place, usize>,
}

impl Layout {
    /// Offset to point at for `place`: of the value, or if there is none of what it would be part of.
    fn start(&self, place: Place) -> usize {
        let enclosing = [place, place.item(0), Place { key: "", ..place.item(0) }];
        enclosing.iter().find_map(|place| self.starts.get(place)).copied().unwrap_or(0)
    }

    /// A fault with its offset and with the line of what it is in conflict with.
    fn locate(&self, text: &str, fault: ClassesFault) -> Wrong {
        let other = fault.other.map(|other| format!(" (line {})", line_of(text, self.start(other))));
        Wrong { at: self.start(fault.at), what: fault.what + &other.unwrap_or_default() }
    }

    fn read_file(&mut self, table: &DeTable<'_>) -> Result<(Option<String>, Vec<Class>), Wrong> {
        check_keys(table, &TOP_KEYS).map_err(|(at, what)| Wrong { at, what })?;
        let default = match table.get("default") {
            Some(value) => Some(self.in_file(value, "default", text)?.to_owned()),
            None => None,
        };
        let Some(value) = table.get("class") else { return Ok((default, Vec::new())) };
        let entries = value.get_ref().as_array().ok_or_else(|| not_tables(value))?;
        if let Some(entry) = entries.get(MAX_CLASSES) {
            return Err(too_many(entry.span().start));
        }
        let mut classes = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let table = entry.get_ref().as_table().ok_or_else(|| not_tables(entry))?;
            self.starts.insert(Place::of(index, ""), entry.span().start);
            classes.push(self.read_class(index, entry.span(), table)?);
        }
        Ok((default, classes))
    }

    /// A value of the file itself.
    fn in_file<'v, T>(
        &mut self,
        value: &'v Value<'_>,
        key: &'static str,
        read: Read<'v, T>,
    ) -> Result<T, Wrong> {
        self.starts.insert(Place::top(key), value.span().start);
        read(value.get_ref()).map_err(|what| Wrong { at: value.span().start, what: format!("{key}: {what}") })
    }

    fn read_class(&mut self, index: usize, span: Range<usize>, table: &DeTable<'_>) -> Result<Class, Wrong> {
        let title = match table.get("name").and_then(|name| name.get_ref().as_str()) {
            Some(name) => format!("class {}", Quoted(name)),
            None => format!("class {}", index + 1),
        };
        let mut keys = Keys { starts: &mut self.starts, index, table };
        keys.read()
            .map_err(|(at, what)| Wrong { at: at.unwrap_or(span.start), what: format!("{title}: {what}") })
    }
}

fn not_tables(value: &Value<'_>) -> Wrong {
    let what = format!("class: expected tables under [[class]], got {}", kind(value.get_ref()));
    Wrong { at: value.span().start, what }
}

/// Reader of a value; the error says what was expected, and what was found.
type Read<'v, T> = fn(&'v DeValue<'_>) -> Result<T, String>;

/// Fault in a class, and the offset in the text if it is not the class as a whole.
type WrongKey = (Option<usize>, String);

/// The keys of one class.
struct Keys<'a> {
    starts: &'a mut HashMap<Place, usize>,
    index: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Keys<'a> {
    fn read(&mut self) -> Result<Class, WrongKey> {
        check_keys(self.table, &CLASS_KEYS).map_err(|(at, what)| (Some(at), what))?;
        let missing = |key: &str| (None, format!("expected a {key}"));
        let name = self.one("name", text)?.ok_or_else(|| missing("name"))?.to_owned();
        let rate: BitsPerSec = self.one("rate", quantity)?.ok_or_else(|| missing("rate"))?;
        Ok(Class {
            name,
            rate,
            burst: self.one("burst", quantity)?.unwrap_or_else(|| default_burst(rate)),
            mark: self.one("mark", quantity)?,
            source: self.list("source", prefix)?,
            destination: self.list("destination", prefix)?,
            vlan: self.list("vlan", number)?,
            fwmark: self.list("fwmark", number)?,
            inside: self.one("inside", text)?.map(str::to_owned),
            each: self.one("each", number)?,
            count: self.one("count", count)?.unwrap_or_default(),
        })
    }

    /// The value of `key`, if it is there.
    fn one<T>(&mut self, key: &'static str, read: Read<'a, T>) -> Result<Option<T>, WrongKey> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        self.item(key, 0, value, read).map(Some)
    }

    /// The values of `key`, which may be a single one.
    fn list<T>(&mut self, key: &'static str, read: Read<'a, T>) -> Result<Vec<T>, WrongKey> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.item(key, index, item, read)).collect()
            }
            _ => self.item(key, 0, value, read).map(|value| vec![value]),
        }
    }

    fn item<T>(
        &mut self,
        key: &'static str,
        item: usize,
        value: &'a Value<'a>,
        read: Read<'a, T>,
    ) -> Result<T, WrongKey> {
        let start = value.span().start;
        self.starts.insert(Place::of(self.index, key).item(item), start);
        read(value.get_ref()).map_err(|what| (Some(start), format!("{key}: {what}")))
    }
}

/// Finds the first key that is none of `known`.
fn check_keys(table: &DeTable<'_>, known: &[&str]) -> Result<(), (usize, String)> {
    let unknown = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
    match unknown.min_by_key(|key| key.span().start) {
        Some(key) => {
            let what = format!("unknown key {}, expected one of {}", Quoted(key.get_ref()), known.join(", "));
            Err((key.span().start, what))
        }
        None => Ok(()),
    }
}

/// Kind of a value, for messages.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("expected a string, got {}", kind(value)))
}

fn quantity<T: FromStr<Err: ToString>>(value: &DeValue<'_>) -> Result<T, String> {
    text(value)?.parse().map_err(|error: T::Err| error.to_string())
}

/// A whole number that fits into `T`.
fn number<T: TryFrom<u64> + Bounded>(value: &DeValue<'_>) -> Result<T, String> {
    let Some(integer) = value.as_integer() else {
        return Err(format!("expected an integer, got {}", kind(value)));
    };
    let read = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    read.and_then(|read| T::try_from(read).ok())
        .ok_or_else(|| format!("expected an integer from 0 to {}, got {integer}", T::MOST))
}

/// The largest number of a type.
trait Bounded {
    const MOST: u64;
}

impl Bounded for u8 {
    const MOST: u64 = u8::MAX as u64;
}

impl Bounded for u16 {
    const MOST: u64 = u16::MAX as u64;
}

impl Bounded for u32 {
    const MOST: u64 = u32::MAX as u64;
}

fn count(value: &DeValue<'_>) -> Result<Count, String> {
    match text(value)? {
        "class" => Ok(Count::Class),
        "each" => Ok(Count::Each),
        other => Err(format!("expected \"class\" or \"each\", got {}", Quoted(other))),
    }
}

/// A network with its length; an address alone stands for itself.
fn prefix(value: &DeValue<'_>) -> Result<IpNet, String> {
    let text = text(value)?;
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().map_err(|_| {
        format!("expected a prefix such as 10.0.0.0/24 or 2001:db8::/32, got {}", Quoted(text))
    })?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let Some(length) = length else { return Ok(IpNet::new(address, longest).unwrap_or(address.into())) };
    // `parse` would take "+8".
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
    let prefix =
        length.parse().ok().filter(|_| is_number).and_then(|length| IpNet::new(address, length).ok());
    prefix.ok_or_else(|| format!("expected a prefix length from 0 to {longest}, got {}", Quoted(text)))
}
