//! One key under prices: its cheapest way through the table and past it.
//!
//! With a price for an entry of the table in each batch interval and one for an insertion, keys no longer compete. A
//! key is decided on where something depends on it:
//!
//! - in an interval in which it is looked up: if it is there, it is kept, or evicted, which the lookups of the second
//!   half pay for with misses; if it is not, all its lookups miss, and if it was looked up in the interval before, it
//!   can be inserted;
//! - in the interval after that, if nobody looks it up then: if it is there, it is held until the next lookups, or
//!   evicted for nothing; if it is not, it can be inserted for them, and misses nothing by coming late. To evict it
//!   later than that would cost more, and to insert it later is forbidden.
//!
//! Whatever stays over intervals without lookups pays a difference of two prefix sums: a visit costs O(1).

use std::ops::{Add, Mul, Sub};

use super::problem::Visit;

/// Type of prices and costs: `f64` to search, `i128` to be sure.
pub(super) trait Money:
    Copy + Default + PartialOrd + From<u32> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// The smaller one.
    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Money for f64 {}
impl Money for i128 {}

/// The least cost from a visit on, as far as it depends on where the key is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Costs<M> {
    /// Least cost if the key is in the table.
    pub(super) stored: M,
    /// Least cost if the key is not in the table.
    pub(super) absent: M,
}

/// Choice at a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// To keep the key in the interval of the visit.
    Keep,
    /// To insert it then.
    Insert,
    /// To hold it in the intervals between this visit and the next.
    Hold,
    /// To insert it in the first of them.
    Fetch,
}

/// Prices of entries and of their replacement.
#[derive(Clone, Copy)]
pub(super) struct Tariff<'a, M> {
    /// Price of an entry: the sum over the intervals before each one, and over all.
    pub(super) rent: &'a [M],
    /// Price of an insertion in each interval.
    pub(super) toll: &'a [M],
    /// Price of a miss in the same unit.
    pub(super) miss: M,
}

impl<M: Money> Tariff<'_, M> {
    /// Price of an entry in the intervals from `from` to the one before `to`.
    fn rent(&self, from: u32, to: u32) -> M {
        self.rent[to as usize] - self.rent[from as usize]
    }

    /// The least costs before what happens at the visit with this index, given those before the next visit. `choose`
    /// is handed the costs of having the key in the table and of not having it, for every choice that there is, the
    /// later ones first. It returns what comes of it: the smaller one, or something smoother.
    pub(super) fn before(
        &self,
        visits: &[Visit],
        index: usize,
        next: Costs<M>,
        mut choose: impl FnMut(Choice, M, M) -> M,
    ) -> Costs<M> {
        let Visit { interval, lookups, late } = visits[index];
        let after = match visits.get(index + 1) {
            None => Costs::default(),
            Some(visit) if visit.interval == interval + 1 => next,
            Some(visit) => {
                let stay = self.rent(interval + 1, visit.interval) + next.stored;
                let toll = self.toll[interval as usize + 1];
                Costs {
                    stored: choose(Choice::Hold, stay, next.absent),
                    absent: choose(Choice::Fetch, toll + stay, next.absent),
                }
            }
        };
        let stay = self.rent(interval, interval + 1) + after.stored;
        let evicted = M::from(late) * self.miss + after.absent;
        let absent = if is_candidate(visits, index) {
            choose(Choice::Insert, self.toll[interval as usize] + stay, after.absent)
        } else {
            after.absent
        };
        Costs { stored: choose(Choice::Keep, stay, evicted), absent: M::from(lookups) * self.miss + absent }
    }

    /// The least cost of all of a key's visits. It is not in the table before the first.
    pub(super) fn least(&self, visits: &[Visit]) -> M {
        let indices = (0..visits.len()).rev();
        let before = indices.fold(Costs::default(), |next, index| {
            self.before(visits, index, next, |_, stored, absent| stored.least(absent))
        });
        before.absent
    }
}

/// Whether a key was looked up in the interval before a visit's own, so that it can be inserted in it.
pub(super) fn is_candidate(visits: &[Visit], index: usize) -> bool {
    index > 0 && visits[index - 1].interval + 1 == visits[index].interval
}
