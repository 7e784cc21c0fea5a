//! What users and the attacker send, and when it comes.

use std::sync::Arc;

use trueplane_surge::Packet;
use trueplane_surge::tally::Class;
use trueplane_units::{BitsPerSec, Nanos};

/// A source sends at most so fast.
const MOST_RATE: BitsPerSec = BitsPerSec(10_000_000_000_000);

/// The name of a packet: its sender, and its place in the list of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Sender of the packet.
    pub(super) class: Class,
    /// Its place in the list of its source.
    pub(super) index: u32,
}

/// Packets that are sent round and round, with the same time from each to the next.
#[derive(Clone, Debug)]
pub(super) struct Source {
    packets: Arc<[Packet]>,
    index: u32,
    /// Time from one packet to the next, in ns.
    gap: f64,
    sent: u64,
    /// Time of the next packet in ns.
    at: u64,
}

impl Source {
    /// These packets, at this rate over one round; 0 sends nothing.
    ///
    /// # Errors
    ///
    /// If it sends no packets, or is faster than 10 Tbit/s.
    pub(super) fn new(packets: Arc<[Packet]>, rate: BitsPerSec) -> Result<Self, String> {
        let bits: u64 = packets.iter().map(|packet| u64::from(packet.bits)).sum();
        if rate.0 > 0 && bits == 0 {
            return Err("expected packets to send".to_owned());
        }
        if rate > MOST_RATE {
            return Err(format!("expected a rate of at most {MOST_RATE:#}, got {rate:#}"));
        }
        let gap = bits as f64 * 1e9 / (rate.0 as f64 * packets.len() as f64);
        let at = if rate.0 == 0 { u64::MAX } else { 0 };
        Ok(Self { packets, index: 0, gap, sent: 0, at })
    }

    #[inline]
    fn next(&mut self) -> u32 {
        self.sent += 1;
        self.at = (self.sent as f64 * self.gap).ceil() as u64;
        let next = if self.index as usize + 1 == self.packets.len() { 0 } else { self.index + 1 };
        std::mem::replace(&mut self.index, next)
    }
}

/// The packets of users and of the attacker in the order in which they come.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// What users send.
    pub(super) innocent: Source,
    /// What the attacker sends.
    pub(super) attack: Source,
}

impl Traffic {
    /// The next packet, if it comes before this time; of two at the same time, that of the user first.
    #[inline]
    pub(super) fn next_before(&mut self, before: Nanos) -> Option<Task> {
        let (class, source) = if self.innocent.at <= self.attack.at {
            (Class::Innocent, &mut self.innocent)
        } else {
            (Class::Attack, &mut self.attack)
        };
        (source.at < before.0).then(|| Task { class, index: source.next() })
    }

    /// The packet as the scheduler knows it.
    #[inline]
    pub(super) fn packet(&self, task: Task) -> Packet {
        let source = match task.class {
            Class::Innocent => &self.innocent,
            Class::Attack => &self.attack,
        };
        source.packets[task.index as usize]
    }
}
