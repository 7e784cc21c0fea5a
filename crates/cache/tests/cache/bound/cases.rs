//! Small problems of every kind.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trueplane_cache::belatedly::{Arrival, Instance, Terms};

use super::naive;

/// A trace and the terms under which it is served.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) terms: Terms,
}

impl Case {
    pub(crate) fn instance(&self) -> Instance {
        Instance::new(&self.arrivals, self.terms).expect("small cases fit the model")
    }

    pub(crate) fn objects(&self) -> usize {
        self.arrivals.iter().map(|arrival| arrival.object as usize + 1).max().unwrap_or(0)
    }

    pub(crate) fn size(&self, object: u32) -> u64 {
        self.arrivals.iter().find(|arrival| arrival.object == object).map_or(0, |arrival| arrival.size)
    }

    /// Whether an object is asked for at this place of the trace or later.
    pub(crate) fn wanted(&self, object: u32, from: usize) -> bool {
        self.arrivals[from..].iter().any(|arrival| arrival.object == object)
    }

    /// What each request of the trace finds of a schedule by visits.
    pub(crate) fn by_request(&self, keep: &[bool]) -> Vec<bool> {
        let instance = self.instance();
        let mut by_request = vec![false; self.arrivals.len()];
        for object in 0..instance.objects() {
            for (visit, &kept) in instance.visits(object).iter().zip(&keep[instance.range(object)]) {
                by_request[visit.position as usize] = kept;
            }
        }
        by_request
    }
}

/// How large the cases are.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) requests: usize,
    pub(crate) objects: u32,
    pub longest_fetch: u64,
    pub(crate) capacity: u64,
}

/// Few enough requests that all schedules can be tried.
pub(crate) const TINY: Sizes = Sizes { requests: 12, objects: 4, longest_fetch: 14, capacity: 4 };

/// How time passes and how long fetches take.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// One request a step, one latency for all.
    Slotted,
    /// Idle steps and several arrivals at an instant, one latency for all.
    Constant,
    /// The same, a latency for every object.
    ByObject,
    /// The same, a latency for every request.
    ByRequest,
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![Just(Pace::Slotted), Just(Pace::Constant), Just(Pace::ByObject), Just(Pace::ByRequest)]
}

/// A request as it is drawn: time since the one before, the object, a fetch time.
type Draw = (u64, u32, u64);

/// Problems where fetched objects may pass the cache by.
pub(crate) fn case(sizes: Sizes) -> impl Strategy<Value = Case> {
    let gap = prop_oneof![2 => Just(0u64), 3 => Just(1), 2 => 2..8u64];
    let draw = (gap, 0..sizes.objects, 0..=sizes.longest_fetch);
    let draws = prop::collection::vec(draw, 1..=sizes.requests);
    let bytes = prop::collection::vec(1..4u64, sizes.objects as usize);
    let terms = (1..=sizes.capacity, any::<bool>(), 0..3u64, 0..4u64);
    (draws, pace(), bytes, terms).prop_map(
        |(draws, pace, bytes, (capacity, by_bytes, hit_latency, warmup))| {
            let terms = Terms { capacity, hit_latency, warmup, bypass: true };
            let size = |object: usize| if by_bytes { bytes[object] } else { 1 };
            Case { arrivals: arrivals(&draws, pace, size), terms }
        },
    )
}

fn arrivals(draws: &[Draw], pace: Pace, size: impl Fn(usize) -> u64) -> Vec<Arrival> {
    let mut time = 0;
    let objects = number(draws.iter().map(|&(_, name, _)| name));
    let mut arrivals: Vec<Arrival> = Vec::new();
    for (&(gap, _, fetch), object) in draws.iter().zip(objects) {
        time += if let Pace::Slotted = pace { 1 } else { gap };
        let first = arrivals.iter().find(|arrival| arrival.object == object);
        let fetch = match pace {
            Pace::Slotted | Pace::Constant => draws[0].2,
            Pace::ByObject => first.map_or(fetch, |first| first.fetch),
            Pace::ByRequest => fetch,
        };
        arrivals.push(Arrival { time, object, size: size(object as usize), fetch });
    }
    arrivals
}

/// Numbers objects in the order of their first requests, so that no number is left out.
pub(crate) fn number(names: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    names
        .map(|name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        })
        .collect()
}

/// Problems where they may not, and no two come in at once.
pub(crate) fn without_bypass(sizes: Sizes) -> impl Strategy<Value = Case> {
    let without = case(sizes).prop_map(|mut case| {
        case.terms.bypass = false;
        case
    });
    without.prop_filter("one at a time", |case| !naive::is_crowded(case))
}

/// Prices in 2^-bits, some of them zero.
pub(crate) fn prices(requests: usize) -> impl Strategy<Value = (u32, Vec<u64>)> {
    let bits = prop_oneof![Just(0u32), 1..9u32];
    bits.prop_flat_map(move |bits| {
        let price = prop_oneof![2 => Just(0u64), 3 => 0..12u64 << bits];
        (Just(bits), prop::collection::vec(price, requests))
    })
}
