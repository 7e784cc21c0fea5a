use hashbrown::HashMap;
use trueplane_units::Nanos;

use super::zipf::{Change, Direction, Length};
use super::*;
use crate::Key;

const TIMING: Timing = Timing { rate: 100_000 };

fn open(text: &str) -> Workload {
    Workload::open(text, &TraceOptions::default()).unwrap()
}

fn read(workload: &Workload, seed: u64) -> Vec<Key> {
    let mut lookups = workload.lookups(TIMING, seed).unwrap();
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    while lookups.next_chunk(&mut chunk).unwrap() {
        assert!(!chunk.is_empty());
        all.append(&mut chunk);
    }
    assert!(chunk.is_empty() && !lookups.next_chunk(&mut chunk).unwrap());
    assert_eq!(lookups.position(), workload.extent(TIMING));
    all
}

/// Keys by how often they are looked up, most often first.
fn popularity(lookups: &[Key]) -> Vec<Key> {
    let mut counts: HashMap<Key, u32> = HashMap::new();
    lookups.iter().for_each(|&key| *counts.entry(key).or_default() += 1);
    let mut keys: Vec<(Key, u32)> = counts.into_iter().collect();
    keys.sort_by_key(|&(key, count)| (u32::MAX - count, key));
    keys.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn generators_are_read_as_people_write_them() {
    let workload = open("zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3");
    let zipf = workload.zipf().unwrap();
    let change = Change { direction: Direction::HotIn, keys: 1_000, every: Nanos(1_000_000_000) };
    assert_eq!((zipf.exponent, zipf.keys, zipf.change), (0.99, 1_000_000, Some(change)));
    assert_eq!(zipf.length, Length::Time(Nanos(3_000_000_000)));
    assert_eq!(
        (workload.name(), workload.change()),
        ("zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3", Some(1_000))
    );
    assert_eq!(workload.len_hint(TIMING), Some(300_000));
    assert_eq!(change.to_string(), "hot-in=1000/1s");
    let other = open("zipf:1, lookups=2.5M, shift=1K/100ms, keys=2000");
    assert_eq!(other.len_hint(TIMING), Some(2_500_000));
    assert_eq!(
        other.zipf().and_then(|zipf| zipf.change).map(|change| change.direction),
        Some(Direction::Shift)
    );
    assert_eq!(other.with_change(7).unwrap().change(), Some(7));
}

#[test]
fn wrong_generators_are_refused() {
    for (bad, said) in [
        ("zipf:", "expected an exponent from 0 to 10 after zipf:, such as zipf:0.99, got \"\""),
        ("zipf:11,keys=1,seconds=1", "got \"11\""),
        ("zipf:-1,keys=1,seconds=1", "got \"-1\""),
        ("zipf:1", "expected a number of keys such as keys=1M"),
        ("zipf:1,keys=5", "expected a length such as seconds=3 or lookups=10M"),
        (
            "zipf:1,keys=0,seconds=1",
            "expected 1 to 268435456 keys such as keys=1M, 8 B of memory each, got \"keys=0\"",
        ),
        ("zipf:1,keys=1.5,seconds=1", "got \"keys=1.5\""),
        ("zipf:1,keys=269M,seconds=1", "got \"keys=269M\""),
        ("zipf:1,keys=5,seconds=0", "expected a number of seconds above zero"),
        ("zipf:1,keys=5,seconds=1s", "got \"seconds=1s\""),
        ("zipf:1,keys=5,lookups=0", "expected a number of lookups above zero"),
        (
            "zipf:1,keys=5,lookups=5,seconds=1",
            "expected one each of keys, of hot-in and shift, of seconds and lookups",
        ),
        ("zipf:1,keys=5,keys=5,seconds=1", "got \"keys=5\" too"),
        ("zipf:1,keys=5,hot-in=5,seconds=1", "expected keys and a time above zero such as hot-in=1000/1s"),
        ("zipf:1,keys=5,hot-in=5/0s,seconds=1", "got \"hot-in=5/0s\""),
        ("zipf:1,keys=5,hot-in=6/1s,seconds=1", "expected at most 5 keys in a change, got 6"),
        (
            "zipf:1,keys=5,hot=5/1s,seconds=1",
            "expected keys=…, hot-in=…, shift=…, seconds=… or lookups=…, got \"hot=5/1s\"",
        ),
        ("zipf:1,keys=5,hot-in=1/1s,shift=1/1s,seconds=1", "got \"shift=1/1s\" too"),
    ] {
        let error = Workload::open(bad, &TraceOptions::default()).err().unwrap().to_string();
        assert!(error.contains(said) && error.starts_with(bad) && !error.contains('\n'), "{bad}: {error}");
    }
    let refused = |text: &str, keys| open(text).with_change(keys).err().unwrap().to_string();
    assert!(refused("zipf:1,keys=5,seconds=1", 1).contains("need hot-in=… or shift=…"));
    assert!(refused("zipf:1,keys=5,hot-in=1/1s,seconds=1", 6).contains("up to 5 keys, got 6"));
}

#[test]
fn the_least_popular_become_the_most_popular() {
    for (change, rotate) in [("hot-in", 3), ("shift", 2)] {
        // Of five keys, two go each way; so the orders are rotations by three and by two.
        let lookups = read(&open(&format!("zipf:2,keys=5,{change}=2/300ms,seconds=0.9")), 1);
        let orders: Vec<Vec<Key>> = lookups.chunks(30_000).map(popularity).collect();
        assert_eq!(orders.len(), 3);
        for pair in orders.windows(2) {
            let mut expected = pair[0].clone();
            expected.rotate_left(rotate);
            assert_eq!(pair[1], expected, "{change}");
        }
    }
}

#[test]
fn changes_fall_on_slots() {
    let slots = |text: &str, rate| open(text).changes(Timing { rate }).collect::<Vec<_>>();
    assert_eq!(slots("zipf:1,keys=9,hot-in=1/100ms,seconds=0.4", 1_000), [100, 200, 300]);
    assert_eq!(slots("zipf:1,keys=9,shift=1/500ms,seconds=2", 3), [1, 3, 4]);
    assert_eq!(slots("zipf:1,keys=9,shift=1/250ms,seconds=1", 2), [0, 1]);
    assert_eq!(slots("zipf:1,keys=9,shift=1/1ns,seconds=3", 1), [0, 1, 2]);
    for nothing in ["hot-in=0/100ms,", "hot-in=9/100ms,", ""] {
        assert!(slots(&format!("zipf:1,keys=9,{nothing}seconds=1"), 1_000).is_empty(), "{nothing}");
    }
}

#[test]
fn several_changes_at_one_slot_all_happen() {
    let lookups = |shift: &str| read(&open(&format!("zipf:10,keys=999,{shift},lookups=100K")), 1);
    // 2s + 1 changes by one up to slot s, and s changes by two: the same circle of 999 keys, 500 slots apart.
    let (one, two) = (lookups("shift=1/5us"), lookups("shift=2/10us"));
    let same = one.iter().zip(&two[500..]).filter(|(one, two)| one == two).count();
    assert!(same > 98_000, "{same}");
}

#[test]
fn a_change_takes_no_longer_where_there_are_a_billion_at_a_slot() {
    let lookups = |shift: &str| {
        let workload = open(&format!("zipf:10,keys=7,{shift},lookups=10K"));
        let (mut lookups, mut all) = (workload.lookups(Timing { rate: 1 }, 1).unwrap(), Vec::new());
        assert!(lookups.next_chunk(&mut all).unwrap());
        all
    };
    // 10⁹ (s + 1) − 1 changes by one up to slot s, in a circle of seven keys: 6s + 5, which are 6 (s + 2).
    let (one, six) = (lookups("shift=1/1ns"), lookups("shift=6/1s"));
    let same = one.iter().zip(&six[2..]).filter(|(one, six)| one == six).count();
    assert!(same > 9_900, "{same}");
}

#[test]
fn one_seed_is_one_workload() {
    let workload = open("zipf:0,keys=300,hot-in=7/10us,lookups=1100K");
    let (one, other) = (read(&workload, 1), read(&workload, 2));
    assert_eq!(one.len(), 1_100_000);
    assert_eq!(one, read(&workload, 1));
    let distinct = |lookups: &[Key]| popularity(lookups).len();
    assert_eq!((distinct(&one), distinct(&other)), (300, 300));
    // Keys say nothing, not even that they are of the same rank.
    let both: Vec<Key> = [&one[..1_000], &other[..1_000]].concat();
    assert_eq!(distinct(&both), distinct(&one[..1_000]) + distinct(&other[..1_000]));
    let share = one.iter().filter(|key| key.0 > 1 << 63).count() as f64 / one.len() as f64;
    assert!((share - 0.5).abs() < 0.2, "{share}");
}

#[test]
fn a_trace_is_its_keys_in_order() {
    let lookups = read(&open("zipf:0.9,keys=1K,lookups=1200K"), 3);
    let mut text = String::new();
    lookups.iter().for_each(|key| text.push_str(&format!("{}\n", key.0)));
    let trace = Trace::from_bytes("keys.csv", text.into_bytes(), &TraceOptions::default()).unwrap();
    let workload = Workload::from(trace);
    assert_eq!((workload.name(), workload.len_hint(TIMING), workload.change()), ("keys.csv", None, None));
    assert_eq!(workload.changes(TIMING).next(), None);
    assert!(workload.with_change(1).err().unwrap().to_string().contains("keys.csv: a trace has no levels"));
    assert_eq!(read(&workload, 1), lookups);
}

#[test]
fn keys_of_a_trace_are_counted() {
    let text = b"time,key\n1,a\n2,b\n\n3,a\n9,17\n".to_vec();
    let options = TraceOptions { census: true, ..TraceOptions::default() };
    let workload = Workload::from(Trace::from_bytes("t.csv", text, &options).unwrap());
    let mut lookups = workload.lookups(TIMING, 0).unwrap();
    let mut chunk = Vec::new();
    assert!(lookups.next_chunk(&mut chunk).unwrap());
    assert_eq!((chunk.len(), chunk[0], chunk[3]), (4, chunk[2], Key(17)));
    let keys = lookups.keys();
    assert_eq!((keys.distinct, keys.collided, keys.one_in), (Some(3), Some(0), 1));
}
