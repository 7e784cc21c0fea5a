//! The simulated cache, event by event, with every choice that it could make.
//!
//! Written after the semantics of the engine and not after the model of the bound: a fetch begun at t ends at t + L, before
//! the arrivals of that instant and in the order of (end, miss); who asks meanwhile waits for what is left; an object may
//! be evicted at any time, but without bypass the request after its fetch finds it in the cache.

use std::collections::{BTreeMap, BTreeSet};

use super::cases::Case;

/// A fetch on its way: when it ends, the request that missed, its object.
type Fetch = (u64, usize, u32);

/// Objects, one bit each.
type Set = u32;

/// What there is of a cache between two events.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    held: Set,
    /// What has to be there when the next request is served.
    must: Set,
    fetches: BTreeSet<Fetch>,
}

/// The least total latency of any schedule: all states that can be reached, with the least that it costs to get there.
pub(crate) fn optimum(case: &Case) -> u64 {
    let mut states = BTreeMap::from([(State::default(), 0)]);
    for index in 0..case.arrivals.len() {
        let mut served = BTreeMap::new();
        for (state, cost) in states {
            for mut state in complete(case, state, case.arrivals[index].time) {
                let cost = cost + serve(case, &mut state, index);
                let least = served.entry(state).or_insert(cost);
                *least = cost.min(*least);
            }
        }
        states = served;
    }
    states.into_values().min().unwrap_or(0)
}

/// All that can have become of a state when a request arrives.
fn complete(case: &Case, state: State, now: u64) -> BTreeSet<State> {
    let (mut ready, mut pending) = (BTreeSet::new(), BTreeSet::from([state]));
    while let Some(mut state) = pending.pop_first() {
        let due = state.fetches.first().copied().filter(|(ends, ..)| *ends <= now);
        let Some(fetch) = due else {
            // The arrival itself is an occasion to evict, too.
            let kept = subsets(state.held).filter(|held| state.must & !held == 0);
            ready.extend(kept.map(|held| State { held, must: 0, ..state.clone() }));
            continue;
        };
        state.fetches.remove(&fetch);
        let newcomer = 1 << fetch.2;
        let may_pass = case.terms.bypass || weight(case, newcomer) > case.terms.capacity;
        let must = if may_pass { state.must } else { state.must | newcomer };
        for held in subsets(state.held | newcomer) {
            if weight(case, held) <= case.terms.capacity && must & !held == 0 {
                pending.insert(State { held, must, ..state.clone() });
            }
        }
    }
    ready
}

fn subsets(set: Set) -> impl Iterator<Item = Set> {
    (0..=set).filter(move |part| part & !set == 0)
}

fn weight(case: &Case, set: Set) -> u64 {
    (0..case.objects() as u32).filter(|object| set >> object & 1 == 1).map(|object| case.size(object)).sum()
}

/// Serves a request; returns what it counts.
fn serve(case: &Case, state: &mut State, index: usize) -> u64 {
    let arrival = &case.arrivals[index];
    let latency = if state.held >> arrival.object & 1 == 1 {
        case.terms.hit_latency
    } else if let Some((ends, ..)) = state.fetches.iter().find(|(.., object)| *object == arrival.object) {
        ends - arrival.time
    } else {
        state.fetches.insert((arrival.time + arrival.fetch, index, arrival.object));
        arrival.fetch
    };
    if (index as u64) < case.terms.warmup { 0 } else { latency }
}

/// A schedule in a cache without an end, by one bit a request: what it costs, and what is there before each request.
pub(crate) fn replay(case: &Case, keep: &[bool]) -> (u64, Vec<u64>) {
    let mut state = State::default();
    let (mut cost, mut occupancy) = (0, Vec::new());
    for (index, arrival) in case.arrivals.iter().enumerate() {
        let mut passing = 0;
        while let Some(&(ends, miss, object)) = state.fetches.first() {
            if ends > arrival.time {
                break;
            }
            state.fetches.pop_first();
            let comes_in = !case.terms.bypass && case.size(object) <= case.terms.capacity;
            if keep[miss] && case.wanted(object, index) || comes_in && arrival.object == object {
                state.held |= 1 << object;
            } else if comes_in {
                passing += case.size(object);
            }
        }
        occupancy.push(weight(case, state.held) + passing);
        let hit = state.held >> arrival.object & 1 == 1;
        cost += serve(case, &mut state, index);
        if hit && !(keep[index] && case.wanted(arrival.object, index + 1)) {
            state.held &= !(1 << arrival.object);
        }
    }
    (cost, occupancy)
}

/// Whether two fetches of objects that fit can end between the same two requests.
pub(crate) fn is_crowded(case: &Case) -> bool {
    let mut seen = BTreeSet::new();
    let ends = case.arrivals.iter().enumerate().filter(|(_, arrival)| arrival.size <= case.terms.capacity);
    ends.into_iter().any(|(index, arrival)| {
        let end = arrival.time + arrival.fetch;
        let later = case.arrivals[index + 1..].iter().position(|later| later.time >= end);
        later.is_some_and(|later| !seen.insert(index + 1 + later))
    })
}
