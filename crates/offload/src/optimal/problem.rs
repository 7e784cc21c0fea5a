//! A workload as it looks to a controller that decides once a batch.

use trueplane_study::Error;

use crate::pace::Pace;

/// As many batches in a row may fall due at one slot. That is far beyond any switch, and without a limit a batch that
/// takes no time would never end.
const MOST_IDLE: u32 = 1 << 10;

/// Keys and batches, posed as the problem of the paper's appendix A.
///
/// All that matters of a key is how often it is looked up in each batch interval, before and after the middle. A key
/// that is looked up in one interval only always misses, and is not looked at further. Memory: 12 B for every other
/// key and interval in which it is looked up, and 4 B a key.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(super) capacity: u64,
    pub(super) batch: u64,
    /// Batch intervals that begin before the last slot ends.
    pub(super) intervals: usize,
    lookups: u64,
    /// Misses of the keys that are looked up in one interval only.
    pub(super) certain: u64,
    /// Index of the first visit of each key, and the number of all visits behind them.
    first: Vec<u32>,
    visits: Vec<Visit>,
}

/// The lookups of a key in one batch interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Visit {
    /// The interval.
    pub(super) interval: u32,
    /// Lookups in it that count.
    pub(super) lookups: u32,
    /// Those of them in its second half, when an eviction has taken effect.
    pub(super) late: u32,
}

impl Problem {
    /// The problem that `keys` pose, one a slot, to a table of `capacity` entries of which a batch inserts `batch` at
    /// most. Keys are numbered in the order in which they first appear. `batches` says when batches are decided, but
    /// for the first one at slot 0; misses in the first `warmup` slots cost nothing. O(lookups).
    ///
    /// # Errors
    /// If keys are not numbered so, if table or batch have no entries, if batches take no time, or if there is more
    /// of anything than 32 bits can number.
    pub fn new(keys: &[u32], capacity: u64, batch: u64, batches: Pace, warmup: u64) -> Result<Self, Error> {
        let slots = keys.len() as u64;
        if capacity == 0 || batch == 0 || slots > u64::from(u32::MAX) {
            return Err(Error::Parameters(format!(
                "optimal: expected at least 1 entry, 1 insertion in a batch and fewer than 2³² lookups, found {capacity}, {batch} and {slots}"
            )));
        }
        let starts = starts(slots, batches)?;
        let counts = count(keys, &starts)?;
        let mut problem = Self {
            capacity,
            batch,
            intervals: starts.len() - 1,
            lookups: slots.saturating_sub(warmup),
            certain: 0,
            first: offsets(&counts)?,
            visits: Vec::new(),
        };
        problem.visits = vec![Visit::default(); problem.first.last().map_or(0, |&end| end as usize)];
        problem.fill(keys, &starts, warmup);
        Ok(problem)
    }

    /// Enters all lookups.
    fn fill(&mut self, keys: &[u32], starts: &[u64], warmup: u64) {
        // Where the next visit of each key is entered.
        let mut next = self.first.clone();
        for (interval, pair) in (0..).zip(starts.windows(2)) {
            let middle = pair[0].midpoint(pair[1]);
            for (slot, &key) in slots(keys, pair) {
                let key = key as usize;
                let counts = slot >= warmup;
                if self.first[key] == self.first[key + 1] {
                    self.certain += u64::from(counts);
                    continue;
                }
                let current =
                    next[key] > self.first[key] && self.visits[next[key] as usize - 1].interval == interval;
                next[key] += u32::from(!current);
                let visit = &mut self.visits[next[key] as usize - 1];
                visit.interval = interval;
                visit.lookups += u32::from(counts);
                visit.late += u32::from(counts && slot >= middle);
            }
        }
    }

    /// Lookups after the warm-up.
    pub fn lookups(&self) -> u64 {
        self.lookups
    }

    /// Number of keys.
    pub(super) fn keys(&self) -> usize {
        self.first.len() - 1
    }

    /// The visits of all keys, key by key.
    pub(super) fn all_visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Range of a key's visits among all visits: empty if it is looked up in one interval only.
    pub(super) fn range(&self, key: usize) -> std::ops::Range<usize> {
        self.first[key] as usize..self.first[key + 1] as usize
    }

    /// The visits of a key.
    pub(super) fn visits(&self, key: usize) -> &[Visit] {
        &self.visits[self.range(key)]
    }
}

/// The first slot of each batch interval, and where the last one ends, which may be after the last slot.
///
/// Where several batches fall due at one slot there are intervals without slots. The first of them matters, since
/// what is inserted in it is there at once; those that follow have no candidates and change nothing, and are left
/// out.
fn starts(slots: u64, mut batches: Pace) -> Result<Vec<u64>, Error> {
    let (mut starts, mut start, mut idle) = (Vec::new(), 0, 1);
    while start < slots {
        let end = batches.due();
        batches.advance();
        if end > start || idle == 0 {
            starts.push(start);
        }
        idle = if end > start { 0 } else { idle + 1 };
        if idle > MOST_IDLE {
            return Err(Error::Parameters(format!(
                "optimal: more than {MOST_IDLE} batches fall due at slot {start}: expected fewer updates a second or larger batches"
            )));
        }
        start = end;
    }
    starts.push(start);
    if u32::try_from(starts.len()).is_err() {
        return Err(Error::Parameters(format!(
            "optimal: expected fewer than 2³² batches, found {}",
            starts.len()
        )));
    }
    Ok(starts)
}

/// Slots and keys of the interval that `pair` begins and ends, as far as there are any.
fn slots<'a>(keys: &'a [u32], pair: &[u64]) -> impl Iterator<Item = (u64, &'a u32)> {
    let end = pair[1].min(keys.len() as u64);
    (pair[0]..end).zip(&keys[pair[0] as usize..end as usize])
}

/// Number of intervals in which each key is looked up.
fn count(keys: &[u32], starts: &[u64]) -> Result<Vec<u32>, Error> {
    // The interval in which each key was looked up last, and in how many it was.
    let (mut latest, mut counts) = (Vec::new(), Vec::new());
    for (interval, pair) in (0u32..).zip(starts.windows(2)) {
        for (slot, &key) in slots(keys, pair) {
            let index = key as usize;
            if index > latest.len() || key == u32::MAX {
                return Err(Error::Parameters(format!(
                    "optimal: expected keys numbered in the order of their first lookup, found {key} after {} others in slot {slot}",
                    latest.len()
                )));
            }
            if index == latest.len() {
                latest.push(interval);
                counts.push(1);
            } else if latest[index] != interval {
                latest[index] = interval;
                counts[index] += 1;
            }
        }
    }
    Ok(counts)
}

/// Index of each key's first visit if visits of keys that have only one take no place, and the number of all behind them.
fn offsets(counts: &[u32]) -> Result<Vec<u32>, Error> {
    let mut end = 0u32;
    let ends = counts.iter().map(|&count| {
        end = end.checked_add(if count > 1 { count } else { 0 }).ok_or_else(|| {
            Error::Parameters(
                "optimal: keys are looked up in more than 2³² batch intervals in all".to_owned(),
            )
        })?;
        Ok(end)
    });
    std::iter::once(Ok(0)).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_begin_when_batches_are_decided() {
        assert_eq!(starts(10, Pace::new(4, 1)).unwrap(), [0, 4, 8, 12]);
        assert_eq!(starts(8, Pace::new(4, 1)).unwrap(), [0, 4, 8]);
        assert_eq!(starts(5, Pace::new(5, 2)).unwrap(), [0, 2, 5]);
        assert_eq!(starts(0, Pace::new(5, 2)).unwrap(), [0]);
        // Due at 0, 0, 0, 1, 1, 1, 1, 2, …: one interval without slots is left wherever there are several.
        assert_eq!(starts(3, Pace::new(1, 4)).unwrap(), [0, 1, 1, 2, 2, 3]);
        // Due at 0, 1, 2, 2, 3: there is one.
        assert_eq!(starts(3, Pace::new(2, 3)).unwrap(), [0, 1, 2, 2, 3]);
        assert!(starts(3, Pace::new(0, 1)).is_err());
    }

    #[test]
    fn lookups_are_counted_by_half_and_after_the_warmup() {
        // Intervals 0..4, 4..8, 8..12, the last of which ends early; key 2 is looked up in one only.
        let keys = [0, 1, 0, 0, 2, 1, 1, 0, 0, 0];
        let problem = Problem::new(&keys, 1, 1, Pace::new(4, 1), 3).unwrap();
        assert_eq!((problem.lookups(), problem.certain, problem.intervals), (7, 1, 3));
        let visit = |interval, lookups, late| Visit { interval, lookups, late };
        assert_eq!(problem.visits(0), [visit(0, 1, 1), visit(1, 1, 1), visit(2, 2, 0)]);
        assert_eq!(problem.visits(1), [visit(0, 0, 0), visit(1, 2, 1)]);
        assert_eq!(problem.visits(2), []);
    }

    #[test]
    fn keys_are_numbered_as_they_appear() {
        let refused = Problem::new(&[0, 2], 1, 1, Pace::new(4, 1), 0).unwrap_err();
        assert!(refused.to_string().contains("found 2 after 1 others in slot 1"), "{refused}");
        assert_eq!(Problem::new(&[], 1, 1, Pace::new(4, 1), 9).unwrap().lookups(), 0);
    }
}
