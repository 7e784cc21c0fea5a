//! The caches, behind one interface.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Mutex;

use trueplane_cache::PolicyName;

use crate::value_of;

/// What is timed of every cache.
pub(crate) trait Rival: Send + Sync {
    /// The value of a key, if it is there.
    fn get(&self, key: u64) -> Option<u64>;
    /// Stores the value that belongs to a key.
    fn insert(&self, key: u64);
    /// Makes sure that the value of a key is there; whether it was.
    fn fetch(&self, key: u64) -> bool;
    /// Ends all that was put off.
    fn settle(&self) {}
    /// Number of entries.
    fn len(&self) -> usize;
}

type Make = fn(u64) -> Box<dyn Rival>;

/// All of them.
pub(crate) const RIVALS: [(&str, Make); 12] = [
    ("trueplane lru", |capacity| trueplane(capacity, PolicyName::Lru)),
    ("trueplane lru-mad", |capacity| trueplane(capacity, PolicyName::LruMad)),
    ("trueplane sieve", |capacity| trueplane(capacity, PolicyName::Sieve)),
    ("trueplane s3-fifo", |capacity| trueplane(capacity, PolicyName::S3Fifo)),
    ("trueplane w-tinylfu", |capacity| trueplane(capacity, PolicyName::WTinyLfu)),
    ("trueplane arc", |capacity| trueplane(capacity, PolicyName::Arc)),
    ("trueplane arc-mad", |capacity| trueplane(capacity, PolicyName::ArcMad)),
    ("moka", |capacity| Box::new(moka::sync::Cache::<u64, u64>::new(capacity))),
    ("quick_cache", |capacity| Box::new(quick_cache::sync::Cache::<u64, u64>::new(capacity as usize))),
    ("foyer", |capacity| {
        let cache: foyer_memory::Cache<u64, u64> = foyer_memory::CacheBuilder::new(capacity as usize).build();
        Box::new(cache)
    }),
    ("TinyUFO", |capacity| Box::new(Ufo(TinyUfo::new(capacity as usize, capacity as usize), capacity))),
    ("a locked map", |_| Box::new(Mutex::new(HashMap::<u64, u64>::new()))),
];

type TinyUfo = tinyufo::TinyUfo<u64, u64>;
struct Ufo(TinyUfo, u64);

fn trueplane(capacity: u64, policy: PolicyName) -> Box<dyn Rival> {
    Box::new(trueplane_cache::Cache::<u64, u64>::builder().capacity(capacity).policy(policy).build())
}

impl Rival for trueplane_cache::Cache<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        self.get(&key)
    }

    fn insert(&self, key: u64) {
        self.insert(key, value_of(key));
    }

    fn fetch(&self, key: u64) -> bool {
        let mut hit = true;
        let value = self.get_or_fetch_blocking(&key, || {
            hit = false;
            Ok::<_, Infallible>(value_of(key))
        });
        assert_eq!(value.ok(), Some(value_of(key)));
        hit
    }

    fn len(&self) -> usize {
        self.len()
    }
}

impl Rival for moka::sync::Cache<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        self.get(&key)
    }

    fn insert(&self, key: u64) {
        self.insert(key, value_of(key));
    }

    fn fetch(&self, key: u64) -> bool {
        let mut hit = true;
        let value = self.get_with(key, || {
            hit = false;
            value_of(key)
        });
        assert_eq!(value, value_of(key));
        hit
    }

    fn settle(&self) {
        self.run_pending_tasks();
    }

    fn len(&self) -> usize {
        self.entry_count() as usize
    }
}

impl Rival for quick_cache::sync::Cache<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        self.get(&key)
    }

    fn insert(&self, key: u64) {
        self.insert(key, value_of(key));
    }

    fn fetch(&self, key: u64) -> bool {
        let mut hit = true;
        let value = self.get_or_insert_with(&key, || {
            hit = false;
            Ok::<_, Infallible>(value_of(key))
        });
        assert_eq!(value, Ok(value_of(key)));
        hit
    }

    fn len(&self) -> usize {
        self.len()
    }
}

impl Rival for foyer_memory::Cache<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        self.get(&key).map(|entry| *entry.value())
    }

    fn insert(&self, key: u64) {
        self.insert(key, value_of(key));
    }

    fn fetch(&self, key: u64) -> bool {
        match Rival::get(self, key) {
            Some(value) => {
                assert_eq!(value, value_of(key));
                true
            }
            None => {
                Rival::insert(self, key);
                false
            }
        }
    }

    fn len(&self) -> usize {
        self.entries()
    }
}

impl Rival for Ufo {
    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(&key)
    }

    fn insert(&self, key: u64) {
        self.0.put(key, value_of(key), 1);
    }

    fn fetch(&self, key: u64) -> bool {
        match self.0.get(&key) {
            Some(value) => {
                assert_eq!(value, value_of(key));
                true
            }
            None => {
                Rival::insert(self, key);
                false
            }
        }
    }

    /// It does not say; it is full.
    fn len(&self) -> usize {
        self.1 as usize
    }
}

/// Without a bound: the least that a lock and a map take.
impl Rival for Mutex<HashMap<u64, u64>> {
    fn get(&self, key: u64) -> Option<u64> {
        self.lock().ok()?.get(&key).copied()
    }

    fn insert(&self, key: u64) {
        if let Ok(mut map) = self.lock() {
            map.insert(key, value_of(key));
        }
    }

    fn fetch(&self, key: u64) -> bool {
        let mut hit = true;
        if let Ok(mut map) = self.lock() {
            let value = *map.entry(key).or_insert_with(|| {
                hit = false;
                value_of(key)
            });
            assert_eq!(value, value_of(key));
        }
        hit
    }

    fn len(&self) -> usize {
        self.lock().map_or(0, |map| map.len())
    }
}
