//! NetCache: heavy hitters by sketch, entries by sampled counters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::sketch::{Bloom, CountMin, Positions};
use crate::batched::{Plan, Policy};
use crate::hash::row;
use crate::table::{Entry, Mixed, Table};

/// Settings of NetCache.
#[derive(Clone, Copy, Debug)]
pub struct NetCacheOptions {
    /// Misses of a key within an interval, by the sketch, at which it is reported; at least 1. Above 65,535 none ever
    /// is.
    pub threshold: u32,
    /// Slots after which all statistics are cleared, at least 1. DySO §IV-B: one second.
    pub interval: u64,
    /// Counters of entries that are read for a batch, drawn with replacement. DySO §IV-B: 4 K.
    pub sample: u32,
    /// Rows of the sketch.
    pub sketch_rows: u32,
    /// 16-bit counters of each.
    pub sketch_width: u32,
    /// Arrays of the Bloom filter.
    pub bloom_arrays: u32,
    /// Bits of each.
    pub bloom_bits: u32,
    /// Slots that a report takes to the controller. The papers do not say; DySO §II-C has controllers that look at what an
    /// interval has brought when it is over.
    pub delay: u64,
    /// Reports that there may be at once, on their way and with the controller; what comes when there are so many is lost.
    pub queue: usize,
    /// Seed of the random draws.
    pub seed: u64,
}

impl NetCacheOptions {
    /// The sizes of the paper's prototype, reports that take no time, and a queue as long as a table of 64 K entries.
    pub fn new(threshold: u32, interval: u64, sample: u32, seed: u64) -> Self {
        Self {
            threshold,
            interval,
            sample,
            sketch_rows: 4,
            sketch_width: 1 << 16,
            bloom_arrays: 3,
            bloom_bits: 1 << 18,
            delay: 0,
            queue: 1 << 16,
            seed,
        }
    }
}

/// NetCache's cache of hot items.
///
/// Data plane: a hit counts in its entry's 16-bit counter, a miss in a count-min sketch. A key whose estimate has
/// reached the threshold and that is not in the Bloom filter enters it and is reported, once, with its estimate.
/// Controller: for each batch it reads the counters of a random sample of entries; the reports with the highest
/// estimates, the oldest first among equals, replace the sampled entries with the lowest counters, while the counter is
/// below the estimate. A report stays until it is used or cleared.
///
/// With the lookups of slots T, 2T, 3T, … everything is cleared: sketch, filter, counters, and also the reports that
/// wait with the controller, for they count an interval that is over, and against counters that begin at zero each of
/// them would win. Reports on their way arrive. The counter of a new entry begins with its report's estimate, so that it and the others count lookups of the same time;
/// it would else be the first to go.
///
/// Costs: O(1) a miss (seven places at random in the sketch and the filter), O(1) a hit, O(sample) a batch if there are
/// reports. Memory: 608 KB in the data plane and 2 B an entry, 24 B a report.
///
/// Source: X. Jin et al., *NetCache*, SOSP 2017, as DySO §II-C and §IV-B use it. Departures: every lookup is counted,
/// where NetCache has a sampler before its statistics that can be turned down; reports are lost only where the
/// queue is full; which sampled entries go, and what a new entry's counter is, the papers leave open. A
/// report may be older than the preceding batch, so that A2 of DySO's appendix does not hold.
#[derive(Clone, Debug)]
pub struct NetCache {
    options: NetCacheOptions,
    /// The slot of the next clearing.
    clearing: u64,
    sketch: CountMin,
    filter: Bloom,
    /// Counters of entries.
    counters: Vec<u16>,
    /// Whether an entry is there.
    held: Vec<bool>,
    entries: u32,
    /// On their way, by the slot at which they arrive: estimate and number.
    travelling: VecDeque<(u64, u16, u64, Mixed)>,
    /// Highest estimate first, then lowest number.
    reports: BinaryHeap<(u16, Reverse<u64>, Mixed)>,
    reported: u64,
    lost: u64,
    /// Estimates that the keys under way were reported with, in the order of the batch.
    under_way: VecDeque<u16>,
    draws: Xoshiro256PlusPlus,
    /// Kept for its memory.
    sampled: Vec<(u16, Entry)>,
}

impl NetCache {
    /// Makes a NetCache with these options.
    pub fn new(options: NetCacheOptions) -> Self {
        let interval = options.interval.max(1);
        Self {
            options: NetCacheOptions { interval, threshold: options.threshold.max(1), ..options },
            clearing: interval,
            sketch: CountMin::new(options.sketch_rows, options.sketch_width),
            filter: Bloom::new(options.bloom_arrays, options.bloom_bits),
            counters: Vec::new(),
            held: Vec::new(),
            entries: 0,
            travelling: VecDeque::new(),
            reports: BinaryHeap::new(),
            reported: 0,
            lost: 0,
            under_way: VecDeque::new(),
            draws: Xoshiro256PlusPlus::seed_from_u64(options.seed),
            sampled: Vec::new(),
        }
    }

    /// Reports so far, those that were lost included.
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Reports that found the queue full.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn clear(&mut self, now: u64) {
        self.arrive(now);
        self.sketch.clear();
        self.filter.clear();
        self.counters.fill(0);
        self.reports.clear();
        self.under_way.iter_mut().for_each(|estimate| *estimate = 0);
    }

    #[inline]
    fn missed(&mut self, key: Mixed, now: u64) {
        let positions = Positions::of(key);
        let estimate = self.sketch.add(positions);
        if u32::from(estimate) >= self.options.threshold && !self.filter.insert(positions) {
            self.report(key, estimate, now);
        }
    }

    fn report(&mut self, key: Mixed, estimate: u16, now: u64) {
        self.reported += 1;
        if self.travelling.len() + self.reports.len() < self.options.queue {
            let arrival = now.saturating_add(self.options.delay);
            self.travelling.push_back((arrival, estimate, self.reported, key));
        } else {
            self.lost += 1;
        }
    }

    /// Reports that are there by `now` are with the controller.
    fn arrive(&mut self, now: u64) {
        let arrived = self.travelling.iter().take_while(|&&(arrival, ..)| arrival <= now).count();
        let arrived = self.travelling.drain(..arrived);
        self.reports.extend(arrived.map(|(_, estimate, number, key)| (estimate, Reverse(number), key)));
    }

    /// Reads a sample of the counters that are below `most`, the highest first.
    fn sample(&mut self, most: u16) {
        self.sampled.clear();
        if self.entries == 0 {
            return;
        }
        for _ in 0..self.options.sample {
            let entry = Entry(row(self.draws.next_u64(), self.entries));
            let counter = self.counters[entry.index()];
            if counter < most && self.held[entry.index()] {
                self.sampled.push((counter, entry));
            }
        }
        self.sampled.sort_unstable_by(|a, b| b.cmp(a));
        self.sampled.dedup();
    }
}

impl Policy for NetCache {
    fn begin(&mut self, entries: u32, _batch: u64) {
        self.entries = entries;
        self.counters = vec![0; entries as usize];
        self.held = vec![false; entries as usize];
    }

    #[inline]
    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64) {
        if now >= self.clearing {
            self.clearing = self.clearing.saturating_add(self.options.interval);
            self.clear(now);
        }
        match entry {
            Some(entry) => {
                let counter = &mut self.counters[entry.index()];
                *counter = counter.saturating_add(1);
            }
            None => self.missed(key, now),
        }
    }

    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>) {
        self.arrive(plan.now());
        let mut sampled = false;
        while plan.is_open() {
            let Some(&(estimate, _, key)) = self.reports.peek() else { break };
            // Reported while it was under way, it may have arrived since; and one report on its way over a clearing may
            // arrive together with the next interval's.
            if plan.holds(key) {
                self.reports.pop();
                continue;
            }
            if plan.has_free() {
                plan.insert(key);
            } else {
                if !sampled {
                    self.sample(estimate);
                    sampled = true;
                }
                let Some(&(counter, victim)) = self.sampled.last() else { break };
                if counter >= estimate {
                    break;
                }
                self.sampled.pop();
                plan.replace(victim, key);
            }
            self.under_way.push_back(estimate);
            self.reports.pop();
        }
    }

    fn evicted(&mut self, _key: Mixed, entry: Entry) {
        self.held[entry.index()] = false;
    }

    fn installed(&mut self, _key: Mixed, entry: Entry, _now: u64) {
        self.held[entry.index()] = true;
        self.counters[entry.index()] = self.under_way.pop_front().unwrap_or(0);
    }

    fn failed(&mut self, _key: Mixed) {
        self.under_way.pop_front();
    }
}
