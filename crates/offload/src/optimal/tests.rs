//! Against all that could have been done, on small workloads, and by what has to hold on larger ones.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::path::Money as _;
use super::schedule::Batch;
use super::*;
use crate::pace::Pace;

/// A workload and a table, small enough to try all schedules.
#[derive(Clone, Debug)]
pub(super) struct Small {
    pub(super) keys: Vec<u32>,
    pub(super) capacity: u64,
    pub(super) batch: u64,
    /// Batches: `events` in every `slots`.
    pub(super) slots: u64,
    pub(super) events: u64,
    pub(super) warmup: u64,
}

impl Small {
    pub(super) fn problem(&self) -> Problem {
        let batches = Pace::new(self.slots, self.events);
        Problem::new(&self.keys, self.capacity, self.batch, batches, self.warmup).unwrap()
    }

    /// The slots at which batches are decided, and the first that is after all lookups.
    fn starts(&self) -> Vec<usize> {
        let mut starts = Vec::new();
        while starts.last().is_none_or(|&start| start < self.keys.len()) {
            starts.push((starts.len() as u64 * self.slots / self.events) as usize);
        }
        starts
    }

    /// What an interval costs that a set of keys is in before its batch and another after it, from slot to slot.
    fn misses(&self, from: usize, to: usize, before: u32, after: u32) -> u64 {
        let middle = from.midpoint(to);
        let missed = |slot: &usize| {
            let key = 1 << self.keys[*slot];
            let there = before & key != 0 && (after & key != 0 || *slot < middle);
            *slot as u64 >= self.warmup && !there
        };
        (from..to.min(self.keys.len())).filter(missed).count() as u64
    }

    /// The least number of misses of any schedule.
    pub(super) fn optimum(&self) -> u64 {
        let keys = self.keys.iter().max().map_or(0, |most| most + 1);
        let sets = 1u32 << keys;
        let mut least = vec![None; sets as usize];
        least[0] = Some(0);
        let mut candidates = 0;
        for pair in self.starts().windows(2) {
            let mut next = vec![None; sets as usize];
            for (before, after) in (0..sets).flat_map(|before| (0..sets).map(move |after| (before, after))) {
                let inserted = after & !before;
                let allowed = u64::from(after.count_ones()) <= self.capacity
                    && u64::from(inserted.count_ones()) <= self.batch
                    && inserted & !candidates == 0;
                if let Some(cost) = least[before as usize].filter(|_| allowed) {
                    let cost: u64 = cost + self.misses(pair[0], pair[1], before, after);
                    let entry: &mut Option<u64> = &mut next[after as usize];
                    *entry = Some(entry.map_or(cost, |entry| entry.min(cost)));
                }
            }
            let looked_up = pair[0]..pair[1].min(self.keys.len());
            candidates = looked_up.fold(0, |keys, slot| keys | 1 << self.keys[slot]);
            least = next;
        }
        least.into_iter().flatten().min().unwrap_or(0)
    }

    /// What one key costs under prices, decided on in every interval.
    fn path(&self, key: u32, tariff: &Tariff<'_, i128>) -> i128 {
        let (mut stored, mut absent) = (None, 0i128);
        let mut candidate = false;
        for (interval, pair) in self.starts().windows(2).enumerate() {
            let rent = tariff.rent[interval + 1] - tariff.rent[interval];
            let bit = 1 << key;
            let miss = |before, after| {
                let others = !bit;
                let before = if before { others | bit } else { others };
                let after = if after { others | bit } else { others };
                i128::from(self.misses(pair[0], pair[1], before, after)) * tariff.miss
            };
            let kept = stored.map(|cost: i128| cost + rent);
            let inserted = candidate.then(|| absent + miss(false, true) + tariff.toll[interval] + rent);
            let evicted = stored.map(|cost| cost + miss(true, false));
            absent = evicted.into_iter().fold(absent + miss(false, false), i128::least);
            stored = kept.into_iter().chain(inserted).min();
            candidate = self.keys[pair[0]..pair[1].min(self.keys.len())].contains(&key);
        }
        stored.map_or(absent, |cost| cost.least(absent))
    }
}

/// The order of first appearance, as numbers.
fn numbered(keys: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    let number = |key: &u32| {
        seen.iter().position(|other| other == key).unwrap_or_else(|| {
            seen.push(*key);
            seen.len() - 1
        }) as u32
    };
    keys.iter().map(number).collect()
}

pub(super) fn small() -> impl Strategy<Value = Small> {
    let keys = prop::collection::vec(0u32..5, 0..40).prop_map(|keys| numbered(&keys));
    (keys, 1u64..4, 1u64..3, 1u64..14, 1u64..4, 0u64..12).prop_map(
        |(keys, capacity, batch, slots, events, warmup)| Small {
            keys,
            capacity,
            batch,
            slots,
            events,
            warmup,
        },
    )
}

fn limits(iterations: u64) -> BoundLimits {
    BoundLimits { iterations, gap: 0.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_optimum_lies_between_the_bounds(small in small()) {
        let optimum = small.optimum();
        let bound = bound(&small.problem(), &limits(100), &()).unwrap();
        prop_assert!(bound.lower <= optimum && optimum <= bound.upper, "{bound:?} {optimum}");
    }

    /// Prices are given to intervals that have slots: those that have none are left out in part.
    #[test]
    fn a_key_costs_the_same_decided_on_where_something_depends_on_it(
        small in small(),
        entries in prop::collection::vec(0i128..40, 41),
        insertions in prop::collection::vec(0i128..60, 41),
    ) {
        prop_assume!(small.slots >= small.events);
        let problem = small.problem();
        prop_assert_eq!(problem.intervals + 1, small.starts().len());
        let rent: Vec<i128> = (0..=problem.intervals).map(|end| entries[..end].iter().sum()).collect();
        let tariff = Tariff { rent: &rent, toll: &insertions, miss: 16 };
        let mut certain = 0;
        for key in 0..problem.keys() {
            if problem.visits(key).is_empty() {
                certain += small.path(key as u32, &tariff);
            } else {
                prop_assert_eq!(tariff.least(problem.visits(key)), small.path(key as u32, &tariff));
            }
        }
        prop_assert_eq!(certain, i128::from(problem.certain) * 16);
    }

    /// Slot by slot, an eviction in the middle of its interval and an insertion at the end.
    #[test]
    fn a_schedule_has_the_misses_that_it_is_said_to_have(small in small(), rent in 0u32..8, toll in 0u32..8) {
        prop_assume!(small.slots >= small.events);
        let problem = small.problem();
        let starts = small.starts();
        let rent: Vec<f64> = (0..starts.len()).map(|end| end as f64 * f64::from(rent) / 4.0).collect();
        let toll = vec![f64::from(toll) / 2.0; starts.len()];
        let mut follower = Follower::new(&problem);
        let (mut before, mut misses, mut interval) = (0u32, 0, 0);
        let tariff = Tariff { rent: &rent, toll: &toll, miss: 1.0 };
        guided::guided(&problem, &tariff, |batch| {
            let set = |keys: &[u32]| keys.iter().fold(0u32, |set, key| set | 1 << key);
            let after = before & !set(&batch.evicted) | set(&batch.inserted);
            misses += small.misses(starts[interval], starts[interval + 1], before, after);
            (before, interval) = (after, interval + 1);
            follower.follow(batch)
        }).unwrap();
        prop_assert_eq!((follower.misses(), interval), (misses, problem.intervals));
    }
}

/// Lookups of keys by Zipf's law, whose order of popularity turns by `turn` keys nine times.
pub(super) fn zipf(lookups: usize, keys: usize, turn: usize) -> Vec<u32> {
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut sums = Vec::with_capacity(keys);
    let mut sum = 0.0;
    for rank in 1..=keys {
        sum += (rank as f64).powf(-0.99);
        sums.push(sum);
    }
    let mut numbers = vec![u32::MAX; keys];
    let mut next = 0;
    let number = |lookup: usize| {
        let at = draw.random::<f64>() * sum;
        let rank = sums.partition_point(|&sum| sum < at).min(keys - 1);
        let number = &mut numbers[(rank + lookup * 10 / lookups * turn) % keys];
        if *number == u32::MAX {
            (*number, next) = (next, next + 1);
        }
        *number
    };
    (0..lookups).map(number).collect()
}

fn posed(interval: u64) -> Problem {
    Problem::new(&zipf(40_000, 4_000, 40), 200, 16, Pace::new(interval, 1), 4_000).unwrap()
}

#[test]
fn bounds_are_close_and_rise_with_slower_updates() {
    let mut slower = 0.0;
    for interval in [200, 800, 3_200] {
        let problem = posed(interval);
        let bound = bound(&problem, &limits(300), &()).unwrap();
        assert!(bound.gap() < 0.005, "every {interval} slots: {bound:?}");
        let ratio = bound.lower as f64 / problem.lookups() as f64;
        assert!(ratio > slower && ratio < 1.0, "every {interval} slots: {ratio}");
        slower = ratio;
    }
}

#[test]
fn where_there_is_room_for_all_only_the_first_lookups_miss() {
    let keys = zipf(4_000, 500, 0);
    let interval = 100;
    let problem = Problem::new(&keys, 1 << 40, 1 << 40, Pace::new(interval, 1), 0).unwrap();
    let bound = bound(&problem, &limits(300), &()).unwrap();
    // In the interval of its first lookup a key cannot be inserted, and in the next one it is on its way.
    let mut first = vec![None; 500];
    let missed = (0..).zip(&keys).filter(|&(slot, &key)| {
        let interval: u64 = slot / interval;
        interval - *first[key as usize].get_or_insert(interval) <= 1
    });
    let missed = missed.count() as u64;
    assert_eq!(bound, Bound { lower: missed, upper: missed, iterations: 0 });
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let problem = posed(500);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bound(&problem, &limits(120), &()).unwrap())
    };
    let one = on(1);
    assert_eq!(one.iterations, 120);
    assert_eq!((one, one), (on(2), on(3)));
}

#[test]
fn integers_prove_what_floating_point_finds() {
    let problem = posed(500);
    let mut ascent = ascent(&problem, || true);
    let smooth = smooth(&ascent);
    for _ in 0..3 {
        ascent.advance(20, smooth, || true);
        let best = ascent.best();
        let lower = Prices::fixed(&best.prices[0], &best.prices[1]).lower(&problem).unwrap();
        let found = best.lower + problem.certain as f64;
        assert!((lower as f64 - found.ceil()).abs() <= 1.0, "{lower} {found}");
    }
}

#[test]
fn prices_without_sense_prove_nothing_wrong() {
    let problem = posed(500);
    let free = Prices::zero(problem.intervals).lower(&problem);
    let with = |price: f64| {
        let prices = vec![price; problem.intervals];
        Prices::fixed(&prices, &prices).lower(&problem)
    };
    assert_eq!([with(-1.0), with(f64::NAN)], [free, free]);
    assert!([1e9, 1e30, f64::INFINITY].map(with).iter().all(|lower| lower.is_none_or(|lower| lower == 0)));
}

#[test]
fn who_breaks_a_rule_is_told_which() {
    // Intervals of two slots; keys 0 and 1 are looked up in all of them, 2 in the last two.
    let keys = [0, 1, 0, 1, 0, 1, 2, 0, 1, 2];
    let problem = Problem::new(&keys, 1, 1, Pace::new(2, 1), 0).unwrap();
    let follow = |batches: &[(&[u32], &[u32])]| {
        let mut follower = Follower::new(&problem);
        for (evicted, inserted) in batches {
            let batch = Batch { evicted: evicted.to_vec(), inserted: inserted.to_vec() };
            follower.follow(&batch).map_err(|error| error.to_string())?;
        }
        Ok::<u64, String>(follower.misses())
    };
    let wrong = |batches: &[(&[u32], &[u32])], what: &str| {
        let error = follow(batches).unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    assert_eq!(follow(&[(&[], &[]), (&[], &[0]), (&[], &[]), (&[0], &[])]), Ok(2 + 2 + 1 + 2));
    wrong(&[(&[], &[0])], "not looked up in the interval before");
    wrong(&[(&[], &[]), (&[], &[2])], "not looked up in the interval before");
    wrong(&[(&[], &[]), (&[], &[0, 1])], "too many insertions");
    wrong(&[(&[], &[]), (&[], &[0]), (&[], &[1])], "more keys than entries");
    wrong(&[(&[], &[]), (&[], &[0]), (&[], &[0])], "a change of what is not so");
    wrong(&[(&[], &[]), (&[0], &[])], "a change of what is not so");
}

#[test]
fn an_observer_can_interrupt() {
    struct Stop;
    impl Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    assert!(matches!(bound(&posed(500), &limits(100), &Stop), Err(Error::Interrupted)));
}

#[test]
fn an_empty_workload_misses_nothing() {
    let problem = Problem::new(&[], 4, 2, Pace::new(10, 1), 0).unwrap();
    assert_eq!(bound(&problem, &limits(10), &()).unwrap(), Bound { lower: 0, upper: 0, iterations: 0 });
}
