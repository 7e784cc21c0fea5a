//! MAD: weigh an object by the delay that its next miss would cause, not by the miss alone.
//!
//! A miss costs its own fetch time and what is left of it for everybody who asks meanwhile: the *aggregate delay*.
//! Bursty objects have a large one. MAD estimates it from the past, as the mean over all miss windows that the object's
//! requests would have opened had each one found the cache without it, and ranks
//!
//! ```text
//! rank = mean aggregate delay (ns) / estimated time to next access (ns)
//! ```
//!
//! with whatever estimator of the second factor the base policy has. The smallest rank leaves. Sizes count as they do in
//! the base: what MAD gains comes from delays alone.
//!
//! Cost: O(1) a request for the estimate; the exact victim among ranks that all change with time comes from a
//! [kinetic tournament](trueplane_pqueue::kinetic) in O(log n), where the authors' simulator scans the whole cache.
//!
//! Source: thesis §2.5.2, Algorithm 1, eq. 2.45. Departures: the fetch time is measured, not given (an average with
//! weight 1/8 on the newest, as RFC 6298 §2 does for round trips; with a constant fetch time it is that constant), all
//! ranks are exact fractions, and LRU-MAD divides by one unit more than the time since the last access, which may be zero. Where a store answers in no time nothing is delayed, and MAD falls back on its base.

use hashbrown::HashMap;
use trueplane_pqueue::product::{compare, excess};
use trueplane_pqueue::{Curve, KineticTournament};
use trueplane_units::Nanos;

use crate::cost::{Cost, Stake, VictimOrder};
use crate::{Access, Key, Object, Outcome, Slot, grow};

/// The four counters of an object.
///
/// Until the first fetch has come (`windows == 0`) its length is unknown; `latency` then counts the requests since the
/// miss and `delay` sums how long after it they came.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    windows: u64,
    /// Sum of the delays of all requests in all windows.
    delay: u64,
    /// Instant at which the latest window opened.
    opened: u64,
    /// Duration of a fetch of this object.
    latency: u64,
}

impl Record {
    /// Algorithm 1, `OnAccess`.
    fn access(&mut self, now: Nanos) {
        let since = now.since(Nanos(self.opened)).0;
        if self.windows == 0 {
            self.latency += 1;
            self.delay = self.delay.saturating_add(since);
        } else if since >= self.latency {
            self.windows += 1;
            self.delay = self.delay.saturating_add(self.latency);
            self.opened = now.0;
        } else {
            self.delay = self.delay.saturating_add(self.latency - since);
        }
    }

    /// A fetch has come and took `fetch`.
    fn fetched(&mut self, fetch: Nanos) {
        if self.windows == 0 {
            let (requests, offsets) = (self.latency, self.delay);
            *self = Self {
                windows: 1,
                delay: requests.saturating_mul(fetch.0).saturating_sub(offsets),
                opened: self.opened,
                latency: fetch.0,
            };
        } else if fetch.0 >= self.latency {
            self.latency += (fetch.0 - self.latency) / 8;
        } else {
            self.latency -= (self.latency - fetch.0) / 8;
        }
    }
}

/// The aggregate delay of every object, estimated online.
///
/// Memory: 32 B of counters per object resident or on its way. With [`remember_all`](Self::remember_all) the counters
/// outlive the object's stay, for ever: a hash table of 41 B entries, for every object ever seen and gone.
#[derive(Clone, Debug, Default)]
pub struct AggregateDelay {
    records: Vec<Record>,
    last: Vec<Nanos>,
    /// The counters of objects that have left, if they are kept.
    gone: Option<HashMap<Key, Record>>,
}

impl AggregateDelay {
    /// Keeps the counters of every object ever seen, as the thesis's "strawman" does (§2.6.2).
    pub fn remember_all() -> Self {
        Self { gone: Some(HashMap::new()), ..Self::default() }
    }
}

impl Cost for AggregateDelay {
    type Recency = KineticOrder;

    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        grow(&mut self.records, slot, Record::default());
        grow(&mut self.last, slot, Nanos(0));
        let record = &mut self.records[slot.index()];
        if outcome == Outcome::Miss {
            let remembered = self.gone.as_mut().and_then(|gone| gone.remove(&object.key));
            *record = remembered.unwrap_or(Record { opened: access.now.0, ..Record::default() });
        }
        record.access(access.now);
        self.last[slot.index()] = access.now;
    }

    fn fetched(&mut self, slot: Slot, fetch: Nanos) {
        self.records[slot.index()].fetched(fetch);
    }

    fn evicted(&mut self, slot: Slot, object: Object) {
        let record = self.records[slot.index()];
        // Of an object that has never come there is nothing to remember: how long its fetch takes is not known.
        if let Some(gone) = &mut self.gone
            && record.windows > 0
        {
            gone.insert(object.key, record);
        }
    }

    fn stake(&self, slot: Slot) -> Stake {
        let Record { windows, delay, .. } = self.records[slot.index()];
        // Nothing was ever delayed: a miss is a miss.
        let (delay, windows) = if delay == 0 { (1, 1) } else { (delay, windows) };
        Stake { delay, windows, last: self.last[slot.index()] }
    }
}

/// Mean aggregate delay over (now − last access + 1 unit), the smallest on top: its inverse is a straight line. The unit, 1 ns or 1 step,
/// gives a rank to objects that are asked for at this very instant.
#[derive(Clone, Copy, Debug)]
struct Waning {
    stake: Stake,
    /// Counts uses; among equal ranks the one used longest ago goes first.
    turn: u64,
}

impl Waning {
    fn age(&self, now: u64) -> u64 {
        Nanos(now).since(self.stake.last).0.saturating_add(1)
    }

    /// The factors of this curve's inverse rank at `age`, on a common scale with `other`'s.
    fn inverse(&self, other: &Self, age: u64) -> [u64; 3] {
        [self.stake.windows, other.stake.delay, age]
    }
}

impl Curve for Waning {
    type Instant = u64;

    fn beats(&self, other: &Self, now: u64) -> bool {
        let order = compare(self.inverse(other, self.age(now)), other.inverse(self, other.age(now)));
        order.then(other.turn.cmp(&self.turn)).is_gt()
    }

    fn holds_until(&self, other: &Self, now: u64) -> u64 {
        let closing = excess(other.inverse(self, 1), self.inverse(other, 1));
        if closing == 0.0 {
            return u64::MAX;
        }
        let gap = excess(self.inverse(other, self.age(now)), other.inverse(self, other.age(now)));
        // Both differences were exact before they were rounded; the margin makes sure never to be late.
        let time = gap / closing * (1.0 - 2f64.powi(-40));
        now.saturating_add((time as u64).max(1))
    }
}

/// Orders objects by what is at stake over the time since they were last asked for.
///
/// O(log n) amortised for every operation. A hit is O(1), and its logarithm is paid by the victim that is looked for: as a use raises the
/// rank of an object most often, its old rank is a lower bound of the new one, and only an object whose old rank is the smallest needs
/// its new one. What is evicted is the same to the last tie.
#[derive(Clone, Debug, Default)]
pub struct KineticOrder {
    /// No rank in here is above the true one.
    ranks: KineticTournament<Waning>,
    /// The turn of the last use of each slot whose rank is an old one; 0 for the others.
    late: Vec<u64>,
    turns: u64,
}

impl KineticOrder {
    fn set(&mut self, slot: Slot, stake: Stake, turn: u64, now: Nanos) {
        grow(&mut self.late, slot, 0);
        self.late[slot.index()] = 0;
        self.ranks.set(slot.0, Waning { stake, turn }, now.0);
    }
}

impl VictimOrder for KineticOrder {
    fn insert(&mut self, slot: Slot, stake: Stake, now: Nanos) {
        self.turns += 1;
        self.set(slot, stake, self.turns, now);
    }

    fn renew(&mut self, slot: Slot, stake: Stake, now: Nanos) {
        self.turns += 1;
        match self.ranks.curve(slot.0) {
            Some(old) if is_above(stake, old.stake) => self.late[slot.index()] = self.turns,
            _ => self.set(slot, stake, self.turns, now),
        }
    }

    fn remove(&mut self, slot: Slot, now: Nanos) {
        if let Some(late) = self.late.get_mut(slot.index()) {
            *late = 0;
        }
        self.ranks.remove(slot.0, now.0);
    }

    fn victim(&mut self, now: Nanos, stake: impl Fn(Slot) -> Stake) -> Option<Slot> {
        loop {
            let slot = Slot(self.ranks.top(now.0)?);
            match self.late[slot.index()] {
                0 => return Some(slot),
                turn => self.set(slot, stake(slot), turn, now),
            }
        }
    }
}

/// Whether the rank of `new` is at no time below that of `old`: its mean delay is no smaller, and it was used no earlier.
fn is_above(new: Stake, old: Stake) -> bool {
    let mean = |of: Stake, other: Stake| u128::from(of.delay) * u128::from(other.windows);
    new.last >= old.last && mean(new, old) >= mean(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay_of(requests: &[u64], latency: u64) -> (u64, u64) {
        let mut record = Record { opened: requests[0], ..Record::default() };
        record.access(Nanos(requests[0]));
        let mut fetched = false;
        for &now in &requests[1..] {
            if !fetched && now >= requests[0] + latency {
                record.fetched(Nanos(latency));
                fetched = true;
            }
            record.access(Nanos(now));
        }
        if !fetched {
            record.fetched(Nanos(latency));
        }
        (record.delay, record.windows)
    }

    #[test]
    fn four_counters_take_32_bytes() {
        assert_eq!(size_of::<Record>(), 32);
    }

    #[test]
    fn windows_open_when_a_fetch_would_have_ended() {
        // §2.1: Z = 10, requests at 3, 5 and 11 wait 10, 8 and 2; the one at 13 opens a window of its own.
        assert_eq!(delay_of(&[3, 5, 11], 10), (20, 1));
        assert_eq!(delay_of(&[3, 5, 11, 13], 10), (30, 2));
        assert_eq!(delay_of(&[3, 5, 11, 13, 22, 23], 10), (30 + 1 + 10, 3));
    }

    #[test]
    fn measured_latency_moves_an_eighth_of_the_way() {
        let mut record = Record::default();
        record.access(Nanos(0));
        record.fetched(Nanos(80));
        record.fetched(Nanos(160));
        assert_eq!(record.latency, 90);
        record.fetched(Nanos(10));
        assert_eq!(record.latency, 80);
    }

    #[test]
    fn a_rank_falls_behind_no_sooner_than_certified() {
        let curve =
            |delay, windows, last, turn| Waning { stake: Stake { delay, windows, last: Nanos(last) }, turn };
        // 9/1 over an age of 101 against 5/2 over an age of 6: 0.089 against 0.417.
        let (old, young) = (curve(9, 1, 0, 1), curve(5, 2, 95, 2));
        assert!(old.beats(&young, 100) && !young.beats(&old, 100));
        let due = old.holds_until(&young, 100);
        let exact = (101..).find(|&now| young.beats(&old, now)).expect("the steeper line overtakes");
        assert!(due <= exact && due > 100, "{due} {exact}");
        assert_eq!(young.holds_until(&old, exact), u64::MAX);
    }
}
