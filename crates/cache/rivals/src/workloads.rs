//! What is asked of the caches.

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Zipf};

use crate::rivals::Rival;
use crate::value_of;

/// Operations of a round.
const OPERATIONS: usize = 2_000_000;

/// Keys, and what is done with them.
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) capacity: u64,
    /// Keys that are fetched before the clock runs.
    pub(crate) warm_up: Vec<u64>,
    pub(crate) keys: Vec<u64>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// All are there.
    Hits,
    /// One of twenty is written.
    Writes,
    /// What is not there is fetched.
    Fetches,
}

impl Workload {
    /// One operation; whether it was a hit. Checks the answer.
    #[inline]
    pub(crate) fn step(&self, cache: &dyn Rival, turn: usize, key: u64) -> bool {
        match self.kind {
            Kind::Fetches => cache.fetch(key),
            Kind::Writes if turn % 20 == 0 => {
                cache.insert(key);
                false
            }
            Kind::Hits | Kind::Writes => {
                let found = cache.get(key);
                assert!(found.is_none_or(|value| value == value_of(key)), "a wrong answer");
                found.is_some()
            }
        }
    }
}

fn zipf(keys: u64, exponent: f64, count: usize, seed: u64) -> Vec<u64> {
    let mut draws = SmallRng::seed_from_u64(seed);
    let law = Zipf::new(keys as f64, exponent).expect("an exponent above zero");
    (0..count).map(|_| law.sample(&mut draws) as u64).collect()
}

pub(crate) fn synthetic() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for capacity in [10_000u64, 1_000_000] {
        for exponent in [0.9, 1.1] {
            let about = format!("Zipf {exponent}, {capacity} entries");
            // Half of the capacity: no shard overflows.
            let fit = capacity / 2;
            workloads.push(Workload {
                name: format!("hits only, {about}"),
                capacity,
                warm_up: (1..=fit).collect(),
                keys: zipf(fit, exponent, OPERATIONS, 1),
                kind: Kind::Hits,
            });
            let many = |kind, name: &str| Workload {
                name: format!("{name}, {about}, ten times as many keys"),
                capacity,
                warm_up: zipf(10 * capacity, exponent, OPERATIONS, 2),
                keys: zipf(10 * capacity, exponent, OPERATIONS, 3),
                kind,
            };
            workloads.push(many(Kind::Writes, "95% reads, 5% writes"));
            workloads.push(many(Kind::Fetches, "fetches"));
        }
        let mut draws = SmallRng::seed_from_u64(4);
        let popular = zipf(capacity * 2, 0.9, OPERATIONS, 5);
        let mut scan = 1 << 40;
        let keys = popular.into_iter().map(|key| {
            let is_scan = draws.random_range(0..4) == 0;
            scan += u64::from(is_scan);
            if is_scan { scan } else { key }
        });
        workloads.push(Workload {
            name: format!("a quarter of the requests scan, {capacity} entries"),
            capacity,
            warm_up: Vec::new(),
            keys: keys.collect(),
            kind: Kind::Fetches,
        });
    }
    workloads
}

/// A trace in CSV whose second column is the key, as a number or as any text.
pub(crate) fn real(path: &str) -> Option<Workload> {
    let text = std::fs::read_to_string(path).map_err(|error| eprintln!("{path}: {error}")).ok()?;
    let mut names = std::collections::HashMap::new();
    let keys: Vec<u64> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1))
        .map(|name| {
            let next = names.len() as u64;
            *names.entry(name.to_owned()).or_insert(next)
        })
        .take(OPERATIONS)
        .collect();
    let capacity = (names.len() as u64 / 10).max(1);
    Some(Workload {
        name: format!("{path}, {capacity} entries"),
        capacity,
        warm_up: Vec::new(),
        keys,
        kind: Kind::Fetches,
    })
}
