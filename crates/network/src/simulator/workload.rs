//! Flows that start as a Poisson process, with sizes from a distribution.

use std::io::Read;
use std::ops::RangeInclusive;

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;
use trueplane_units::{Nanos, choices};

use super::flow::FlowSpec;

/// Sizes that a flow can have: at 1 Gbit/s, the largest takes more than two hours.
const MOST: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// A distribution of flow sizes that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("flow sizes: expected {expected}, got {got}")]
pub struct BadSizes {
    /// Description of what it can be.
    pub expected: &'static str,
    /// Text of what it is.
    pub got: String,
}

/// Sizes of flows as steps: a size, and the share of flows that are no larger.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    steps: Vec<(u64, f64)>,
}

impl Sizes {
    /// A distribution of these steps.
    ///
    /// # Errors
    ///
    /// If there is no step, sizes or shares do not ascend or are out of range, or the last share is not 1.
    pub fn new(steps: Vec<(u64, f64)>) -> Result<Self, BadSizes> {
        let bad = |expected, got: String| Err(BadSizes { expected, got });
        let is_wrong = |pair: &[(u64, f64)]| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1;
        if let Some(pair) = steps.windows(2).find(|pair| is_wrong(pair)) {
            return bad("sizes and shares that ascend", format!("{:?} before {:?}", pair[0], pair[1]));
        }
        if let Some(step) =
            steps.iter().find(|(bytes, share)| !MOST.contains(bytes) || !(0.0..=1.0).contains(share))
        {
            return bad("1 to 10^12 bytes and a share from 0 to 1", format!("{step:?}"));
        }
        match steps.last() {
            Some((_, share)) if (share - 1.0).abs() < 1e-9 => Ok(Self { steps }),
            Some((_, share)) => bad("1 as the last share", share.to_string()),
            None => bad("one size or more", "none".to_owned()),
        }
    }

    /// The data-mining workload as SP-PIFO's authors drew it: a draw falls to the step below.
    pub fn data_mining() -> Self {
        let steps: [(u64, f64); 12] = [
            (1, 0.1),
            (180, 0.2),
            (216, 0.3),
            (560, 0.4),
            (900, 0.5),
            (1_100, 0.6),
            (1_870, 0.7),
            (3_160, 0.8),
            (10_000, 0.9),
            (400_000, 0.95),
            (3_160_000, 0.98),
            (100_000_000, 1.0),
        ];
        Self { steps: steps.to_vec() }
    }

    /// The web-search workload as SP-PIFO's authors drew it: a draw falls to the step below, and 15 % of the flows have one byte.
    pub fn web_search() -> Self {
        let steps: [(u64, f64); 11] = [
            (1, 0.15),
            (10_000, 0.2),
            (20_000, 0.3),
            (30_000, 0.4),
            (50_000, 0.53),
            (80_000, 0.6),
            (200_000, 0.7),
            (1_000_000, 0.8),
            (2_000_000, 0.9),
            (5_000_000, 0.97),
            (10_000_000, 1.0),
        ];
        Self { steps: steps.to_vec() }
    }

    /// Reads a table in CSV with the columns `bytes` and `cdf`: a size, and the share of flows that are no larger, from 0 to 1.
    ///
    /// # Errors
    ///
    /// As [`Sizes::new`], or if a column is missing or a line has no such numbers.
    pub fn read(table: impl Read) -> Result<Self, BadSizes> {
        let bad = |expected, got: String| BadSizes { expected, got };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(table);
        let header = reader.headers().map_err(|error| bad("CSV", error.to_string()))?.clone();
        let place = |name: &str| header.iter().position(|column| column == name);
        let (Some(bytes), Some(share)) = (place("bytes"), place("cdf")) else {
            return Err(bad("the columns bytes and cdf", format!("{:?}", header.iter().collect::<Vec<_>>())));
        };
        let mut steps = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| bad("CSV", error.to_string()))?;
            let text = |place: usize| record.get(place).unwrap_or_default();
            let step = (text(bytes).parse::<u64>(), text(share).parse::<f64>());
            let (Ok(bytes), Ok(share)) = step else {
                let line = record.position().map_or(0, csv::Position::line);
                let got = format!("{:?} and {:?} in line {line}", text(bytes), text(share));
                return Err(bad("a whole number of bytes and a share from 0 to 1", got));
            };
            steps.push((bytes, share));
        }
        Self::new(steps)
    }

    /// The sizes of these flows, each as often as it occurs. Sizes of 1 byte, if there is no flow.
    pub fn of(flows: impl Iterator<Item = u64>) -> Self {
        let mut bytes: Vec<u64> = flows.collect();
        bytes.sort_unstable();
        let all = bytes.len() as f64;
        let mut steps: Vec<(u64, f64)> = Vec::new();
        for (rank, size) in (1_u64..).zip(bytes) {
            let share = rank as f64 / all;
            match steps.last_mut() {
                Some((last, upto)) if *last == size => *upto = share,
                _ => steps.push((size, share)),
            }
        }
        if steps.is_empty() { Self { steps: vec![(1, 1.0)] } } else { Self { steps } }
    }

    /// The distribution in which each size is another, by a function that ascends.
    #[must_use]
    pub fn mapped(&self, other: impl Fn(u64) -> u64) -> Self {
        Self { steps: self.steps.iter().map(|&(bytes, share)| (other(bytes), share)).collect() }
    }

    /// The sizes that occur, each with its share of the flows.
    pub fn shares(&self) -> impl Iterator<Item = (u64, f64)> {
        let below = std::iter::once(0.0).chain(self.steps.iter().map(|(_, share)| *share));
        self.steps
            .iter()
            .zip(below)
            .map(|(&(bytes, share), below)| (bytes, share - below))
            .filter(|(_, share)| *share > 0.0)
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        self.shares().map(|(bytes, share)| bytes as f64 * share).sum()
    }

    /// The size at a share from 0 to below 1.
    pub fn at(&self, share: f64) -> u64 {
        let index = self.steps.partition_point(|(_, upto)| *upto <= share);
        self.steps[index.min(self.steps.len() - 1)].0
    }
}

choices! {
    /// A rule for who sends to whom.
    pub enum Pattern {
        /// Between two random hosts.
        Random = "random",
        /// From each host to one other host that stays the same, and each host receives from one.
        Permutation = "permutation",
        /// From many hosts at once to one random host.
        Incast = "incast",
    }
}

/// A Poisson process of flows.
#[derive(Clone, Debug)]
pub struct Poisson {
    random: Xoshiro256PlusPlus,
    hosts: u32,
    /// Mean time between two starts, in nanoseconds.
    gap: f64,
    sizes: Sizes,
    /// Time of the last start, in nanoseconds.
    now: f64,
    until: Nanos,
    /// Receiver of each host, if it stays the same.
    receivers: Vec<u32>,
    /// Flows that start at once, at least 1.
    fan_in: u32,
    /// Flows that start at the time of the last one.
    waiting: Vec<FlowSpec>,
}

impl Poisson {
    /// `rate` flow starts a second between random pairs of `hosts` hosts, at least two, unlike each other, before the time `until`.
    pub fn new(hosts: u32, rate: f64, sizes: Sizes, until: Nanos, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self {
            random,
            hosts,
            gap: 1e9 / rate,
            sizes,
            now: 0.0,
            until,
            receivers: Vec::new(),
            fan_in: 1,
            waiting: Vec::new(),
        }
    }

    /// The same number of flows by another rule. With [`Pattern::Incast`], `fan_in` flows start at once, at most as many as there are other hosts.
    #[must_use]
    pub fn with_pattern(mut self, pattern: Pattern, fan_in: u32) -> Self {
        match pattern {
            Pattern::Random => {}
            Pattern::Permutation => {
                // A ring in random order: nobody sends to himself.
                let mut ring: Vec<u32> = (0..self.hosts).collect();
                ring.shuffle(&mut self.random);
                self.receivers = vec![0; ring.len()];
                for (place, &host) in ring.iter().enumerate() {
                    self.receivers[host as usize] = ring[(place + 1) % ring.len()];
                }
            }
            Pattern::Incast => {
                self.fan_in = fan_in.clamp(1, self.hosts - 1);
                self.gap *= f64::from(self.fan_in);
            }
        }
        self
    }

    /// Flows of one start to one host, from as many others.
    fn gather(&mut self, start: Nanos) {
        let to = self.random.random_range(0..self.hosts);
        let mut senders: Vec<u32> = (0..self.hosts).filter(|host| *host != to).collect();
        let (chosen, _) = senders.partial_shuffle(&mut self.random, self.fan_in as usize);
        for &from in &*chosen {
            let bytes = self.sizes.at(self.random.random());
            self.waiting.push(FlowSpec { start, from, to, bytes });
        }
    }
}

impl Iterator for Poisson {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        if let Some(flow) = self.waiting.pop() {
            return Some(flow);
        }
        let wait: f64 = Exp1.sample(&mut self.random);
        self.now += wait * self.gap;
        let start = Nanos(self.now as u64);
        if start >= self.until {
            return None;
        }
        if self.fan_in > 1 {
            self.gather(start);
            return self.waiting.pop();
        }
        let from = self.random.random_range(0..self.hosts);
        let to = match self.receivers.get(from as usize) {
            Some(to) => *to,
            None => {
                let other = self.random.random_range(0..self.hosts - 1);
                other + u32::from(other >= from)
            }
        };
        let bytes = self.sizes.at(self.random.random());
        Some(FlowSpec { start, from, to, bytes })
    }
}
