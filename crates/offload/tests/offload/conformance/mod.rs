//! One table that every policy of a batched controller must pass, at any size, batch and rate, and against a model of
//! the loop that works everything out from the lookups so far.

mod crowd;
mod cuckoo;
mod naive;
mod spy;
mod worked;

use proptest::prelude::*;
use trueplane_offload::batched::{Batched, Policy};
use trueplane_offload::cuckoo::CuckooTable;
use trueplane_offload::pace::Pace;
use trueplane_offload::policy::{Frequency, NetCache, NetCacheOptions, Recency, SystemName, Tea, TeaOptions};
use trueplane_offload::table::{ExactTable, Mixed, Table};
use trueplane_offload::{Counts, Key, System};

use crowd::crowds;
use naive::{Loop, Rank};
use spy::{Candidates, Spy};

/// A switch, its control loop and what it sees.
#[derive(Clone, Debug)]
struct Case {
    entries: u32,
    load_percent: u32,
    batch: u64,
    /// So many batches …
    batches: u64,
    /// … in so many slots.
    slots: u64,
    /// Of ageing and of statistics.
    period: u64,
    /// Slots that a report takes.
    delay: u64,
    threshold: u32,
    sample: u32,
    keys: Vec<Key>,
}

impl Case {
    fn pace(&self) -> Pace {
        Pace::new(self.slots, self.batches)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let control = (1..40u32, 50..=100u32, 1..12u64, 1..8u64, prop_oneof![1..30u64, 1..900u64]);
    let delay = prop_oneof![1..20u64, 1..1000u64];
    let policy = (prop_oneof![1..20u64, 1..3000u64], delay, 1..6u32, 1..200u32);
    (control, policy, keys()).prop_map(|(control, (period, delay, threshold, sample), keys)| {
        let (entries, load_percent, batch, batches, slots) = control;
        Case { entries, load_percent, batch, batches, slots, period, delay, threshold, sample, keys }
    })
}

/// Any keys alike, or some far more popular than others, and other ones in the second half.
fn keys() -> impl Strategy<Value = Vec<Key>> {
    let uniform = prop::collection::vec(0..100u64, 1..1500);
    let skewed = prop::collection::vec(0..1u64 << 20, 1..1500).prop_map(|draws| {
        let half = draws.len() / 2;
        let skew = |(at, draw): (usize, u64)| {
            let rank = (1u64 << 20) / (draw + (1 << 12));
            if at < half { rank } else { 300 - rank }
        };
        draws.into_iter().enumerate().map(skew).collect()
    });
    prop_oneof![uniform, skewed].prop_map(|keys: Vec<u64>| keys.into_iter().map(Key).collect())
}

/// Something to be done with every policy of the table.
trait Check {
    fn check<P: Policy + Clone>(&self, name: &str, policy: P, candidates: Candidates);
}

/// A row for every system: one that is added does not compile until it has its row.
fn table(case: &Case, check: &impl Check) {
    SystemName::ALL.iter().for_each(|&system| row(system, case, check));
}

fn row(system: SystemName, case: &Case, check: &impl Check) {
    let &Case { threshold, period: interval, delay, sample, .. } = case;
    let reported = |delay| Candidates::Reported { interval, delay };
    match system {
        SystemName::Recency => check.check("recency", Recency::default(), Candidates::Preceding),
        SystemName::Frequency => {
            check.check("frequency", Frequency::new(case.period), Candidates::Preceding);
        }
        SystemName::NetCache => {
            let netcache = NetCacheOptions::new(threshold, interval, sample, 1);
            check.check("netcache", NetCache::new(netcache), reported(0));
            let late = NetCacheOptions { delay, ..netcache };
            check.check("netcache, late", NetCache::new(late), reported(delay));
            // Everything collides, and reports are lost.
            let tiny = NetCacheOptions {
                sketch_rows: 2,
                sketch_width: 5,
                bloom_arrays: 1,
                bloom_bits: 50,
                queue: 3,
                ..netcache
            };
            check.check("netcache, tiny", NetCache::new(tiny), reported(0));
        }
        SystemName::Tea => {
            let tea = TeaOptions { threshold, interval, sample, seed: 1 };
            check.check("tea", Tea::new(tea), Candidates::Preceding);
        }
        // No policies of a controller in batches: they are held to their own naive forms, beside them and in `dyso`.
        SystemName::IdealLru
        | SystemName::IdealLfu
        | SystemName::Belady
        | SystemName::Dyso
        | SystemName::Optimal => {}
    }
}

/// Looks every key up; which the table answered.
fn drive<P: Policy, T: Table>(system: &mut Batched<P, T>, keys: &[Key]) -> Vec<bool> {
    (0..).zip(keys).map(|(now, &key)| drive_one(system, now, key)).collect()
}

/// Looks `key` up at slot `now`.
fn drive_one<P: Policy, T: Table>(system: &mut Batched<P, T>, now: u64, key: Key) -> bool {
    while system.due() <= now {
        system.control(now);
        balanced(system);
    }
    system.lookup(key)
}

/// What was sent has arrived, has failed or is under way.
fn balanced<P: Policy, T: Table>(system: &Batched<P, T>) {
    let Counts { updates_sent, updates_applied, updates_failed, .. } = system.counts();
    let known = [updates_applied, updates_failed].map(Option::unwrap).iter().sum::<u64>();
    assert_eq!(updates_sent, Some(known + system.under_way()));
    assert!(system.table().len() <= system.table().capacity());
}

/// Every rule that no policy may break, in a table of either kind.
struct Rules<'a>(&'a Case);

impl Rules<'_> {
    fn follow<P: Policy, T: Table>(&self, name: &str, policy: P, table: T, candidates: Candidates) {
        let case = self.0;
        let spy = Spy::new(name, policy, candidates);
        let mut system = Batched::new(spy, table, case.pace(), case.batch);
        let answers = drive(&mut system, &case.keys);
        let spy = system.policy();
        assert_eq!(system.counts().updates_applied, Some(spy.installed), "{name}");
        assert_eq!(system.counts().updates_failed, Some(spy.failed), "{name}");
        assert_eq!(answers.iter().filter(|&&answer| answer).count() as u64, spy.hits, "{name}");
        assert_eq!(u64::from(system.table().len()), spy.installed - spy.evicted, "{name}");
    }
}

impl Check for Rules<'_> {
    fn check<P: Policy + Clone>(&self, name: &str, policy: P, candidates: Candidates) {
        self.follow(name, policy.clone(), ExactTable::new(self.0.entries), candidates);
        self.follow(name, policy, CuckooTable::new(self.0.entries, self.0.load_percent), candidates);
    }
}

/// The same lookups one by one and in pieces.
struct Pieces<'a>(&'a Case, &'a [usize]);

impl Check for Pieces<'_> {
    fn check<P: Policy + Clone>(&self, name: &str, policy: P, _: Candidates) {
        let case = self.0;
        let make = || {
            let table = CuckooTable::new(case.entries, case.load_percent);
            Batched::new(policy.clone(), table, case.pace(), case.batch)
        };
        let (mut one, mut many) = (make(), make());
        let answers = drive(&mut one, &case.keys);
        let (mut now, mut lengths) = (0, self.1.iter().cycle());
        while now < case.keys.len() {
            while many.due() <= now as u64 {
                many.control(now as u64);
            }
            let until = (now + lengths.next().unwrap()).min(case.keys.len()).min(many.due() as usize);
            let missed = answers[now..until].iter().filter(|&&answer| !answer).count();
            assert_eq!(many.misses(&case.keys[now..until]), missed as u64, "{name}");
            now = until;
        }
        assert_eq!(many.counts(), one.counts(), "{name}");
    }
}

fn equals_naive(case: &Case, policy: impl Policy, rank: Rank) {
    let mut system = Batched::new(policy, ExactTable::new(case.entries), case.pace(), case.batch);
    let mut naive = Loop::new(case, rank);
    for (now, &key) in case.keys.iter().enumerate() {
        let changes = system.due() <= now as u64;
        let answer = drive_one(&mut system, now as u64, key);
        assert_eq!(answer, naive.lookup(key), "{rank:?}: slot {now}");
        if changes {
            let is_held = |key: &Key| system.table().find(Mixed::from(*key)).is_some();
            assert!(naive.table.iter().all(is_held), "{rank:?}: slot {now}");
            assert_eq!(naive.table.len(), system.table().len() as usize, "{rank:?}: slot {now}");
        }
    }
    assert_eq!(system.counts().updates_sent, Some(naive.sent));
    assert_eq!(system.counts().updates_applied, Some(naive.applied));
}

proptest! {
    #[test]
    fn every_policy_keeps_the_rules(case in cases()) {
        table(&case, &Rules(&case));
    }

    #[test]
    fn pieces_change_nothing(case in cases(), pieces in prop::collection::vec(1..200usize, 1..8)) {
        table(&case, &Pieces(&case, &pieces));
    }

    #[test]
    fn recency_is_its_naive_form(case in cases()) {
        equals_naive(&case, Recency::default(), Rank::Recency);
    }

    #[test]
    fn frequency_is_its_naive_form(case in cases()) {
        equals_naive(&case, Frequency::new(case.period), Rank::Frequency { period: case.period });
    }

    /// Nobody notices what is forgotten.
    #[test]
    fn in_a_crowd_they_are_their_naive_forms(crowd in crowds()) {
        let case = crowd.case();
        equals_naive(&case, Recency::default(), Rank::Recency);
        equals_naive(&case, Frequency::new(case.period), Rank::Frequency { period: case.period });
    }
}
