//! The crate as somebody uses it who has read its documentation: a proxy that keeps what it fetches.

use std::collections::HashMap;
use std::fmt::Debug;

use trueplane_cache::policy::{
    self, AggregateDelay, Belady, Lfu, Lhd, Lru, Random, Replay, S3Fifo, Sieve, WTinyLfu,
};
use trueplane_cache::{Access, Directory, Key, Object, Outcome, Policy, Removed, Slot};
use trueplane_units::Nanos;

/// What a value that is held can do.
const fn is_held<T: Clone + Debug + Send + Sync>() {}

const _: () = {
    is_held::<Directory<Lru<AggregateDelay>>>();
    is_held::<Directory<policy::Arc<AggregateDelay>>>();
    is_held::<Directory<Lhd<AggregateDelay>>>();
    is_held::<Directory<Lfu>>();
    is_held::<Directory<S3Fifo>>();
    is_held::<Directory<Sieve>>();
    is_held::<Directory<WTinyLfu>>();
    is_held::<Directory<Random>>();
    is_held::<Directory<Belady>>();
    is_held::<Directory<Replay<'_>>>();
    is_held::<Removed>();
};

/// A proxy: its cache, what lies in the slots, and who waits for what.
struct Proxy {
    cache: Directory<Lru<AggregateDelay>>,
    pages: HashMap<Slot, String>,
    waiting: HashMap<Slot, Vec<u32>>,
    answers: Vec<(u32, Result<String, ()>)>,
}

impl Proxy {
    fn new(capacity: u64) -> Self {
        let cache = Directory::new(Lru::default(), capacity);
        Self { cache, pages: HashMap::new(), waiting: HashMap::new(), answers: Vec::new() }
    }

    /// `client` asks for a page; the slot to fetch it into, if it has to be.
    fn ask(&mut self, client: u32, key: u64, now: u64) -> Option<Slot> {
        let (outcome, slot) = self.cache.request(Object { key: Key(key), size: 1 }, Access::at(Nanos(now)));
        match outcome {
            Outcome::Hit => self.answers.push((client, Ok(self.pages[&slot].clone()))),
            Outcome::Delayed | Outcome::Miss => self.waiting.entry(slot).or_default().push(client),
        }
        (outcome == Outcome::Miss).then_some(slot)
    }

    /// The origin has answered, or not.
    fn end(&mut self, slot: Slot, page: Result<&str, ()>, began: u64, now: u64) {
        for client in self.waiting.remove(&slot).unwrap_or_default() {
            self.answers.push((client, page.map(str::to_owned)));
        }
        match page {
            Ok(page) => {
                self.pages.insert(slot, page.to_owned());
                for gone in self.cache.fetched(slot, Nanos(now - began), Nanos(now)) {
                    self.pages.remove(gone);
                }
            }
            Err(()) => assert!(self.cache.failed(slot)),
        }
        assert_eq!(self.pages.len(), self.cache.len());
    }
}

#[test]
fn a_fetch_that_fails_leaves_no_trace() {
    let mut proxy = Proxy::new(2);
    let slot = proxy.ask(1, 7, 0).expect("a miss");
    assert_eq!(proxy.ask(2, 7, 40), None, "it waits for the same fetch");
    proxy.end(slot, Err(()), 0, 100);
    assert_eq!(proxy.answers, [(1, Err(())), (2, Err(()))]);
    assert!(!proxy.cache.contains(Key(7)) && proxy.cache.fetching() == 0);
    let again = proxy.ask(3, 7, 200).expect("the next request is a miss");
    proxy.end(again, Ok("seven"), 200, 300);
    assert_eq!(proxy.ask(4, 7, 400), None);
    assert_eq!(proxy.answers[2..], [(3, Ok("seven".to_owned())), (4, Ok("seven".to_owned()))]);
}

#[test]
fn a_page_that_changes_while_it_is_fetched_is_not_kept() {
    let mut proxy = Proxy::new(2);
    let old = proxy.ask(1, 7, 0).expect("a miss");
    assert_eq!(proxy.cache.remove(Key(7), Nanos(10)), Removed::OnItsWay(old));
    let new = proxy.ask(2, 7, 20).expect("the first fetch may bring the old page");
    assert_ne!(old, new);
    proxy.end(new, Ok("new"), 20, 90);
    proxy.end(old, Ok("old"), 0, 100);
    assert_eq!(proxy.answers, [(2, Ok("new".to_owned())), (1, Ok("old".to_owned()))]);
    proxy.ask(3, 7, 110);
    assert_eq!(proxy.answers[2], (3, Ok("new".to_owned())));
    let removed = proxy.cache.remove(Key(7), Nanos(120));
    assert_eq!(removed, Removed::Resident(new));
    assert_eq!((proxy.cache.remove(Key(7), Nanos(130)), proxy.cache.len()), (Removed::Absent, 0));
}

#[test]
fn a_smaller_cache_keeps_what_is_expensive_to_miss() {
    let mut proxy = Proxy::new(8);
    for key in 0..8 {
        let slot = proxy.ask(0, key, 1_000 * key).expect("a miss");
        // Of the third many ask while it is on its way.
        for client in 0..if key == 3 { 50 } else { 0 } {
            assert_eq!(proxy.ask(client, key, 1_000 * key + 1), None);
        }
        proxy.end(slot, Ok("page"), 1_000 * key, 1_000 * key + 500);
    }
    let gone: Vec<Slot> = proxy.cache.resize(2, Nanos(8_000)).to_vec();
    assert_eq!((gone.len(), proxy.cache.len(), proxy.cache.capacity()), (6, 2, 2));
    assert!(proxy.cache.contains(Key(3)) && proxy.cache.contains(Key(7)));
    // A copy goes its own way.
    let mut copy = proxy.cache.clone();
    assert!(matches!(copy.remove(Key(3), Nanos(8_000)), Removed::Resident(_)));
    assert!(proxy.cache.contains(Key(3)) && !copy.contains(Key(3)));
    assert!(
        format!("{copy:?}")
            .starts_with("Directory { capacity: 2, used: 1, resident: 1, fetching: 0, policy: Lru {")
    );
}

/// Every policy that needs no knowledge of the future, chosen while the program runs.
fn online() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Lru::new()),
        Box::new(Lfu::new()),
        Box::new(policy::Arc::new()),
        Box::new(Sieve::new()),
        Box::new(S3Fifo::new()),
        Box::new(Random::seeded(1)),
        Box::new(Lru::with_cost(AggregateDelay::default())),
        Box::new(WTinyLfu::new(10, policy::Window::Adaptive)),
        Box::new(Lhd::<AggregateDelay>::for_objects(10)),
    ]
}

#[test]
fn empty_objects_do_not_fill_the_memory() {
    for policy in online() {
        let mut cache = Directory::new(policy, 10);
        for key in 0..1_000 {
            let now = Nanos(key);
            let (_, slot) = cache.request(Object { key: Key(key), size: 0 }, Access::at(now));
            let _ = match key % 2 {
                0 => cache.fetched(slot, Nanos(1), now),
                _ => cache.fetched_sized(slot, 0, Nanos(1), now),
            };
            assert!(cache.used() <= 10 && cache.len() as u64 <= cache.used());
        }
        assert_eq!(cache.len(), 10);
    }
}

#[test]
fn the_size_that_the_answer_tells_counts() {
    for policy in online() {
        let mut cache = Directory::new(policy, 1_000);
        let mut sizes: HashMap<Slot, u64> = HashMap::new();
        for turn in 0..2_000 {
            let (key, now) = (turn * turn % 97, Nanos(turn));
            let (outcome, slot) = cache.request(Object { key: Key(key), size: 1 }, Access::at(now));
            if outcome == Outcome::Miss {
                // From 1 to more than the whole cache.
                let size = 1 + key * key * 31 % 1_200;
                sizes.insert(slot, size);
                for gone in cache.fetched_sized(slot, size, Nanos(1), now) {
                    sizes.remove(gone);
                }
            }
            assert_eq!((cache.used(), cache.len()), (sizes.values().sum(), sizes.len()));
            assert!(cache.used() <= 1_000);
        }
        assert!(cache.used() > 500 && !cache.is_empty());
    }
}

#[test]
fn a_size_for_a_slot_that_awaits_nothing_changes_nothing() {
    let mut cache = Directory::new(Lru::new(), 10);
    let page = Object { key: Key(1), size: 4 };
    let (_, slot) = cache.request(page, Access::at(Nanos(0)));
    assert!(cache.fetched(slot, Nanos(1), Nanos(1)).is_empty());
    assert!(cache.fetched_sized(slot, 9, Nanos(1), Nanos(2)).is_empty());
    assert_eq!((cache.used(), cache.remove(Key(1), Nanos(3))), (4, Removed::Resident(slot)));
    assert_eq!(cache.used(), 0);
}

#[test]
fn a_late_report_does_not_hit_another_fetch() {
    let mut cache = Directory::new(Lru::new(), 10);
    let ask = |cache: &mut Directory<Lru>, key| {
        let (outcome, slot) = cache.request(Object { key: Key(key), size: 1 }, Access::at(Nanos(0)));
        assert_eq!(outcome, Outcome::Miss);
        (slot, cache.fetch_id(slot).expect("it is on its way"))
    };
    let (slot, failed) = ask(&mut cache, 1);
    assert_eq!(cache.awaited(failed), Some(slot));
    assert!(cache.failed(slot));
    assert_eq!((cache.awaited(failed), cache.fetch_id(slot)), (None, None));
    let (again, removed) = ask(&mut cache, 2);
    assert_eq!(again, slot);
    assert_eq!((cache.awaited(failed), cache.awaited(removed)), (None, Some(slot)));
    // Its end is still to be reported, once.
    assert_eq!(cache.remove(Key(2), Nanos(1)), Removed::OnItsWay(slot));
    assert_eq!(cache.awaited(removed), Some(slot));
    assert_eq!(cache.fetched(slot, Nanos(1), Nanos(1)), [slot]);
    let (again, kept) = ask(&mut cache, 3);
    assert_eq!((again, cache.awaited(removed), cache.awaited(kept)), (slot, None, Some(slot)));
    assert!(cache.fetched(slot, Nanos(1), Nanos(1)).is_empty());
    assert_eq!(cache.awaited(kept), None);
    // A fetch that nobody names is not taken for the one before it.
    assert_eq!(cache.remove(Key(3), Nanos(2)), Removed::Resident(slot));
    let unnamed = cache.request(Object { key: Key(5), size: 1 }, Access::at(Nanos(2)));
    assert_eq!((unnamed, cache.awaited(kept)), ((Outcome::Miss, slot), None));
    // A second slot has numbers of its own.
    let (other, fresh) = ask(&mut cache, 4);
    assert_ne!(other, slot);
    assert_eq!(cache.awaited(fresh), Some(other));
}

/// The answer comes after its timeout, when its slot is another object's.
#[test]
fn a_late_answer_is_not_served_under_another_name() {
    let mut cache = Directory::new(Lru::new(), 10);
    let mut bodies: HashMap<Slot, &str> = HashMap::new();
    let ask = |cache: &mut Directory<Lru>, key| {
        cache.request(Object { key: Key(key), size: 1 }, Access::at(Nanos(0)))
    };
    let mut answer = |cache: &mut Directory<Lru>, fetch, body| {
        let Some((slot, freed)) = cache.fetched_by(fetch, 2, Nanos(5), Nanos(5)) else { return false };
        bodies.insert(slot, body);
        for freed in freed {
            bodies.remove(freed);
        }
        true
    };
    let (_, slot) = ask(&mut cache, 1);
    let late = cache.fetch_id(slot).unwrap();
    assert!(cache.failed_by(late) && !cache.failed_by(late));
    assert_eq!(ask(&mut cache, 2), (Outcome::Miss, slot));
    let other = cache.fetch_id(slot).unwrap();
    // Neither end of the first fetch reaches the second.
    assert!(!answer(&mut cache, late, "one") && !cache.failed_by(late));
    assert_eq!((cache.fetching(), cache.len()), (1, 0));
    assert!(answer(&mut cache, other, "two") && !answer(&mut cache, other, "again"));
    assert!(!cache.failed_by(other));
    assert_eq!((cache.used(), cache.len()), (2, 1));
    assert_eq!(bodies[&ask(&mut cache, 2).1], "two");
}

/// An object removed on its way is returned as free at once, and so is one larger than the cache.
#[test]
fn what_is_not_kept_is_free_by_the_name_of_its_fetch() {
    let mut cache = Directory::new(Lru::new(), 10);
    for (key, size) in [(1, 1), (2, 11)] {
        let (_, slot) = cache.request(Object { key: Key(key), size: 1 }, Access::at(Nanos(0)));
        let fetch = cache.fetch_id(slot).unwrap();
        if key == 1 {
            assert_eq!(cache.remove(Key(key), Nanos(1)), Removed::OnItsWay(slot));
        }
        assert_eq!(cache.fetched_by(fetch, size, Nanos(1), Nanos(1)), Some((slot, &[slot][..])));
    }
    assert_eq!((cache.len(), cache.used()), (0, 0));
}

#[test]
fn a_cache_is_looked_at_without_a_request_and_cleared() {
    for policy in online() {
        let mut cache = Directory::new(policy, 40);
        let object = |key| Object { key: Key(key), size: 1 + key % 3 };
        let mut coming = HashMap::new();
        // Twice: a cache that was cleared is as good as new.
        for round in 0..2 {
            let mut slots: HashMap<Slot, u64> = HashMap::new();
            for turn in 0..500 {
                let now = Nanos(1_000 * round + turn);
                let (outcome, slot) = cache.request(object(turn * turn % 61), Access::at(now));
                if outcome == Outcome::Miss {
                    slots.insert(slot, turn * turn % 61);
                    for gone in cache.fetched(slot, Nanos(1), now) {
                        slots.remove(gone);
                    }
                }
            }
            for key in 100..105 {
                let (_, slot) = cache.request(object(key), Access::at(Nanos(1_000 * round + 500)));
                coming.insert(slot, cache.fetch_id(slot).unwrap());
            }
            let found: HashMap<Slot, u64> = cache.iter().map(|(object, slot)| (slot, object.key.0)).collect();
            assert_eq!((found.len(), &found), (cache.len(), &slots));
            assert_eq!(cache.iter().map(|(object, _)| object.size).sum::<u64>(), cache.used());
            for key in 0..105 {
                let slot = slots.iter().find(|&(_, &kept)| kept == key).map(|(&slot, _)| slot);
                assert_eq!((cache.peek(Key(key)), cache.contains(Key(key))), (slot, slot.is_some()));
            }
            assert!(cache.fetching() == 5 && !cache.is_empty());
            let mut gone = cache.clear(Nanos(1_000 * round + 600)).to_vec();
            gone.sort();
            let mut kept: Vec<Slot> = slots.into_keys().collect();
            kept.sort();
            assert_eq!(gone, kept);
            assert_eq!((cache.len(), cache.used(), cache.fetching(), cache.iter().count()), (0, 0, 0, 0));
            // What was on its way is not kept when it comes.
            for (slot, fetch) in coming.drain() {
                assert_eq!(cache.fetched_by(fetch, 1, Nanos(9), Nanos(9)), Some((slot, &[slot][..])));
            }
        }
    }
}

/// Time that goes back and forth ends in no panic and no wrong sums, whatever the policy.
#[test]
fn time_that_goes_back_breaks_nothing() {
    let times = [u64::MAX, 0, 1 << 40, 5, 1 << 20];
    for policy in online() {
        let mut cache = Directory::new(policy, 5);
        for turn in 0..2_000 {
            let now = Nanos(times[turn % 5].saturating_sub(turn as u64));
            let object = Object { key: Key((turn * turn % 23) as u64), size: 1 };
            let (outcome, slot) = cache.request(object, Access::at(now));
            if outcome == Outcome::Miss {
                let _ = cache.fetched(slot, Nanos(times[turn % 3]), now);
            }
            assert_eq!(cache.used(), cache.len() as u64);
            assert!(cache.used() <= 5);
        }
    }
}
