//! A cuckoo table is a map with few failures.

use std::collections::HashMap;

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_offload::Key;
use trueplane_offload::cuckoo::CuckooTable;
use trueplane_offload::table::{Entry, Mixed, Table};

fn holds_exactly(table: &CuckooTable, map: &HashMap<u64, Entry>, keys: impl Iterator<Item = u64>) {
    assert_eq!(table.len() as usize, map.len());
    for key in keys {
        assert_eq!(table.find(Mixed::from(Key(key))), map.get(&key).copied(), "{key}");
    }
}

proptest! {
    /// However full, also where no place can be found: a failure leaves everything as it was.
    #[test]
    fn it_holds_what_a_map_holds(
        places in 0..70u32,
        load in 0..=120u32,
        steps in prop::collection::vec((0..3u8, 0..120u64), 0..400),
    ) {
        let mut table = CuckooTable::new(places, load);
        prop_assert_eq!(table.capacity(), places * load.min(100) / 100);
        let mut map: HashMap<u64, Entry> = HashMap::new();
        let mut failures = 0;
        for (what, key) in steps {
            match map.get(&key).copied() {
                Some(entry) if what == 0 => {
                    prop_assert_eq!(table.remove(entry), Some(Mixed::from(Key(key))));
                    prop_assert_eq!(table.remove(entry), None);
                    map.remove(&key);
                }
                None => match table.insert(Mixed::from(Key(key))) {
                    Some(entry) => {
                        prop_assert!(entry.0 < table.capacity() && map.values().all(|&other| other != entry));
                        map.insert(key, entry);
                    }
                    None => failures += u64::from(table.len() < table.capacity()),
                },
                Some(_) => {}
            }
            holds_exactly(&table, &map, 0..120);
        }
        prop_assert_eq!(table.failures(), failures);
    }
}

/// At the load that operators use no insertion fails, while the table fills and while its entries are replaced.
#[test]
fn none_fails_at_ninety_percent() {
    for places in [1 << 10, 1 << 13, 1 << 16] {
        let mut draws = Xoshiro256PlusPlus::seed_from_u64(places.into());
        let mut table = CuckooTable::new(places, 90);
        let mut map = HashMap::new();
        let capacity = table.capacity();
        for step in 0..3 * capacity {
            if step >= capacity {
                let key = table.remove(Entry((draws.next_u64() % u64::from(capacity)) as u32)).unwrap();
                map.remove(&key).unwrap();
            }
            let key = Mixed::from(Key(draws.next_u64()));
            map.insert(key, table.insert(key).unwrap());
        }
        assert_eq!((table.failures(), table.len(), map.len()), (0, capacity, capacity as usize));
        assert!(map.iter().all(|(&key, &entry)| table.find(key) == Some(entry)));
        assert!(table.moves() > 0);
    }
}

/// The threshold of two choices of four places is 98% for large tables: no search finds room for all in a full one,
/// and the table says so.
#[test]
fn a_full_one_fails() {
    let mut table = CuckooTable::new(1 << 12, 100);
    let inserted = (0..1 << 12).filter(|&key| table.insert(Mixed::from(Key(key))).is_some()).count() as u64;
    assert_eq!(inserted + table.failures(), 1 << 12);
    assert!((3_900..4_096).contains(&inserted), "{inserted}");
}
