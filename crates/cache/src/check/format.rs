//! The document: what a certificate says, in which form, and with which checksum.
//!
//! It is one JSON object. Its first member is the [`Header`], so that a reader knows what is to come before it reads the
//! long lists; these are runs, which are short where prices repeat. Every fact has one form: runs are as long as they can
//! be, and the checksum is over the compact JSON of all that precedes it.

use std::hash::Hasher;
use std::{fmt, io};

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};
use trueplane_study::json;
use trueplane_trace::Clock;
use trueplane_units::Nanos;

use crate::LARGEST_CAPACITY;
use crate::check::refusal::Refusal;
use crate::latency::Latency;

/// What every certificate says that it is.
pub const FORMAT: &str = "trueplane cache bound";

/// The version of the format.
pub const VERSION: u32 = 1;

/// No header is longer than this, in bytes.
pub const LONGEST_HEADER: u64 = 1 << 20;

/// The finest prices there are, in bits after the point.
pub const MOST_BITS: u32 = 62;

/// The longest text of a certificate of so many requests, in bytes: two numbers of a run of prices and one of the schedule
/// for each, indented and on lines of their own.
pub fn longest(requests: usize) -> u64 {
    LONGEST_HEADER + 128 * requests as u64
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// All but the proof; first in the document.
    pub header: Header,
    /// The price of a unit of the capacity in every gap, in units of latency / 2^price_bits: each with the number of consecutive
    /// gaps that have it. Gap g is the instant right before request g, from 0.
    pub prices: Vec<(u64, u64)>,
    /// Run lengths of the schedule: the number of consecutive requests that keep nothing, then of those that keep their object, and so on
    /// in turns. To keep means that the object stays after the hit, or after the fetch that the miss began, until its next request.
    /// Delayed hits keep nothing.
    pub schedule: Vec<u64>,
    /// SipHash-2-4 of 128 bits under the all-zero key, in hexadecimal, over the compact JSON of this document
    /// without it.
    pub checksum: String,
}

/// Header of a certificate: the trace, the cache and the bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The trace.
    pub trace: TraceFacts,
    /// The cache and its backing store.
    pub terms: WrittenTerms,
    /// The bounds.
    pub claims: Claims,
}

/// Facts that identify the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFacts {
    /// The path, as it was given; only for people.
    pub name: String,
    /// The number of requests that were used.
    pub requests: u64,
    /// The number of objects among them.
    pub objects: u64,
    /// The [`Digest`] of these requests.
    pub digest: String,
}

/// The bounds on the total latency, in ns or steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// No schedule has a smaller total.
    pub lower: u64,
    /// The schedule's total.
    pub upper: u64,
    /// Exact lower bound from the prices, × 2^price_bits; `lower` is this rounded up, or zero.
    pub lower_scaled: i128,
    /// The scale of prices and `lower_scaled`, at most [`MOST_BITS`].
    pub price_bits: u32,
}

/// The terms as they are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenTerms {
    /// `timestamps`: times are in ns; `steps`: in steps.
    pub clock: String,
    /// Fetch times as on the command line, in full: `1000steps`, `100000000ns`, `origins:68000000ns,103000000ns`,
    /// `lognormal:100000000ns,0.3` or `trace`.
    pub latency: String,
    /// Seed of lognormal latencies; only with them.
    pub seed: Option<u64>,
    /// The total size of what the cache holds.
    pub capacity: u64,
    /// `objects` or `bytes`.
    pub capacity_unit: String,
    /// Latency of a hit, in ns or steps.
    pub hit_latency: u64,
    /// Number of requests at the start that are served but not counted.
    pub warmup: u64,
    /// Whether a fetched object may pass the cache by; if not it is there until the next request.
    pub bypass: bool,
    /// Whether there may be objects larger than the cache, which always pass it by.
    pub bypass_oversized: bool,
    /// Number of requests to read at the start of the trace; none: all.
    pub prefix: Option<u64>,
}

/// The terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Meaning of times: steps or timestamps.
    pub clock: Clock,
    /// Latency of fetches.
    pub latency: Latency,
    /// The capacity, 1 to [`LARGEST_CAPACITY`].
    pub capacity: u64,
    /// Whether it is in bytes.
    pub by_bytes: bool,
    /// Latency of a hit.
    pub hit_latency: u64,
    /// Number of requests at the start that are not counted.
    pub warmup: u64,
    /// Whether fetched objects may pass the cache by.
    pub bypass: bool,
    /// Whether there may be objects larger than the cache.
    pub bypass_oversized: bool,
    /// Number of requests to read at most; without it, all.
    pub prefix: Option<u64>,
}

impl Terms {
    /// The terms as a certificate writes them.
    pub fn written(&self) -> WrittenTerms {
        let seed = if let Latency::LogNormal { seed, .. } = self.latency { Some(seed) } else { None };
        WrittenTerms {
            clock: if self.clock == Clock::Steps { "steps" } else { "timestamps" }.to_owned(),
            latency: latency_text(&self.latency, unit(self.clock)),
            seed,
            capacity: self.capacity,
            capacity_unit: if self.by_bytes { "bytes" } else { "objects" }.to_owned(),
            hit_latency: self.hit_latency,
            warmup: self.warmup,
            bypass: self.bypass,
            bypass_oversized: self.bypass_oversized,
            prefix: self.prefix,
        }
    }
}

/// The unit of times.
fn unit(clock: Clock) -> &'static str {
    if clock == Clock::Steps { "steps" } else { "ns" }
}

/// Without any rounding, unlike what is printed for people.
fn latency_text(latency: &Latency, unit: &str) -> String {
    match latency {
        Latency::Constant(Nanos(fetch)) => format!("{fetch}{unit}"),
        Latency::Origins(origins) => {
            let list: Vec<String> = origins.iter().map(|origin| format!("{}{unit}", origin.0)).collect();
            format!("origins:{}", list.join(","))
        }
        Latency::LogNormal { median, sigma, .. } => format!("lognormal:{}{unit},{sigma}", median.0),
        Latency::Trace => "trace".to_owned(),
    }
}

fn latency_of(text: &str, unit: &str, seed: Option<u64>) -> Option<Latency> {
    let time = |text: &str| text.strip_suffix(unit)?.parse().ok().map(Nanos);
    if text == "trace" {
        return Some(Latency::Trace);
    }
    if let Some(list) = text.strip_prefix("origins:") {
        return list.split(',').map(time).collect::<Option<_>>().map(Latency::Origins);
    }
    if let Some(pair) = text.strip_prefix("lognormal:") {
        let (median, sigma) = pair.split_once(',')?;
        let sigma = sigma.parse().ok().filter(|sigma: &f64| sigma.is_finite() && *sigma >= 0.0)?;
        return Some(Latency::LogNormal { median: time(median)?, sigma, seed: seed? });
    }
    time(text).map(Latency::Constant)
}

impl WrittenTerms {
    /// Terms with the meaning of this text.
    ///
    /// # Errors
    /// If they mean nothing, or could be written in another way.
    pub fn understood(&self) -> Result<Terms, Refusal> {
        let refuse = |what: &str, expected: &str, found: &dyn fmt::Debug| {
            Err(Refusal::new(format!("{what}: expected {expected}, got {found:?}")))
        };
        let clock = match self.clock.as_str() {
            "timestamps" => Clock::Timestamps,
            "steps" => Clock::Steps,
            other => return refuse("clock", "timestamps or steps", &other),
        };
        let by_bytes = match self.capacity_unit.as_str() {
            "bytes" => true,
            "objects" => false,
            other => return refuse("capacity_unit", "objects or bytes", &other),
        };
        if !(1..=LARGEST_CAPACITY).contains(&self.capacity) {
            return refuse("capacity", "1 to 2^60", &self.capacity);
        }
        let Some(latency) = latency_of(&self.latency, unit(clock), self.seed) else {
            let expected = format!("fetch times in {} as trueplane writes them", unit(clock));
            return refuse("latency", &expected, &self.latency);
        };
        let terms = Terms {
            clock,
            latency,
            capacity: self.capacity,
            by_bytes,
            hit_latency: self.hit_latency,
            warmup: self.warmup,
            bypass: self.bypass,
            bypass_oversized: self.bypass_oversized,
            prefix: self.prefix,
        };
        match terms.written() {
            written if written == *self => Ok(terms),
            written if written.seed != self.seed => {
                refuse("seed", "one with lognormal latencies only", &self.seed)
            }
            written => refuse("latency", &written.latency, &self.latency),
        }
    }
}

impl Certificate {
    /// The certificate of these facts; the checksum is made here.
    pub fn new(header: Header, prices: &[u64], keep: impl Iterator<Item = bool>) -> Self {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for &price in prices {
            match runs.last_mut() {
                Some((last, count)) if *last == price => *count += 1,
                _ => runs.push((price, 1)),
            }
        }
        let mut turns = vec![0];
        let mut kept = false;
        for keep in keep {
            if keep != kept {
                kept = keep;
                turns.push(0);
            }
            if let Some(last) = turns.last_mut() {
                *last += 1;
            }
        }
        let mut certificate = Self { header, prices: runs, schedule: turns, checksum: String::new() };
        certificate.checksum = certificate.sum();
        certificate
    }

    /// Reads a certificate and verifies its checksum.
    ///
    /// # Errors
    /// If it is none, or does not match.
    pub fn parse(text: &[u8]) -> Result<Self, Refusal> {
        let certificate: Self = serde_json::from_slice(text).map_err(|error| not_json(&error))?;
        let sum = certificate.sum();
        if certificate.checksum == sum {
            Ok(certificate)
        } else {
            let message = format!(
                "checksum: expected {sum}, got {:?}: the certificate is not as it was written",
                certificate.checksum
            );
            Err(Refusal::new(message))
        }
    }

    /// The checksum that it has to have.
    pub fn sum(&self) -> String {
        let mut sum = Sum(SipHasher24::new());
        let facts = (&self.header, &self.prices, &self.schedule);
        // Numbers and text can always be written, and the hash takes everything.
        match serde_json::to_writer(&mut sum, &facts) {
            Ok(()) => sum.hexadecimal(),
            Err(error) => error.to_string(),
        }
    }

    /// The price of each of `requests` gaps.
    ///
    /// # Errors
    /// If there are more or fewer, or neighbouring runs are alike or empty.
    pub fn prices(&self, requests: usize) -> Result<Vec<u64>, Refusal> {
        let counts = self.prices.iter().map(|&(_, count)| count);
        fit("prices", counts, requests)?;
        if self.prices.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Refusal::new("prices: two runs in succession have the same price"));
        }
        let mut prices = Vec::with_capacity(requests);
        for &(price, count) in &self.prices {
            prices.resize(prices.len() + count as usize, price);
        }
        Ok(prices)
    }

    /// Whether each of `requests` requests keeps its object.
    ///
    /// # Errors
    /// If there are more or fewer, or a run but the first is empty.
    pub fn keep(&self, requests: usize) -> Result<Vec<bool>, Refusal> {
        // Only the first may be empty, where there is something to keep at once.
        let empty = self.schedule.first() == Some(&0) && self.schedule.len() > 1;
        fit("schedule", self.schedule.iter().copied().skip(usize::from(empty)), requests)?;
        let mut keep = Vec::with_capacity(requests);
        for (turn, &count) in self.schedule.iter().enumerate() {
            keep.resize(keep.len() + count as usize, turn % 2 == 1);
        }
        Ok(keep)
    }
}

/// Runs must not be empty and have to add up to `requests`: what they claim is only then expanded.
fn fit(what: &str, mut counts: impl Iterator<Item = u64>, requests: usize) -> Result<(), Refusal> {
    let sum = counts.try_fold(0u64, |sum, count| {
        if count == 0 { Err("there is an empty run") } else { sum.checked_add(count).ok_or("they never end") }
    });
    match sum {
        Ok(sum) if sum == requests as u64 => Ok(()),
        Ok(sum) => Err(Refusal::new(format!("{what}: expected {requests}, got {sum}"))),
        Err(problem) => Err(Refusal::new(format!("{what}: {problem}"))),
    }
}

fn not_json(error: &serde_json::Error) -> Refusal {
    Refusal::new(json::problem(error) + &json::place(error))
}

/// The header of the certificate that begins with `text`.
///
/// # Errors
/// If `text` does not begin with a header of this version.
pub fn header(text: &[u8]) -> Result<Header, Refusal> {
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refusal::new("expected a certificate (JSON), got a file of another kind"));
    }
    let mut found = None;
    let end = serde_json::Deserializer::from_slice(text).deserialize_map(First(&mut found));
    let value = match (found, end) {
        (Some(value), _) => value,
        (None, Err(error)) => return Err(not_json(&error)),
        (None, Ok(())) => return Err(Refusal::new("expected a certificate, got an empty document")),
    };
    let said = |name: &str| value.get(name).map_or("nothing".to_owned(), ToString::to_string);
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(Refusal::new(format!("format: expected \"{FORMAT}\", got {}", said("format"))));
    }
    if value.get("version").and_then(serde_json::Value::as_u64) != Some(u64::from(VERSION)) {
        return Err(Refusal::new(format!("version: expected {VERSION}, got {}", said("version"))));
    }
    let header: Header = serde_json::from_value(value)
        .map_err(|error| Refusal::new(format!("header: {}", json::problem(&error))))?;
    if header.claims.price_bits > MOST_BITS {
        let bits = header.claims.price_bits;
        return Err(Refusal::new(format!("price_bits: expected at most {MOST_BITS}, got {bits}")));
    }
    Ok(header)
}

/// Takes the first member of an object, which has to be the header, and reads no further.
struct First<'a>(&'a mut Option<serde_json::Value>);

impl<'de> Visitor<'de> for First<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a certificate")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        match members.next_key::<String>()?.as_deref() {
            Some("header") => {
                *self.0 = Some(members.next_value()?);
                Err(A::Error::custom("the rest is not read yet"))
            }
            Some(other) => {
                members.next_value::<IgnoredAny>()?;
                Err(A::Error::custom(format!("expected \"header\" first, got {other:?}")))
            }
            None => Ok(()),
        }
    }
}

/// Sums up requests: SipHash-2-4 of 128 bits over time, key, size in bytes and fetch time of each, as 64-bit little-endian numbers.
///
/// It tells another trace, or one read in another way, at once; no bound depends on it.
#[derive(Clone, Debug, Default)]
pub struct Digest(SipHasher24);

impl Digest {
    /// Takes the next request.
    pub fn push(&mut self, time: u64, key: u64, size: u64, fetch: u64) {
        for number in [time, key, size, fetch] {
            self.0.write(&number.to_le_bytes());
        }
    }

    /// The digest, in hexadecimal.
    pub fn finish(self) -> String {
        Sum(self.0).hexadecimal()
    }
}

/// A hash as a file.
struct Sum(SipHasher24);

impl Sum {
    fn hexadecimal(&self) -> String {
        let hash = self.0.finish128();
        format!("{:016x}{:016x}", hash.h1, hash.h2)
    }
}

impl io::Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
