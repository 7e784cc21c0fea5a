//! One table that every caching policy must pass, with equal and with unequal sizes.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use trueplane_cache::policy::{
    Admission, MadMemory, Params, PolicyName, Search, Window, WithPolicy, with_policy,
};
use trueplane_cache::{
    Access, Directory, Key, LARGEST_CAPACITY, NextUse, Object, Outcome, Policy, Removed, Slot,
};
use trueplane_units::Nanos;

/// What a driver does, in the order of time.
#[derive(Clone, Debug)]
enum Step {
    Request {
        key: u64,
        size: u64,
    },
    /// The oldest, or the newest, fetch on its way ends.
    Fetched {
        oldest: bool,
    },
    /// So does one that brings nothing.
    Failed {
        oldest: bool,
    },
    /// The driver removes an object.
    Remove(u64),
    /// The capacity is so many hundredths of what it was at first.
    Resize(u64),
    Wait(u64),
}

fn steps(largest: u64) -> impl Strategy<Value = Vec<Step>> {
    let size = move || prop_oneof![1..=largest, 1..=largest.div_ceil(8)];
    let step = prop_oneof![
        4 => (0..10u64, size()).prop_map(|(key, size)| Step::Request { key, size }),
        4 => (0..60u64, size()).prop_map(|(key, size)| Step::Request { key, size }),
        5 => any::<bool>().prop_map(|oldest| Step::Fetched { oldest }),
        1 => any::<bool>().prop_map(|oldest| Step::Failed { oldest }),
        1 => prop_oneof![0..10u64, 0..60u64].prop_map(Step::Remove),
        1 => prop_oneof![9 => Just(Step::Wait(0)), 1 => (0..300u64).prop_map(Step::Resize)],
        1 => (0..1_000u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..400)
}

/// Plays the steps and holds the cache's answers against what must be resident and on its way.
struct Conform<'a> {
    name: PolicyName,
    steps: &'a [Step],
    /// In units …
    capacity: u64,
    /// … of this size.
    unit: u64,
}

impl WithPolicy for Conform<'_> {
    type Output = ();

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) {
        let mut capacity = self.capacity * self.unit;
        let mut cache = Directory::new(make(0), capacity);
        let mut resident: HashMap<Slot, Object> = HashMap::new();
        // Removed ones have no object any more.
        let mut fetching: Vec<(Slot, Option<Object>, Nanos)> = Vec::new();
        let (mut now, mut most_slots) = (Nanos(0), 0);
        for (index, step) in (0..).zip(self.steps) {
            match *step {
                Step::Wait(span) => now = now.after(Nanos(span)),
                Step::Request { key, size } => {
                    let object = Object { key: Key(key), size: size * self.unit };
                    // Some future, so that the offline policies have something to decide by.
                    let future = NextUse { next: now.after(Nanos(1 + key * 37 % 101)), delay: 1 + index % 7 };
                    let (outcome, slot) = cache.request(object, Access { now, future });
                    match outcome {
                        Outcome::Hit => {
                            assert_eq!(
                                resident[&slot].key, object.key,
                                "{}: hit what is not there",
                                self.name
                            );
                        }
                        Outcome::Delayed => {
                            let is_it =
                                |what: &Option<Object>| what.is_some_and(|what| what.key == object.key);
                            assert!(fetching.iter().any(|(on, what, _)| *on == slot && is_it(what)));
                        }
                        Outcome::Miss => {
                            let free =
                                !resident.contains_key(&slot) && fetching.iter().all(|(on, ..)| *on != slot);
                            assert!(free, "{}: gave a slot out twice", self.name);
                            assert!(resident.values().all(|other| other.key != object.key));
                            fetching.push((slot, Some(object), now));
                        }
                    }
                }
                Step::Fetched { oldest } => {
                    let Some(last) = fetching.len().checked_sub(1) else { continue };
                    let (slot, object, began) = fetching.remove(if oldest { 0 } else { last });
                    let gone: Vec<Slot> = cache.fetched(slot, now.since(began), now).to_vec();
                    let Some(object) = object else {
                        assert_eq!(gone, [slot], "{}: kept what was removed", self.name);
                        continue;
                    };
                    resident.insert(slot, object);
                    self.leave(&gone, &mut resident);
                    let may_refuse = match self.name.properties().admission {
                        Admission::All => false,
                        // A window holds at least one unit.
                        Admission::Window => object.size > 1,
                        Admission::Chosen => true,
                    };
                    let may_bypass = may_refuse || object.size > capacity;
                    assert!(!gone.contains(&slot) || may_bypass, "{}: did not admit", self.name);
                }
                Step::Failed { oldest } => {
                    let Some(last) = fetching.len().checked_sub(1) else { continue };
                    let (slot, ..) = fetching.remove(if oldest { 0 } else { last });
                    assert!(cache.failed(slot) && !cache.failed(slot), "{}: fails once", self.name);
                }
                Step::Remove(key) => match cache.remove(Key(key), now) {
                    Removed::Absent => {
                        let known = fetching.iter().filter_map(|(_, what, _)| *what);
                        let mut known = known.chain(resident.values().copied());
                        assert!(known.all(|other| other.key != Key(key)), "{}: overlooked", self.name);
                    }
                    Removed::Resident(slot) => {
                        assert_eq!(resident.remove(&slot).map(|object| object.key), Some(Key(key)));
                    }
                    Removed::OnItsWay(slot) => {
                        let fetch = fetching.iter_mut().find(|(on, ..)| *on == slot);
                        let object = fetch.and_then(|(_, what, _)| what.take());
                        assert_eq!(object.map(|object| object.key), Some(Key(key)));
                    }
                },
                Step::Resize(hundredths) => {
                    capacity = (self.capacity * hundredths / 100 * self.unit).min(LARGEST_CAPACITY);
                    let gone: Vec<Slot> = cache.resize(capacity, now).to_vec();
                    self.leave(&gone, &mut resident);
                }
            }
            let used: u64 = resident.values().map(|object| object.size).sum();
            assert!(used <= capacity, "{}: over capacity", self.name);
            assert_eq!(cache.used(), used, "{}", self.name);
            assert!(resident.values().all(|object| cache.contains(object.key)));
            assert_eq!((cache.len(), cache.capacity()), (resident.len(), capacity));
            assert_eq!(cache.fetching(), fetching.iter().filter(|(_, what, _)| what.is_some()).count());
            // A slot that is not in use is given out before there is another one.
            most_slots = most_slots.max(resident.len() + fetching.len());
            let slots = resident.keys().chain(fetching.iter().map(|(slot, ..)| slot));
            assert!(
                slots.map(|slot| slot.index()).all(|slot| slot < most_slots),
                "{}: lost a slot",
                self.name
            );
        }
        // The policy knows all that is resident, and nothing else.
        let gone: Vec<Slot> = cache.resize(0, now).to_vec();
        self.leave(&gone, &mut resident);
        assert!(resident.is_empty() && cache.is_empty(), "{}: keeps what has no room", self.name);
    }
}

impl Conform<'_> {
    /// Objects leave that were there.
    fn leave(&self, gone: &[Slot], resident: &mut HashMap<Slot, Object>) {
        let mut once = HashSet::new();
        for left in gone {
            assert!(once.insert(*left), "{}: evicted twice at once", self.name);
            assert!(resident.remove(left).is_some(), "{}: evicted what is not there", self.name);
        }
    }
}

/// The choices that a policy has.
fn choices(name: PolicyName, plain: Params) -> Vec<Params> {
    let all = Params { mad_memory: MadMemory::All, ..plain };
    let exact = Params { search: Search::Exact, ..plain };
    match name {
        PolicyName::Lru
        | PolicyName::Lfu
        | PolicyName::Arc
        | PolicyName::Sieve
        | PolicyName::S3Fifo
        | PolicyName::Random
        | PolicyName::Belady
        | PolicyName::BeladyAd => vec![plain],
        PolicyName::LruMad | PolicyName::LfuMad | PolicyName::ArcMad => vec![plain, all],
        PolicyName::Lhd => vec![plain, exact],
        PolicyName::LhdMad => vec![plain, all, exact],
        PolicyName::WTinyLfu => vec![plain, Params { window: Window::Fixed, ..plain }],
    }
}

/// Every policy with every choice that it has.
fn table(capacity: u64) -> Vec<(PolicyName, Params)> {
    let plain = Params::objects(capacity);
    let row = |&name: &PolicyName| choices(name, plain).into_iter().map(move |params| (name, params));
    PolicyName::ALL.iter().flat_map(row).collect()
}

proptest! {
    #[test]
    fn every_policy_conforms_with_objects_of_one_size(steps in steps(1), capacity in 1..30u64) {
        for (name, params) in table(capacity) {
            with_policy(name, params, Conform { name, steps: &steps, capacity, unit: 1 });
        }
    }

    #[test]
    fn every_policy_conforms_with_objects_of_any_size(steps in steps(64), capacity in 1..300u64) {
        for (name, params) in table(capacity) {
            with_policy(name, params, Conform { name, steps: &steps, capacity, unit: 1 });
        }
    }

    #[test]
    fn every_policy_conforms_with_the_largest_objects(steps in steps(1 << 13), capacity in 1..1u64 << 9) {
        // Up to the largest capacity there is, and objects beyond it.
        for (name, params) in table(capacity) {
            with_policy(name, params, Conform { name, steps: &steps, capacity, unit: 1 << 50 });
        }
    }
}

/// Counts the hits of a policy on a trace whose fetches take no time.
struct Hits<'a> {
    keys: &'a [u64],
    sizes: fn(u64) -> u64,
    capacity: u64,
}

/// The upper halves of a linear congruential generator (Knuth's MMIX).
fn draws(seed: u64) -> impl Iterator<Item = u64> {
    let next = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(seed), next).skip(1).map(|state| state >> 33)
}

fn one(_key: u64) -> u64 {
    1
}

impl WithPolicy for Hits<'_> {
    type Output = usize;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> usize {
        let mut cache = Directory::new(make(0), self.capacity);
        let mut hit = |(index, key): (usize, &u64)| {
            let now = Nanos(index as u64);
            let next = self.keys[index + 1..].iter().position(|other| other == key);
            let next = next.map_or(Nanos::MAX, |ahead| Nanos((index + 1 + ahead) as u64));
            let access = Access { now, future: NextUse { next, delay: 1 } };
            let (outcome, slot) = cache.request(Object { key: Key(*key), size: (self.sizes)(*key) }, access);
            let _ = cache.fetched(slot, Nanos(0), now);
            outcome == Outcome::Hit
        };
        self.keys.iter().enumerate().filter(|request| hit(*request)).count()
    }
}

#[test]
fn every_policy_keeps_what_fits() {
    let keys: Vec<u64> = (0..50).cycle().take(1_000).collect();
    for (name, params) in table(50) {
        assert_eq!(with_policy(name, params, Hits { keys: &keys, sizes: one, capacity: 50 }), 950, "{name}");
    }
}

#[test]
fn every_policy_beats_random_on_what_it_was_made_for() {
    // A loop of 20 over a cache of 10 with a hot set of 5 between, which a scan must not flush.
    let keys: Vec<u64> = draws(7)
        .zip(0..20_000)
        .map(|(draw, step)| if draw.is_multiple_of(2) { (draw >> 7) % 5 } else { 100 + step % 1_000 })
        .collect();
    let hits = |name| with_policy(name, Params::objects(10), Hits { keys: &keys, sizes: one, capacity: 10 });
    let random = hits(PolicyName::Random);
    for name in PolicyName::ALL.iter().copied().filter(|name| *name != PolicyName::Random) {
        assert!(hits(name) > random, "{name}: {} hits, random {random}", hits(name));
    }
    let belady = hits(PolicyName::Belady);
    assert!(PolicyName::ALL.iter().copied().all(|name| hits(name) <= belady));
    assert_eq!(hits(PolicyName::BeladyAd), belady, "with one price for all misses");
}

#[test]
fn where_nothing_is_delayed_mad_is_its_base() {
    let keys: Vec<u64> = (0..3_000u64).map(|step| step * step % 97 + step % 5).collect();
    for &name in PolicyName::ALL {
        let Some(base) = name.properties().base else { continue };
        for (sizes, capacity) in [(one as fn(u64) -> u64, 20), (|key| 1 + key % 7, 80)] {
            let hits = |name| with_policy(name, Params::objects(20), Hits { keys: &keys, sizes, capacity });
            assert_eq!(hits(name), hits(base), "{name}");
        }
    }
}

#[test]
fn lhd_weighs_by_size() {
    // Small and large objects equally popular: the small ones give more hits for the space.
    let keys: Vec<u64> = draws(3).map(|draw| draw % 200).take(60_000).collect();
    let hits = |name| {
        let sizes = |key| if key < 100 { 1 } else { 50 };
        with_policy(name, Params::objects(100), Hits { keys: &keys, sizes, capacity: 500 })
    };
    assert!(
        hits(PolicyName::Lhd) > 2 * hits(PolicyName::Lru),
        "{} {}",
        hits(PolicyName::Lhd),
        hits(PolicyName::Lru)
    );
}

#[test]
fn the_window_of_w_tinylfu_grows_for_what_is_soon_asked_for_again() {
    // Every object is asked for four times, 40 requests apart, and never again: a window of one object has no hit.
    let keys: Vec<u64> = (0..60_000u64).map(|step| 10 * (step / 40) + step % 10).collect();
    let hits = |name, window| {
        let params = Params { window, ..Params::objects(100) };
        with_policy(name, params, Hits { keys: &keys, sizes: one, capacity: 100 })
    };
    let fixed = hits(PolicyName::WTinyLfu, Window::Fixed);
    let adaptive = hits(PolicyName::WTinyLfu, Window::Adaptive);
    let lru = hits(PolicyName::Lru, Window::Adaptive);
    assert!(fixed < lru / 2, "{fixed} of {lru}");
    assert!(adaptive > lru * 9 / 10, "{adaptive} of {lru}");
}

#[test]
fn the_window_of_w_tinylfu_stays_small_for_a_loop() {
    let keys: Vec<u64> = (0..120).cycle().take(100_000).collect();
    let hits = |window| {
        let params = Params { window, ..Params::objects(100) };
        with_policy(PolicyName::WTinyLfu, params, Hits { keys: &keys, sizes: one, capacity: 100 })
    };
    let (fixed, adaptive) = (hits(Window::Fixed), hits(Window::Adaptive));
    assert!(adaptive > fixed * 9 / 10, "{adaptive} of {fixed}");
}
