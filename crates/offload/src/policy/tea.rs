//! Flow state with its home on a server: exact counts on the miss path, idle entries leave.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::counters::{Counted, Counters};
use crate::batched::{Plan, Policy};
use crate::hash::row;
use crate::table::{Entry, Mixed, Table};

/// Settings of TEA.
#[derive(Clone, Copy, Debug)]
pub struct TeaOptions {
    /// Misses of a flow within an interval that make it worth an entry, at least 1.
    pub threshold: u32,
    /// Slots after which the server begins to count anew, at least 1.
    pub interval: u64,
    /// Time stamps of entries that are read for a batch, drawn with replacement.
    pub sample: u32,
    /// Seed of the random draws.
    pub seed: u64,
}

/// The table of a network function (NAT, load balancer) in front of a server that holds the state of all flows.
///
/// Data plane: a hit writes the time into its entry's time stamp; a miss goes through the server, which counts it
/// exactly, for its flow and the current interval. Controller: the flows that missed since the last decision and have
/// reached the threshold within the interval are candidates. Each has a patience: the slots in which it is looked up as
/// often as the threshold says, at the mean rate since its first miss of the interval. The least patient come in first.
/// For each batch the controller reads the time stamps of a random sample of entries; those that have been idle longest
/// go, while they have been idle for longer than the candidate's patience. So an entry stays while the sample has one
/// that was idle for longer, and whoever takes its place is looked up many times (the threshold) in the time in which
/// it was not looked up once.
///
/// With the lookups of slots T, 2T, 3T, … the server forgets its counts; time stamps stay.
///
/// Costs: O(1) a lookup; O(sample) a batch if there are candidates, and O(c + B log B) for c of them. Memory: 43 to 171
/// B for each flow that missed within the interval, 8 B an entry.
///
/// Source: DySO §II-C and §IV, where TEA (D. Kim et al., SIGCOMM 2020) stands for NAT boxes that find hot items by a
/// fixed interval and a prefixed threshold in a control loop like NetCache's. TEA's own text was not at hand: this is
/// modelled on that description and on what flow tables need, not on TEA's implementation; its extension of the table
/// into the servers' memory is the way that a miss takes here.
#[derive(Clone, Debug)]
pub struct Tea {
    options: TeaOptions,
    /// The slot of the next clearing.
    clearing: u64,
    flows: Counters<Flow>,
    /// When the entries were looked up last; never before any slot where there is none.
    last: Vec<u64>,
    entries: u32,
    batch: usize,
    /// The slot of the last decision.
    since: u64,
    /// Flows over the threshold that missed since, each once.
    recent: Vec<Mixed>,
    /// With their patience. Kept for its memory.
    candidates: Vec<(u64, Mixed)>,
    draws: Xoshiro256PlusPlus,
    /// Kept for its memory.
    sampled: Vec<(u64, Entry)>,
}

/// The time stamp of an entry that is not there.
const NONE: u64 = u64::MAX;

/// Misses of a flow that the server has counted.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// The slots of the first and the last miss in the interval.
    first: u64,
    last: u64,
    count: u32,
}

impl Flow {
    /// The slots in which it is looked up `threshold` times, rounded down.
    fn patience(&self, now: u64, threshold: u32) -> u64 {
        let slots = u128::from(now.saturating_sub(self.first)) * u128::from(threshold)
            / u128::from(self.count.max(1));
        u64::try_from(slots).unwrap_or(u64::MAX)
    }
}

impl Counted for Flow {
    const VACANT: Self = Self { first: 0, last: 0, count: 0 };

    fn is_vacant(&self) -> bool {
        self.count == 0
    }
}

impl Tea {
    /// Makes a TEA with these options.
    pub fn new(options: TeaOptions) -> Self {
        let interval = options.interval.max(1);
        Self {
            options: TeaOptions { interval, threshold: options.threshold.max(1), ..options },
            clearing: interval,
            flows: Counters::new(),
            last: Vec::new(),
            entries: 0,
            batch: 0,
            since: 0,
            recent: Vec::new(),
            candidates: Vec::new(),
            draws: Xoshiro256PlusPlus::seed_from_u64(options.seed),
            sampled: Vec::new(),
        }
    }

    #[inline]
    fn missed(&mut self, key: Mixed, now: u64) {
        if self.flows.is_full() {
            self.flows.rearrange(|_, _| true);
        }
        let (threshold, since) = (self.options.threshold, self.since);
        let is_new = self.flows.update(key, |flow| {
            if flow.is_vacant() {
                flow.first = now;
            }
            flow.count = flow.count.saturating_add(1);
            // With a decision since, the list has begun anew.
            let is_new = flow.count == threshold || flow.count > threshold && flow.last < since;
            flow.last = now;
            is_new
        });
        if is_new {
            self.recent.push(key);
        }
    }

    /// The candidates, the least patient first, and no more than can matter: at most a batch of them has arrived since.
    fn gather(&mut self, now: u64) {
        let threshold = self.options.threshold;
        let flows = self
            .recent
            .drain(..)
            .filter_map(|key| Some((self.flows.find(key)?.patience(now, threshold), key)));
        self.candidates.clear();
        self.candidates.extend(flows);
        let most = self.batch.saturating_mul(2);
        if self.candidates.len() > most {
            self.candidates.select_nth_unstable(most);
            self.candidates.truncate(most);
        }
        self.candidates.sort_unstable();
    }

    /// Reads a sample of the time stamps before slot `before`, the latest first.
    fn sample(&mut self, before: u64) {
        self.sampled.clear();
        if self.entries == 0 {
            return;
        }
        for _ in 0..self.options.sample {
            let entry = Entry(row(self.draws.next_u64(), self.entries));
            let last = self.last[entry.index()];
            if last < before {
                self.sampled.push((last, entry));
            }
        }
        self.sampled.sort_unstable_by(|a, b| b.cmp(a));
        self.sampled.dedup();
    }
}

impl Policy for Tea {
    fn begin(&mut self, entries: u32, batch: u64) {
        self.entries = entries;
        self.batch = usize::try_from(batch).unwrap_or(usize::MAX);
        self.last = vec![NONE; entries as usize];
    }

    #[inline]
    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64) {
        if now >= self.clearing {
            self.clearing = self.clearing.saturating_add(self.options.interval);
            self.flows.clear();
            self.recent.clear();
        }
        match entry {
            Some(entry) => self.last[entry.index()] = now,
            None => self.missed(key, now),
        }
    }

    fn approach(&self, key: Mixed) {
        self.flows.approach(key);
    }

    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>) {
        let now = plan.now();
        self.gather(now);
        let candidates = std::mem::take(&mut self.candidates);
        let mut sampled = false;
        for &(patience, key) in &candidates {
            if !plan.is_open() {
                break;
            }
            // Missed while it was under way, it may have arrived since.
            if plan.holds(key) {
                continue;
            }
            if plan.has_free() {
                plan.insert(key);
                continue;
            }
            if !sampled {
                self.sample(now.saturating_sub(patience));
                sampled = true;
            }
            let Some(&(last, victim)) = self.sampled.last() else { break };
            if now - last <= patience {
                break;
            }
            self.sampled.pop();
            plan.replace(victim, key);
        }
        self.candidates = candidates;
        self.since = plan.now();
    }

    fn evicted(&mut self, _key: Mixed, entry: Entry) {
        self.last[entry.index()] = NONE;
    }

    fn installed(&mut self, _key: Mixed, entry: Entry, now: u64) {
        self.last[entry.index()] = now;
    }
}
