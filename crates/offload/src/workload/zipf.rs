//! Keys of a Zipf distribution whose ranks change: `zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::Error;
use trueplane_units::{Nanos, choices, scale_decimal};

use super::alias::Alias;
use crate::Key;
use crate::hash::mix;
use crate::timing::Timing;
use crate::workload::lookups::{CHUNK, Keys, Lookups};

/// The start of a workload that is drawn.
pub(super) const PREFIX: &str = "zipf:";
/// At most so many keys: their table takes 2 GiB.
pub const MOST_KEYS: u64 = 1 << 28;
/// Exponents up to this; with ten, one of a thousand lookups is not for the first key.
const LARGEST_EXPONENT: u64 = 10;
const BILLION: u64 = 1_000_000_000;
/// The longest workload, and time between changes: ten years.
const LONGEST: Nanos = Nanos(315_360_000 * BILLION);

/// Keys that are looked up as often as Zipf's law says, at every lookup independently of all others.
///
/// The r-th most popular key, from 1, has a probability in proportion to r^−exponent.
#[derive(Clone, Debug, PartialEq)]
pub struct Zipf {
    /// The exponent, 0 to 10.
    pub exponent: f64,
    /// Number of keys, 1 to [`MOST_KEYS`].
    pub keys: u64,
    /// Change of their ranks, if any.
    pub change: Option<Change>,
    /// Length of the workload.
    pub length: Length,
}

/// A change of popularity that happens again and again. Seen as a circle of ranks, it is a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Direction in which keys change their rank.
    pub direction: Direction,
    /// Number of keys that change at once, up to all of them; with 0 nothing changes.
    pub keys: u64,
    /// Time between changes, and before the first; above zero.
    pub every: Nanos,
}

choices! {
    /// The end of the ranks that goes to the other; all other keys make room.
    pub enum Direction {
        /// The least popular keys become the most popular, in their order.
        HotIn = "hot-in",
        /// The most popular keys become the least popular, in their order: what NetCache's authors call hot-out.
        Shift = "shift",
    }
}

/// Length of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Time, at one lookup a slot.
    Time(Nanos),
    /// Number of lookups.
    Lookups(u64),
}

impl Zipf {
    /// The number of lookups.
    pub fn lookups(&self, timing: Timing) -> u64 {
        match self.length {
            Length::Time(time) => timing.slots(time),
            Length::Lookups(lookups) => lookups,
        }
    }

    /// Time between changes of ranks; `None` where no key ever changes its rank.
    pub fn changes_every(&self) -> Option<Nanos> {
        self.change.filter(|change| change.keys % self.keys != 0).map(|change| change.every)
    }

    /// The slots before whose lookups ranks change, in their order; none where no key changes its rank.
    pub fn changes(&self, timing: Timing) -> Changes {
        let every = self.changes_every().unwrap_or(Nanos(0));
        Changes { every, timing, begun: 0, end: self.lookups(timing) }
    }

    /// Draws the lookups.
    pub(super) fn draw(&self, table: Arc<Alias>, timing: Timing, seed: u64) -> impl Lookups + use<> {
        let step = self.change.map_or(0, |change| match change.direction {
            Direction::HotIn => self.keys - change.keys % self.keys,
            Direction::Shift => change.keys,
        });
        Draws {
            table,
            // Systems begin their draws with the seed itself; theirs must not be the workload's.
            random: Xoshiro256PlusPlus::seed_from_u64(mix(Key(seed))),
            salt: mix(Key(!seed)),
            keys: self.keys,
            offset: 0,
            step: step % self.keys,
            changes: self.changes(timing),
            now: 0,
            end: self.lookups(timing),
        }
    }
}

/// The slots of changes, each once, however many fall on it; see [`Zipf::changes`]. O(1) each.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    /// Zero where there are none.
    every: Nanos,
    timing: Timing,
    /// Number of slots that are behind.
    begun: u64,
    end: u64,
}

impl Changes {
    /// No changes at all.
    pub const NONE: Changes = Changes { every: Nanos(0), timing: Timing { rate: 1 }, begun: 0, end: 0 };

    /// A time between changes in billionths of a slot.
    fn pace(&self) -> u128 {
        u128::from(self.every.0) * u128::from(self.timing.rate)
    }

    /// Number of changes by the lookup of `slot`.
    fn by(&self, slot: u64) -> u128 {
        let following = (u128::from(slot) + 1) * u128::from(BILLION);
        (following - 1).checked_div(self.pace()).unwrap_or(0)
    }

    /// The slot of the first change that is not behind, if it is before the end.
    fn peek(&self) -> Option<u64> {
        let behind = self.begun.checked_sub(1).map_or(0, |last| self.by(last));
        // What does not fit is long after the end.
        let slot = (behind + 1).checked_mul(self.pace())? / u128::from(BILLION);
        u64::try_from(slot).ok().filter(|&slot| self.every.0 > 0 && slot < self.end)
    }
}

impl Iterator for Changes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let slot = self.peek()?;
        self.begun = slot + 1;
        Some(slot)
    }
}

/// The lookups of a Zipf distribution.
struct Draws {
    table: Arc<Alias>,
    random: Xoshiro256PlusPlus,
    salt: u64,
    keys: u64,
    /// The key of rank 0; the others follow it in a circle.
    offset: u64,
    step: u64,
    changes: Changes,
    now: u64,
    end: u64,
}

impl Lookups for Draws {
    fn next_chunk(&mut self, out: &mut Vec<Key>) -> Result<bool, Error> {
        out.clear();
        let until = self.now.saturating_add(CHUNK as u64).min(self.end);
        while self.now < until {
            if self.changes.peek() == Some(self.now) {
                self.changes.begun = self.now + 1;
                // There may have been several, and with 2²⁸ keys at most nothing overflows.
                let changes = self.changes.by(self.now) % u128::from(self.keys);
                self.offset = self.step * changes as u64 % self.keys;
            }
            let stop = until.min(self.changes.peek().unwrap_or(until));
            let Self { table, random, salt, keys, offset, .. } = self;
            out.extend((self.now..stop).map(|_| {
                let index = table.draw(random) + *offset;
                name(if index < *keys { index } else { index - *keys }, *salt)
            }));
            self.now = stop;
        }
        Ok(!out.is_empty())
    }

    fn position(&self) -> u64 {
        self.now
    }

    fn keys(&self) -> Keys {
        Keys::default()
    }
}

/// A number that says nothing of the index; no two indices have the same. Source: SplitMix64.
#[inline]
fn name(index: u64, salt: u64) -> Key {
    Key(mix(Key(index.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt))))
}

/// Parses the parameters that follow `zipf:`.
impl FromStr for Zipf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(',').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let exponent = decimal(first).filter(|&billionths| billionths <= LARGEST_EXPONENT * BILLION);
        let exponent = exponent.ok_or_else(|| {
            format!("expected an exponent from 0 to {LARGEST_EXPONENT} after zipf:, such as zipf:0.99, got \"{first}\"")
        })?;
        let (mut keys, mut change, mut length) = (None, None, None);
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (name.trim(), value.trim());
            let direction = name.parse().ok();
            let is_new = match (name, direction) {
                ("keys", _) => keys.replace(number_of_keys(value)).is_none(),
                (_, Some(direction)) => change.replace(Change::of(direction, value)).is_none(),
                ("seconds", _) => length.replace(seconds(value)).is_none(),
                ("lookups", _) => length.replace(lookups(value)).is_none(),
                _ => {
                    return Err(format!(
                        "expected keys=…, hot-in=…, shift=…, seconds=… or lookups=…, got \"{part}\""
                    ));
                }
            };
            if !is_new {
                return Err(format!(
                    "expected one each of keys, of hot-in and shift, of seconds and lookups, got \"{part}\" too"
                ));
            }
            let wrong = keys.as_ref().and_then(|keys| keys.as_ref().err());
            let wrong = wrong.or(change.as_ref().and_then(|change| change.as_ref().err()));
            if let Some(expected) = wrong.or(length.as_ref().and_then(|length| length.as_ref().err())) {
                return Err(format!("expected {expected}, got \"{part}\""));
            }
        }
        let keys = keys.ok_or("expected a number of keys such as keys=1M")??;
        let change = change.transpose()?;
        let length = length.ok_or("expected a length such as seconds=3 or lookups=10M")??;
        if let Some(change) = change.filter(|change| change.keys > keys) {
            return Err(format!("expected at most {keys} keys in a change, got {}", change.keys));
        }
        Ok(Self { exponent: exponent as f64 / BILLION as f64, keys, change, length })
    }
}

impl Change {
    fn of(direction: Direction, text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(keys, every)| Some((count(keys)?, every.trim().parse().ok()?)));
        let change = parts.map(|(keys, every)| Self { direction, keys, every });
        change
            .filter(|change| (Nanos(1)..=LONGEST).contains(&change.every))
            .ok_or_else(|| "keys and a time above zero such as hot-in=1000/1s or shift=1K/100ms".to_owned())
    }
}

fn number_of_keys(text: &str) -> Result<u64, String> {
    let keys = count(text).filter(|keys| (1..=MOST_KEYS).contains(keys));
    keys.ok_or_else(|| format!("1 to {MOST_KEYS} keys such as keys=1M, 8 B of memory each"))
}

fn seconds(text: &str) -> Result<Length, String> {
    let time = decimal(text).map(Nanos).filter(|time| (Nanos(1)..=LONGEST).contains(time));
    time.map(Length::Time)
        .ok_or_else(|| "a number of seconds above zero such as seconds=3 or seconds=0.5".to_owned())
}

fn lookups(text: &str) -> Result<Length, String> {
    let lookups = count(text).filter(|&lookups| lookups > 0);
    lookups
        .map(Length::Lookups)
        .ok_or_else(|| "a number of lookups above zero such as lookups=10M".to_owned())
}

/// A count with an optional `K`, `M` or `G`.
fn count(text: &str) -> Option<u64> {
    let scales = [("K", 1_000), ("k", 1_000), ("M", 1_000_000), ("G", BILLION), ("", 1)];
    let (number, scale) =
        scales.into_iter().find_map(|(suffix, scale)| Some((text.strip_suffix(suffix)?, scale)))?;
    scale_decimal(number, scale).filter(|_| scale > 1 || !number.contains('.'))
}

/// A decimal in billionths.
fn decimal(text: &str) -> Option<u64> {
    scale_decimal(text, BILLION)
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}/{}", self.direction, self.keys, self.every)
    }
}
