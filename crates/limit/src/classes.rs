//! The classes file: who is limited, and to what.
//!
//! ```toml
//! default = "rest"                # class of packets that match no rule; without it they pass untouched
//!
//! [[class]]
//! name = "tenants"                # letters, digits and _ . : -
//! rate = "100Mbps"                # 1kbps to 400Gbps
//! burst = "256KiB"                # see `default_burst` for what it is if left out
//! mark = "64KiB"                  # mark ECN-capable packets above this occupancy; never, if left out
//! source = "10.0.0.0/16"          # also as a list, also IPv6
//! each = 24                       # a limiter of its own for every /24 in it
//! count = "each"                  # and counters too, instead of one set for the class
//!
//! [[class]]
//! name = "rest"
//! rate = "1Gbps"
//! destination = ["192.0.2.0/24", "2001:db8::/32"]
//! vlan = [100, 101]
//! fwmark = 7
//!
//! [[class]]
//! name = "guest"
//! rate = "10Mbps"
//! destination = "192.0.2.128/25"
//! inside = "rest"                 # charged to both, or dropped by either and charged to none
//! ```
//!
//! What does not fit together is an error of one line: file, line, class, key, what is wrong. Prefixes of one direction
//! may overlap only if the class of the narrower one is `inside` that of the wider one, so that nobody escapes a limit by
//! another that was written for a part of it; between source and destination [`super::classifier`] has a fixed order.

mod check;
#[cfg(feature = "study")]
mod open;
mod read;

use std::fmt;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use trueplane_units::{BitsPerSec, Bytes};

use crate::format::MAX_BURST;

/// The most classes of a file. One takes about 4 KB while a file is read, and 3 KB more in a replay.
pub const MAX_CLASSES: usize = 1 << 16;

/// The most limiters that all classes may have together: 16 MiB of them.
pub const MAX_LIMITERS: u64 = 1 << 20;

/// The longest IPv6 prefix that has limiters of its own by `each`: what is behind it names an interface, not a customer
/// (RFC 4291 §2.5.4), and the selecting bits then lie in the upper half of every address.
pub const MAX_EACH_IPV6: u8 = 64;

/// All classes of a file, known to fit together.
///
/// As JSON it is checked again when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Classes {
    default: Option<String>,
    #[serde(rename = "class")]
    classes: Vec<Class>,
}

/// One class: its limit and the rules by which packets belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Unique among the classes.
    pub name: String,
    /// Rate at which each of its limiters drains.
    #[serde(rename = "rate_bps")]
    pub rate: BitsPerSec,
    /// Capacity of each of its limiters' buckets.
    #[serde(rename = "burst_bytes")]
    pub burst: Bytes,
    /// Occupancy above which packets are marked, `None` if never.
    #[serde(rename = "mark_bytes")]
    pub mark: Option<Bytes>,
    /// Prefixes that packets come from.
    pub source: Vec<IpNet>,
    /// Prefixes that packets go to.
    pub destination: Vec<IpNet>,
    /// Ids of their outermost VLAN tag, 1 to 4094.
    pub vlan: Vec<u16>,
    /// Marks that the kernel has put on them, not zero.
    pub fwmark: Vec<u32>,
    /// The class that they are charged to as well.
    pub inside: Option<String>,
    /// Length of the prefixes that have a limiter of their own each.
    pub each: Option<u8>,
    /// Level at which packets are counted.
    pub count: Count,
}

/// Level at which packets are counted: each has counters of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// The class.
    #[default]
    Class,
    /// Each of its limiters.
    Each,
}

/// Fault of a classes file, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct ClassesError {
    /// The file's name, as it was given.
    pub file: String,
    /// Line of the file, counted from one.
    pub line: usize,
    /// Class, key and what is wrong.
    pub what: String,
}

/// Why classes do not fit together, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ClassesFault {
    /// Class, key and what is wrong.
    what: String,
    /// Place of the class in its file.
    at: Place,
    /// Place of the value that it is in conflict with.
    other: Option<Place>,
}

/// A value in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    /// Index of the class, `None` for the file itself.
    class: Option<usize>,
    /// The key, empty for the class as a whole.
    key: &'static str,
    /// Index in the list, zero for what is no list.
    item: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    default: Option<String>,
    class: Vec<Class>,
}

impl Classes {
    /// The classes in the order of the file.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Name of the class of packets that match no rule.
    pub fn default_class(&self) -> Option<&str> {
        self.default.as_deref()
    }
}

impl Class {
    /// A class with the default burst and no rule.
    pub fn new(name: &str, rate: BitsPerSec) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            burst: default_burst(rate),
            mark: None,
            source: Vec::new(),
            destination: Vec::new(),
            vlan: Vec::new(),
            fwmark: Vec::new(),
            inside: None,
            each: None,
            count: Count::Class,
        }
    }

    /// Bits of the address, behind the class's one prefix, that select the limiter; zero without `each`.
    pub fn width(&self) -> u8 {
        let prefix = self.source.first().or(self.destination.first());
        match (self.each, prefix) {
            (Some(each), Some(prefix)) => each.saturating_sub(prefix.prefix_len()),
            _ => 0,
        }
    }
}

/// The burst of a class that names none: 72 KiB and what the rate yields in 2 ms, at most [`MAX_BURST`].
///
/// Before the network card cuts it up, a packet of the kernel's is up to 64 KiB long, and counts some KiB more with a
/// header for each of its parts; a burst below that would never let it pass. TCP in Linux sends what its rate yields in a
/// millisecond at once, and in slow start at twice the rate: hence 2 ms, so that a sender that keeps to the limit is not
/// dropped for it.
pub fn default_burst(rate: BitsPerSec) -> Bytes {
    const LARGEST_PACKET: u64 = 72 << 10;
    const BYTES_IN_2_MS: u64 = 8 * 500;
    Bytes((LARGEST_PACKET + rate.0 / BYTES_IN_2_MS).min(MAX_BURST.0))
}

impl Place {
    /// `key` of the class with this index.
    fn of(class: usize, key: &'static str) -> Self {
        Self { class: Some(class), key, item: 0 }
    }

    /// `key` of the file itself.
    fn top(key: &'static str) -> Self {
        Self { class: None, key, item: 0 }
    }

    /// The item with this index in the same list.
    fn item(self, item: usize) -> Self {
        Self { item, ..self }
    }
}

/// Text as errors show it: in quotes, and on one line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", one_line(self.0))
    }
}

/// `text` with its control characters, line breaks above all, written as escapes.
fn one_line(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if breaks(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests;
