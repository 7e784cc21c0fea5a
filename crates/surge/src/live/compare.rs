//! Goodput over the attack rate, for every queue: figure 3.20.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use trueplane_pqueue::BadShape;
use trueplane_units::{BitsPerSec, Nanos};

use super::document::{Compare, Machine, Parameters, Row};
use super::pipeline::service::Work;
use super::pipeline::traffic::{Source, Traffic};
use super::pipeline::{Run, Settings, run};
use super::rivals::{Heap, TwoEnded};
use super::{Error, verdict};
use crate::policy::{Fcfs, Wsjf};
use crate::{BELIEF, Bounded, Capacity, Overflow, Packet};

/// A run lasts at most so long, warming up included.
pub const LONGEST: Nanos = Nanos(60_000_000_000);

/// The buffer has room for at most so many packets.
pub const MOST_BUFFERED: usize = 1 << 22;

/// The receive ring has at most so many descriptors.
pub const MOST_DESCRIPTORS: usize = 1 << 20;

/// The hand-over has at most so many slots.
pub const MOST_DEPTH: usize = 64;

/// A job takes at most so long: a run cannot end in the middle of one.
pub const LONGEST_JOB: Nanos = Nanos(1_000_000_000);

/// What orders the packets that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// WSJF over a bounded binary heap; it drops the newcomer.
    Heap,
    /// WSJF over a min-max heap; it drops the worst.
    TwoEnded,
    /// WSJF over the find-first-set queue; it drops the worst.
    Ffs,
    /// First come, first served; it drops the newcomer.
    Fcfs,
}

impl Queue {
    /// Every queue with its name.
    pub const NAMES: [(&'static str, Self); 4] =
        [("heap", Self::Heap), ("two-ended", Self::TwoEnded), ("ffs", Self::Ffs), ("fcfs", Self::Fcfs)];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, other)| *other == self).map_or("", |(name, _)| name)
    }

    /// What goes when the buffer is full: the worst, if the queue can find it.
    pub fn overflow(self) -> Overflow {
        match self {
            Self::Heap | Self::Fcfs => Overflow::DropNewcomer,
            Self::TwoEnded | Self::Ffs => Overflow::DropWorst,
        }
    }

    /// Runs a pipeline with a buffer of `packets` in this order.
    ///
    /// # Errors
    ///
    /// If there cannot be such a buffer; as [`run()`].
    pub fn run<W: Work + Send>(
        self,
        packets: usize,
        traffic: &Traffic,
        settings: &Settings,
        work: W,
        interrupted: &AtomicBool,
    ) -> Result<Run, Error> {
        let (capacity, overflow) = (Some(Capacity::Packets(packets)), self.overflow());
        // One more than the buffer, as dropping the worst needs.
        let room = packets + 1;
        let refused = |error: BadShape| Error::request(error.to_string());
        macro_rules! bounded {
            ($policy:expr) => {
                run(
                    traffic,
                    Bounded::new($policy, capacity, overflow).map_err(refused)?,
                    settings,
                    work,
                    interrupted,
                )
            };
        }
        match self {
            Self::Heap => bounded!(Heap::new(room)),
            Self::TwoEnded => bounded!(TwoEnded::new(room)),
            Self::Fcfs => bounded!(Fcfs::new(room)),
            Self::Ffs => bounded!(Wsjf::new(room).map_err(refused)?),
        }
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the worker does, in words.
    pub workload: String,
    /// Whether jobs take what they take, and packets say what that was before the run; else what packets say.
    pub is_real: bool,
    /// The queues.
    pub queues: Vec<Queue>,
    /// Packets of users, sent round and round.
    pub innocent: Arc<[Packet]>,
    /// How fast users send.
    pub innocent_rate: BitsPerSec,
    /// Every packet of the attacker.
    pub attack: Packet,
    /// How fast he sends.
    pub attack_rates: Vec<BitsPerSec>,
    /// Packets that may wait.
    pub buffer: usize,
    /// The machine and its time.
    pub settings: Settings,
    /// The seed of the packets of users, to be told.
    pub seed: u64,
}

impl Options {
    /// Refuses what makes no sense.
    ///
    /// # Errors
    ///
    /// In one line, what.
    pub fn check(&self) -> Result<(), Error> {
        let within = |what: &str, value: usize, most: usize| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::request(format!("expected {what} of 1 to {most}, got {value}")))
        };
        within("a buffer of packets", self.buffer, MOST_BUFFERED)?;
        within("a ring of descriptors", self.settings.ring, MOST_DESCRIPTORS)?;
        within("a hand-over of slots", self.settings.depth, MOST_DEPTH)?;
        let Settings { warm_up, duration, .. } = self.settings;
        if duration.0 == 0 {
            return Err(Error::request("expected a duration above zero, such as 1s"));
        }
        let together = warm_up.after(duration);
        if together > LONGEST {
            return Err(Error::request(format!(
                "expected a run of at most {LONGEST:#} with its warm-up, got {together:#}"
            )));
        }
        if self.attack_rates.contains(&BitsPerSec(0)) {
            return Err(Error::request(
                "expected attack rates above zero: without an attack it is measured anyway",
            ));
        }
        let jobs = self.innocent.iter().chain([&self.attack]).map(|packet| packet.work);
        match jobs.max().filter(|&job| job > LONGEST_JOB) {
            None => Ok(()),
            Some(job) => {
                Err(Error::request(format!("expected jobs of at most {LONGEST_JOB:#}, got {job:#}")))
            }
        }
    }

    /// E\[P\] / E\[J\]: what the worker could serve of users if a scheduler cost nothing, in bits per second.
    pub fn most_rate(&self) -> f64 {
        let bits: u64 = self.innocent.iter().map(|packet| u64::from(packet.bits)).sum();
        let work: u64 = self.innocent.iter().map(|packet| packet.work.0).sum();
        bits as f64 * 1e9 / work.max(1) as f64
    }

    fn traffic(&self, attack_rate: BitsPerSec) -> Result<Traffic, Error> {
        let innocent = Source { packets: self.innocent.clone(), rate: self.innocent_rate };
        Traffic::new(innocent, Source { packets: Arc::from([self.attack]), rate: attack_rate })
    }
}

/// Who wants to know how far it is, and may stop it.
pub trait Observer {
    /// So many runs are to come.
    fn begin(&self, runs: u64);

    /// One of them is done.
    fn advance(&self);

    /// Raised to stop it.
    fn interrupted(&self) -> &AtomicBool;
}

/// Measures every queue without an attack and at every attack rate, with a worker from `worker` for each run. The queues take turns, so
/// that a machine that is busy for a while is so for all of them.
///
/// # Errors
///
/// What makes no sense of the options; if threads cannot be had; if the observer stops it.
///
/// # Panics
///
/// If the work does.
pub fn compare<W: Work + Send>(
    options: &Options,
    worker: impl Fn() -> W,
    observer: &dyn Observer,
) -> Result<Compare, Error> {
    options.check()?;
    let rates: Vec<BitsPerSec> =
        [BitsPerSec(0)].into_iter().chain(options.attack_rates.iter().copied()).collect();
    // Before all work, so that a rate that cannot be sent is told at once.
    let traffics: Vec<Traffic> = rates.iter().map(|&rate| options.traffic(rate)).collect::<Result<_, _>>()?;
    observer.begin((rates.len() * options.queues.len()) as u64);
    let machine = Machine::look();
    let mut rows: Vec<Row> = Vec::new();
    for (&rate, traffic) in rates.iter().zip(&traffics) {
        for &queue in &options.queues {
            let run =
                queue.run(options.buffer, traffic, &options.settings, worker(), observer.interrupted())?;
            let baseline = rows.iter().find(|row| row.queue == queue.name()).map(|row| row.goodput_bps);
            rows.push(Row::new(queue, rate, &run, baseline, options));
            observer.advance();
        }
    }
    rows.sort_by_key(|row| options.queues.iter().position(|queue| queue.name() == row.queue));
    let mut found = Compare {
        study: "surge.pipeline",
        version: env!("CARGO_PKG_VERSION"),
        belief: BELIEF,
        parameters: Parameters::new(options),
        machine,
        rows,
        verdict: Vec::new(),
    };
    found.verdict = verdict::on_compare(&found);
    Ok(found)
}
