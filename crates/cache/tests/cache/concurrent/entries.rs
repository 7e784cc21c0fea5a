//! Entries: what they weigh, when they expire, and why they leave.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use trueplane_cache::policy::PolicyName;
use trueplane_cache::{Builder, Cache, Cause};

use super::{Hand, Plain, exact};

type Left = Arc<Mutex<Vec<(u64, Cause)>>>;

/// The cache, and who has left it, with the reason.
fn heard<S: std::hash::BuildHasher>(builder: Builder<u64, u64, S>) -> (Cache<u64, u64, S>, Left) {
    let left = Left::default();
    let heard = Arc::clone(&left);
    let cache =
        builder.eviction_listener(move |key, _, cause| heard.lock().unwrap().push((key, cause))).build();
    (cache, left)
}

fn taken(left: &Left) -> Vec<(u64, Cause)> {
    std::mem::take(&mut *left.lock().unwrap())
}

#[test]
fn entries_leave_for_a_reason() {
    let (cache, left) = heard(exact(3).policy(PolicyName::Lru).weigher(|_, value| *value));
    cache.insert(1, 1);
    cache.insert(2, 1);
    cache.insert(1, 1);
    assert_eq!(taken(&left), [(1, Cause::Replaced)]);
    cache.insert(3, 2);
    assert_eq!(taken(&left), [(2, Cause::Evicted)]);
    assert_eq!((cache.weight(), cache.len()), (3, 2));
    cache.remove(&3);
    cache.remove(&3);
    assert_eq!(taken(&left), [(3, Cause::Removed)]);
    cache.insert(4, 4);
    assert_eq!(taken(&left), [(4, Cause::TooHeavy)]);
    assert_eq!(cache.get(&4), None);
    // A value of another weight.
    cache.insert(1, 3);
    assert_eq!((taken(&left), cache.weight()), (vec![(1, Cause::Replaced)], 3));
    // One that is too heavy takes the place of nobody, but the old value of its key is not valid any more.
    cache.insert(1, 9);
    assert_eq!(taken(&left), [(1, Cause::Replaced), (1, Cause::TooHeavy)]);
    cache.insert(5, 1);
    cache.insert(6, 1);
    cache.invalidate_all();
    let mut all = taken(&left);
    all.sort_by_key(|(key, _)| *key);
    assert_eq!(all, [(5, Cause::Removed), (6, Cause::Removed)]);
    assert_eq!((cache.weight(), cache.is_empty()), (0, true));
}

#[test]
fn a_cache_without_capacity_keeps_nothing() {
    let (cache, left) = heard(exact(0));
    cache.insert(1, 1);
    assert_eq!((cache.get(&1), taken(&left)), (None, vec![(1, Cause::TooHeavy)]));
    assert_eq!(cache.get_or_fetch_blocking(&1, || Ok::<_, std::io::Error>(2)).unwrap(), 2);
    assert_eq!(cache.len(), 0);
}

#[test]
fn weight_0_counts_as_1() {
    let cache = exact(2).weigher(|_, _| 0).build();
    (0..10).for_each(|key| cache.insert(key, key));
    assert_eq!((cache.len(), cache.weight()), (2, 2));
}

#[test]
fn entries_expire() {
    let hand = Hand::default();
    let nanos = Duration::from_nanos;
    let (cache, left) = heard(hand.moves(exact(10)).time_to_live(nanos(10)));
    cache.insert(1, 1);
    hand.set(9);
    assert_eq!(cache.get(&1), Some(1));
    hand.set(10);
    assert_eq!((cache.get(&1), cache.contains_key(&1), cache.peek(&1)), (None, false, None));
    assert_eq!((cache.iter().count(), cache.len(), taken(&left)), (0, 1, vec![]));
    cache.run_pending();
    assert_eq!((cache.len(), taken(&left)), (0, vec![(1, Cause::Expired)]));

    hand.set(100);
    let (cache, left) = heard(hand.moves(exact(10)).time_to_idle(nanos(10)));
    (0..2).for_each(|key| cache.insert(key, key));
    for now in [105, 110, 119] {
        hand.set(now);
        assert_eq!(cache.get(&0), Some(0));
    }
    // Writes let go what has expired.
    cache.insert(5, 5);
    assert_eq!(taken(&left), [(1, Cause::Expired)]);
    hand.set(129);
    assert_eq!(cache.get_or_fetch_blocking(&0, || Ok::<_, std::io::Error>(7)).unwrap(), 7);
    // So does what comes.
    assert_eq!(taken(&left), [(0, Cause::Expired), (5, Cause::Expired)]);

    let (cache, _) =
        heard(hand.moves(exact(10)).expire_after(move |_, value| (*value > 0).then(|| nanos(*value))));
    cache.insert(1, 5);
    cache.insert(2, 50);
    cache.insert(3, 0);
    hand.set(140);
    let there: Vec<bool> = (1..4).map(|key| cache.contains_key(&key)).collect();
    assert_eq!(there, [false, true, true]);
    hand.set(u64::MAX - 1);
    assert_eq!(cache.get(&3), Some(0));
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let hand = Hand::default();
    let cache =
        hand.moves(exact(10)).time_to_live(Duration::from_nanos(10)).policy(PolicyName::LruMad).build();
    hand.set(100);
    cache.insert(1, 1);
    hand.set(5);
    cache.insert(2, 2);
    assert_eq!((cache.get(&1), cache.get(&2)), (Some(1), Some(2)));
    hand.set(109);
    assert_eq!((cache.get(&1), cache.get(&2)), (Some(1), Some(2)));
    hand.set(110);
    assert_eq!((cache.get(&1), cache.get(&2)), (None, None));
}

#[test]
fn of_keys_with_one_hash_the_last_is_kept() {
    let cache: Cache<u64, u64, Plain> = Cache::builder().capacity(10).shards(1).hasher(Plain::Same).build();
    cache.insert(1, 10);
    assert_eq!((cache.get(&1), cache.get(&2)), (Some(10), None));
    cache.insert(2, 20);
    assert_eq!((cache.get(&1), cache.get(&2), cache.len()), (None, Some(20), 1));
    cache.remove(&1);
    assert_eq!(cache.get(&2), Some(20));
    let fetched = cache.get_or_fetch_blocking(&3, || {
        // Another key with the same hash, while this one is on its way.
        assert_eq!(cache.get_or_fetch_blocking(&4, || Ok::<_, std::io::Error>(40)).unwrap(), 40);
        Ok::<_, std::io::Error>(30)
    });
    assert_eq!((fetched.unwrap(), cache.get(&3), cache.get(&4)), (30, None, Some(40)));
}

#[test]
fn updates_see_what_was_there() {
    let cache = exact(10).build();
    cache.update(&1, |old| {
        assert_eq!(old, None);
        Some(1)
    });
    cache.update(&1, |old| old.map(|value| value + 1));
    assert_eq!(cache.get(&1), Some(2));
    // Somebody writes in between.
    let mut runs = 0;
    cache.update(&1, |old| {
        runs += 1;
        if runs == 1 {
            cache.insert(1, 100);
        }
        old.map(|value| value + 1)
    });
    assert_eq!((cache.get(&1), runs), (Some(101), 2));
    cache.update(&1, |_| None);
    assert_eq!(cache.get(&1), None);
}

#[test]
fn shards_share_the_capacity() {
    for (capacity, shards) in [(1000, 8), (1003, 8), (5, 8), (100_000, 64)] {
        let cache: Cache<u64, u64> =
            Cache::builder().capacity(capacity).shards(shards).policy(PolicyName::Lru).build();
        assert_eq!(cache.capacity(), capacity);
        (0..2 * capacity).for_each(|key| cache.insert(key, key));
        assert!(cache.len() as u64 <= capacity);
        assert!(capacity < 1000 || cache.len() as u64 > capacity * 9 / 10, "{} of {capacity}", cache.len());
        assert_eq!((cache.iter().count(), cache.weight()), (cache.len(), cache.len() as u64));
        cache.set_capacity(capacity / 2);
        assert!(cache.capacity() == capacity / 2 && cache.weight() <= capacity / 2);
    }
}

#[test]
fn keys_are_found_by_what_they_lend() {
    let cache: Cache<String, Arc<str>> = Cache::new(10);
    cache.insert("a".to_owned(), "1".into());
    assert_eq!(cache.get("a").as_deref(), Some("1"));
    assert_eq!(
        cache.get_or_fetch_blocking("b", || Ok::<_, std::io::Error>("2".into())).unwrap().as_ref(),
        "2"
    );
    let mut all: Vec<String> = cache.iter().map(|(key, _)| key).collect();
    all.sort();
    assert_eq!(all, ["a", "b"]);
    let shown = format!("{cache:?}");
    assert_eq!(shown, "Cache { entries: 2, weight: 2, capacity: 10, .. }");
    assert!(format!("{:?}", cache.clone()) == shown);
}

#[test]
fn small_numbers_are_spread_over_all_shards() {
    // Whatever the seed of the hash function, and even if numbers are their own hashes.
    for _ in 0..50 {
        let cache: Cache<u64, u64> = Cache::builder().capacity(1000).shards(16).build();
        (0..2000).for_each(|key| cache.insert(key, key));
        assert!(cache.len() > 980, "{}", cache.len());
    }
    let cache: Cache<u64, u64, Plain> =
        Cache::builder().capacity(1000).shards(16).hasher(Plain::Itself).build();
    (0..2000).for_each(|key| cache.insert(key, key));
    assert!(cache.len() > 980, "{}", cache.len());
}

#[test]
fn what_is_stored_is_taken_to_have_taken_as_long_as_its_group() {
    // LRU-MAD evicts by what the next miss costs: of two entries of equal age, the one whose group is fetched fast.
    let hand = Hand::default();
    let cache = hand.moves(exact(3)).policy(PolicyName::LruMad).group_by(|key| key % 2).build();
    let fetch = |key: u64, takes: u64, now: u64| {
        hand.set(now);
        let fetched = cache.get_or_fetch_blocking(&key, || {
            hand.set(now + takes);
            Ok::<_, std::io::Error>(key)
        });
        assert_eq!(fetched.unwrap(), key);
    };
    fetch(1, 1_000_000, 0);
    fetch(2, 1_000, 2_000_000);
    cache.remove(&1);
    cache.remove(&2);
    hand.set(3_000_000);
    cache.insert(3, 3);
    cache.insert(4, 4);
    hand.set(3_000_010);
    cache.insert(5, 5);
    cache.insert(7, 7);
    assert_eq!([3, 4, 5, 7].map(|key| cache.contains_key(&key)), [true, false, true, true]);
}
