//! A second, deliberately naive model of the slotted delayed-hits cache, to hold the real one against.
//!
//! It was written from the papers and the issue alone and shares no line with `trueplane-cache`: it
//! depends on the standard library only, scans vectors where the real one keeps indices, and compares fractions by
//! multiplying across. It is slow (every request costs O(capacity), offline policies O(capacity × trace)) and meant to
//! be checked by reading.
//!
//! The time model (Atre 2025, §2.1 and §2.3.2) is [`serve`], below. A policy implements [`CachePolicy`]:
//!
//! * [`recency`][]: LRU and LRU-MAD,
//! * [`frequency`][]: LFU and LFU-MAD,
//! * [`arc`][]: ARC and ARC-MAD,
//! * [`sieve`][]: SIEVE,
//! * [`offline`][]: Bélády and Bélády-AggregateDelay, which know the trace;
//! * [`delay`][]: the aggregate delay that the three MAD policies estimate.

pub(crate) mod arc;
mod delay;
mod frequency;
mod offline;
mod recency;
mod sieve;

pub(crate) use delay::Memory;

/// What decides which object leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Lru,
    Lfu,
    Arc,
    Sieve,
    LruMad(Memory),
    LfuMad(Memory),
    ArcMad(Memory),
    Belady,
    BeladyAd,
}

impl Policy {
    /// Every policy, the MAD ones with both memories.
    pub(crate) const ALL: [Self; 12] = [
        Self::Lru,
        Self::Lfu,
        Self::Arc,
        Self::Sieve,
        Self::LruMad(Memory::Cached),
        Self::LfuMad(Memory::Cached),
        Self::ArcMad(Memory::Cached),
        Self::LruMad(Memory::All),
        Self::LfuMad(Memory::All),
        Self::ArcMad(Memory::All),
        Self::Belady,
        Self::BeladyAd,
    ];

    fn build(self, trace: &[Option<u64>], z: u64, capacity: usize) -> Box<dyn CachePolicy + '_> {
        match self {
            Self::Lru => Box::new(recency::Lru::new(capacity)),
            Self::Lfu => Box::new(frequency::Lfu::new(capacity)),
            Self::Arc => Box::new(arc::Arc::new(capacity)),
            Self::Sieve => Box::new(sieve::Sieve::new(capacity)),
            Self::LruMad(memory) => Box::new(recency::LruMad::new(capacity, z, memory)),
            Self::LfuMad(memory) => Box::new(frequency::LfuMad::new(capacity, z, memory)),
            Self::ArcMad(memory) => Box::new(arc::Arc::mad(capacity, z, memory)),
            Self::Belady => Box::new(offline::Belady::new(capacity, trace)),
            Self::BeladyAd => Box::new(offline::BeladyAd::new(capacity, trace, z)),
        }
    }
}

/// The cache's contents and the choice of what leaves them. Steps count from 0.
trait CachePolicy {
    /// The objects in the cache now, in any order.
    fn residents(&self) -> Vec<u64>;

    /// Any request (hit, delayed hit or miss) for `key` arrives in step `now`; called before [`hit`](Self::hit).
    fn request(&mut self, _key: u64, _now: u64) {}

    /// The fetch of `key`, which is not in the cache, completes at the end of step `now`.
    fn admit(&mut self, key: u64, now: u64);

    /// A request finds `key` in the cache, or one that waited for `key` is served right after its admission.
    fn hit(&mut self, key: u64);

    /// `key`, which is in the cache, is not valid any more.
    fn remove(&mut self, key: u64);

    /// The fetch of `key` brings nothing that is kept.
    fn abandon(&mut self, _key: u64) {}

    /// Evicts one object.
    fn evict(&mut self, now: u64);

    /// From now on the cache holds `capacity` objects; whoever is too much stays for the moment.
    fn set_capacity(&mut self, capacity: usize);

    /// The capacity changes in step `now`.
    fn resize(&mut self, capacity: usize, now: u64) {
        self.set_capacity(capacity);
        while self.residents().len() > capacity {
            self.evict(now);
        }
    }
}

/// How a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Hit,
    DelayedHit,
    Miss,
}

/// One request, served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) step: u64,
    pub(crate) key: u64,
    pub(crate) outcome: Outcome,
    /// In steps.
    pub(crate) latency: u64,
}

/// The sums over a trace; `latency_total` is in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) requests: u64,
    pub(crate) hits: u64,
    pub(crate) delayed_hits: u64,
    pub(crate) misses: u64,
    pub(crate) latency_total: u128,
}

/// Runs a trace (one element is one time step, `None` an idle one) and adds up how its requests were served.
pub(crate) fn run(policy: Policy, trace: &[Option<u64>], z: u64, capacity: usize) -> Totals {
    let mut totals = Totals::default();
    for served in serve(policy, trace, z, capacity) {
        totals.requests += 1;
        totals.latency_total += u128::from(served.latency);
        match served.outcome {
            Outcome::Hit => totals.hits += 1,
            Outcome::DelayedHit => totals.delayed_hits += 1,
            Outcome::Miss => totals.misses += 1,
        }
    }
    totals
}

/// The latency of every request in the order of arrival, in steps.
pub(crate) fn latencies(policy: Policy, trace: &[Option<u64>], z: u64, capacity: usize) -> Vec<u64> {
    serve(policy, trace, z, capacity).iter().map(|served| served.latency).collect()
}

/// Whatever happens in one step, in this order; then a fetch may end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) arrival: Option<u64>,
    /// If the arrival begins a fetch, it fails in the end.
    pub(crate) fails: bool,
    pub(crate) remove: Option<u64>,
    pub(crate) resize: Option<usize>,
}

/// An object on its way from the backing store.
struct Fetch {
    key: u64,
    missed_at: u64,
    waiting: u64,
    fails: bool,
    /// Removed on its way: nobody finds it any more, and nothing comes of it.
    removed: bool,
}

/// Runs a trace and returns every request in the order of arrival.
///
/// A fetch takes `z` ≥ 1 steps and the cache holds `capacity` ≥ 1 objects. In each step the arrival is handled first,
/// then the completion; there is at most one of either, as all fetches take equally long.
pub(crate) fn serve(policy: Policy, trace: &[Option<u64>], z: u64, capacity: usize) -> Vec<Served> {
    let steps: Vec<Step> = trace.iter().map(|&arrival| Step { arrival, ..Step::default() }).collect();
    serve_steps(policy, &steps, z, capacity).0
}

/// Does the same where fetches fail, objects are removed and capacities change; returns the contents of the cache after every step,
/// too, in the order of their names.
pub(crate) fn serve_steps(
    policy: Policy,
    steps: &[Step],
    z: u64,
    capacity: usize,
) -> (Vec<Served>, Vec<Vec<u64>>) {
    assert!(z >= 1, "a fetch takes at least one step");
    assert!(capacity >= 1, "the cache holds at least one object");

    let trace: Vec<Option<u64>> = steps.iter().map(|step| step.arrival).collect();
    let mut cache = policy.build(&trace, z, capacity);
    let mut capacity = capacity;
    let mut fetches: Vec<Fetch> = Vec::new();
    let (mut served, mut contents) = (Vec::new(), Vec::new());

    for (now, step) in (0_u64..).zip(steps) {
        if let Some(key) = step.arrival {
            cache.request(key, now);
            let (outcome, latency) = if cache.residents().contains(&key) {
                cache.hit(key);
                (Outcome::Hit, 0)
            } else if let Some(fetch) = fetches.iter_mut().find(|fetch| fetch.key == key && !fetch.removed) {
                fetch.waiting += 1;
                (Outcome::DelayedHit, z - (now - fetch.missed_at))
            } else {
                fetches.push(Fetch { key, missed_at: now, waiting: 0, fails: step.fails, removed: false });
                (Outcome::Miss, z)
            };
            served.push(Served { step: now, key, outcome, latency });
        }

        if let Some(key) = step.remove {
            if cache.residents().contains(&key) {
                cache.remove(key);
            } else if let Some(fetch) = fetches.iter_mut().find(|fetch| fetch.key == key && !fetch.removed) {
                fetch.removed = true;
                cache.abandon(key);
            }
        }
        if let Some(resized) = step.resize {
            capacity = resized;
            cache.resize(capacity, now);
        }

        // A miss at t enters the cache at the end of step t + z - 1. In u128, as z may be any u64.
        let due = |fetch: &Fetch| u128::from(fetch.missed_at) + u128::from(z) - 1 == u128::from(now);
        if let Some(index) = fetches.iter().position(due) {
            let fetch = fetches.remove(index);
            if fetch.fails && !fetch.removed {
                cache.abandon(fetch.key);
            } else if !fetch.removed {
                assert!(
                    !cache.residents().contains(&fetch.key),
                    "{policy:?}: {} was fetched while cached",
                    fetch.key
                );
                cache.admit(fetch.key, now);
                // An offline policy may have let the object pass by; then there is nothing that those who waited could hit.
                if cache.residents().contains(&fetch.key) {
                    for _ in 0..fetch.waiting {
                        cache.hit(fetch.key);
                    }
                }
            }
        }
        let mut residents = cache.residents();
        assert!(residents.len() <= capacity, "{policy:?}: over capacity after step {now}");
        residents.sort_unstable();
        contents.push(residents);
    }
    (served, contents)
}

/// Reads a trace as people draw it: a letter is the request of one step, a dot is an idle step.
pub(crate) fn steps(drawn: &str) -> Vec<Option<u64>> {
    drawn
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| (c != '.').then_some(u64::from(u32::from(c))))
        .collect()
}

/// Moves `key` to the end of `order`, which runs from the least to the most recently touched; appends it if it is new.
fn touch(order: &mut Vec<u64>, key: u64) {
    order.retain(|other| *other != key);
    order.push(key);
}
