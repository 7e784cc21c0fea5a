//! What each policy is for, on a few keys.

use trueplane_offload::batched::{Batched, Policy};
use trueplane_offload::cuckoo::CuckooTable;
use trueplane_offload::pace::Pace;
use trueplane_offload::policy::{Frequency, NetCache, NetCacheOptions, Recency, Tea, TeaOptions};
use trueplane_offload::table::{ExactTable, Mixed, Table};
use trueplane_offload::{Key, System};

use super::drive;

/// A batch every ten slots.
fn system<P: Policy>(policy: P, entries: u32, batch: u64) -> Batched<P, ExactTable> {
    Batched::new(policy, ExactTable::new(entries), Pace::new(10, 1), batch)
}

/// Looks `keys` up from slot `now` on; what the table holds then.
fn play<P: Policy>(system: &mut Batched<P, ExactTable>, now: u64, keys: &[u64]) -> Vec<u64> {
    for (now, &key) in (now..).zip(keys) {
        while system.due() <= now {
            system.control(now);
        }
        system.lookup(Key(key));
    }
    (0..100).filter(|&key| system.table().find(Mixed::from(Key(key))).is_some()).collect()
}

/// A batch on the timeline: looked up until 10, decided at 10, installed at 20; its successor decided at 20, evicts at
/// 25, installs at 30.
#[test]
fn one_key_goes_round_the_loop() {
    let mut system = system(Recency::default(), 1, 1);
    let mut keys = vec![Key(1); 20];
    keys[15..].fill(Key(2));
    keys.extend([1, 1, 2, 1, 1, 1, 1, 2, 2, 2].map(Key));
    keys.extend([2, 1].map(Key));
    let answers = drive(&mut system, &keys);
    assert!(!answers[..20].contains(&true), "nothing is in the table before slot 20");
    let after = [true, true, false, true, true, false, false, false, false, false, true, false];
    assert_eq!(answers[20..], after);
    let counts = system.counts();
    assert_eq!((counts.updates_sent, counts.updates_applied, system.under_way()), (Some(2), Some(2), 0));
}

#[test]
fn recency_and_frequency_differ_over_what_comes_once() {
    // Two that come often, and newcomers that come once.
    let mut keys: Vec<u64> = (0..30).map(|slot| slot % 2).collect();
    keys.extend(50..60);
    keys.extend([60; 11]);
    let mut recency = system(Recency::default(), 2, 2);
    assert_eq!(play(&mut recency, 0, &keys), [58, 59]);
    let mut frequency = system(Frequency::new(1_000), 2, 2);
    assert_eq!(play(&mut frequency, 0, &keys), [0, 1]);
    // With ageing, the frequent are forgotten.
    let mut ageing = system(Frequency::new(7), 2, 2);
    let held = play(&mut ageing, 0, &[&keys[..], &[60; 20]].concat());
    assert!(held.contains(&60), "{held:?}");
    assert_eq!((ageing.period(), recency.period()), (Some(7), None));
}

/// Keys that come once are forgotten two periods later.
#[test]
fn frequency_forgets() {
    let mut frequency = system(Frequency::new(1_000), 4, 4);
    let keys: Vec<Key> = (0..100_000).map(Key).collect();
    drive(&mut frequency, &keys);
    assert!(frequency.policy().remembered() < 4_000, "{}", frequency.policy().remembered());
}

/// Two keys that are forgotten while they are under way, did that not depend on when they were looked up: the one that
/// was looked up first goes first.
#[test]
fn frequency_remembers_what_is_under_way() {
    let mut frequency = Batched::new(Frequency::new(500), ExactTable::new(3), Pace::new(2_000, 1), 3);
    let mut keys = vec![1; 1_998];
    keys.extend([2, 3]);
    // Keys that come once, until both are at zero; they, too, are so at slot 4,000, and only 4 is not.
    keys.extend(1_000..2_000);
    keys.extend([1; 999]);
    keys.push(4);
    assert_eq!(play(&mut frequency, 0, &keys), Vec::<u64>::new());
    assert_eq!(play(&mut frequency, 4_000, &[1; 1_000]), [1, 2, 3]);
    // Decided at 4,000, gone at 5,000, there at 6,000.
    assert_eq!(play(&mut frequency, 5_000, &[1; 1_000]), [1, 3]);
    assert_eq!(play(&mut frequency, 6_000, &[1]), [1, 3, 4]);
}

fn netcache(threshold: u32, interval: u64) -> NetCache {
    NetCache::new(NetCacheOptions::new(threshold, interval, 64, 1))
}

#[test]
fn netcache_reports_once_and_from_the_threshold_on() {
    // Three and two lookups before the first decision.
    let mut system = system(netcache(3, 1_000), 4, 4);
    assert_eq!(
        play(&mut system, 0, &[1, 2, 1, 2, 1, 10, 11, 12, 13, 14, 1, 1, 1, 1, 15, 16, 17, 18, 19, 20, 21]),
        [1]
    );
    assert_eq!((system.policy().reported(), system.policy().lost()), (1, 0));
}

#[test]
fn netcache_keeps_entries_with_more_hits_than_the_report_says() {
    let mut system = system(netcache(3, 1_000), 1, 4);
    // Five lookups of 1 in the table, and the three with which it began; then 2 reaches the threshold.
    let mut keys = vec![1; 25];
    keys.extend([2; 30]);
    assert_eq!(play(&mut system, 0, &keys), [1]);
    assert_eq!(system.policy().reported(), 2);
    // Cleared at slot 100, 1 is not looked up any more.
    assert_eq!(system.counts().updates_sent, Some(1));
    let mut cleared = Batched::new(netcache(3, 40), ExactTable::new(1), Pace::new(10, 1), 4);
    let mut keys = vec![1; 25];
    keys.extend([2; 45]);
    assert_eq!(play(&mut cleared, 0, &keys), [2]);
}

#[test]
fn netcache_loses_what_its_queue_does_not_hold() {
    let options = NetCacheOptions { queue: 2, ..NetCacheOptions::new(1, 1_000, 64, 1) };
    let mut system = system(NetCache::new(options), 9, 9);
    assert_eq!(play(&mut system, 0, &(1..=21).collect::<Vec<_>>()), [1, 2]);
    // Decided at 10 and 20, each time with two reports of ten; slot 20 brings another.
    assert_eq!((system.policy().reported(), system.policy().lost()), (21, 16));
}

fn tea(threshold: u32) -> Tea {
    Tea::new(TeaOptions { threshold, interval: 1_000, sample: 200, seed: 1 })
}

#[test]
fn tea_takes_the_entry_that_is_idle_longest() {
    let mut system = system(tea(2), 3, 3);
    // Three flows get entries; then 1 is live, 2 was used once more, 3 never; 4 comes.
    assert_eq!(play(&mut system, 0, &[1, 1, 2, 2, 3, 3, 1, 2, 3, 1]), Vec::<u64>::new());
    assert_eq!(play(&mut system, 10, &[1; 10]), Vec::<u64>::new());
    assert_eq!(play(&mut system, 20, &[1, 3, 1, 2, 1, 1, 1, 1, 1, 1]), [1, 2, 3]);
    assert_eq!(play(&mut system, 30, &[1, 4, 1, 4, 1, 4, 1, 4, 1, 4]), [1, 2, 3]);
    // Decided at 40, gone at 45.
    assert_eq!(play(&mut system, 40, &[1, 4, 1, 4, 1]), [1, 2, 3]);
    assert_eq!(play(&mut system, 45, &[4, 4, 4, 4, 4]), [1, 2]);
    assert_eq!(play(&mut system, 50, &[4]), [1, 2, 4]);
}

#[test]
fn tea_leaves_live_flows_alone() {
    let mut system = system(tea(2), 2, 2);
    play(&mut system, 0, &[1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
    play(&mut system, 10, &[1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
    // 3 and 4 reach the threshold again and again, no faster than 1 and 2.
    let mixed: Vec<u64> = (0..400).map(|slot| 1 + slot % 4).collect();
    assert_eq!(play(&mut system, 20, &mixed), [1, 2]);
    assert_eq!(system.counts().updates_sent, Some(2));
}

/// The statistics are cleared while the report is on its way, and it arrives all the same.
#[test]
fn a_report_takes_its_time() {
    let installed = |delay| {
        let netcache = NetCache::new(NetCacheOptions { delay, ..NetCacheOptions::new(3, 20, 64, 1) });
        let mut system = Batched::new(netcache, CuckooTable::new(16, 90), Pace::new(4, 1), 1);
        (0..80).find(|&now| {
            while system.due() <= now {
                system.control(now);
            }
            system.lookup(Key(7))
        })
    };
    // Looked up for the third time at slot 2, reported, decided at 4, installed at 8; and 26 slots later.
    assert_eq!([installed(0), installed(26)], [Some(8), Some(32)]);
}

/// One report travels across a clearing, and as the filter is empty then, the key is reported again: both are there at
/// the next decision, which needs one of them.
#[test]
fn two_reports_of_a_key_bring_it_in_once() {
    let netcache = NetCache::new(NetCacheOptions { delay: 50, ..NetCacheOptions::new(1, 100, 64, 1) });
    let mut system = Batched::new(netcache, ExactTable::new(400), Pace::new(200, 1), 256);
    let mut keys: Vec<u64> = (1_000..1_401).collect();
    keys[90] = 7;
    keys[110] = 7;
    assert_eq!(play(&mut system, 0, &keys), [7]);
    // Reported until slot 150, and arrived after the clearing of slot 100: 51 to 150, of which one is no news.
    assert_eq!(system.counts().updates_applied, Some(99));
    assert_eq!(system.counts().updates_failed, Some(0));
}
