//! What can be chosen.

use std::sync::Arc;

use serde::Serialize;
use trueplane_units::{BitsPerSec, Nanos};

use super::Error;
use super::pipeline::Settings;
use super::pipeline::traffic::{Source, Traffic};
use crate::Packet;

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

    pub(super) fn traffic(&self, attack_rate: BitsPerSec) -> Result<Traffic, Error> {
        let innocent = Source { packets: self.innocent.clone(), rate: self.innocent_rate };
        Traffic::new(innocent, Source { packets: Arc::from([self.attack]), rate: attack_rate })
    }
}
