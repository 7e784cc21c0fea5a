//! What can be chosen.

use serde::Serialize;

use super::script::{self, Order};
use super::steady::MOST_FLOWS;
use super::{Error, Overload, Run, Settings};
use crate::Limits;
use crate::nf::{FunctionName, FunctionOptions};
use crate::system::SystemName;

/// A packet costs at most so many cycles.
pub const MOST_CYCLES: u64 = 10_000_000;

/// At most so many repetitions.
pub const MOST_RUNS: u32 = 100;

/// What is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// Open flows that send data in turns.
    #[default]
    Steady,
    /// Connections from SYN to FIN, UDP, echoes; verdicts are compared with those of one core.
    Connections,
    /// SYNs, each from another address, between the packets of connections.
    Flood,
}

impl Traffic {
    /// Every traffic with its name.
    pub const NAMES: [(&'static str, Self); 3] =
        [("steady", Self::Steady), ("connections", Self::Connections), ("flood", Self::Flood)];
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The function.
    pub function: FunctionName,
    /// What it is told.
    pub function_options: FunctionOptions,
    /// The systems; the first is what the others are compared with.
    pub systems: Vec<SystemName>,
    /// Threads that handle packets.
    pub cores: usize,
    /// What is sent.
    pub traffic: Traffic,
    /// Flows at a time.
    pub flows: u32,
    /// Cycles of work for each packet, one after the other.
    pub cycles: Vec<u64>,
    /// Packets of a run, about: connections are not cut.
    pub packets: u64,
    /// Runs of each system.
    pub repeat: u32,
    /// Flows that tables have room for; none: four times as many as there are, 131,072 at least.
    pub table: Option<usize>,
    /// Places of the ring to each core.
    pub ring: usize,
    /// What becomes of packets that find it full.
    pub overload: Overload,
    /// Where random draws begin.
    pub seed: u64,
}

impl Options {
    pub(super) fn check(&self) -> Result<(), Error> {
        let within = |what: &str, value: u64, most: u64| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::request(format!("expected 1 to {most} {what}, got {value}")))
        };
        within("flows", self.flows.into(), MOST_FLOWS.into())?;
        within("runs", self.repeat.into(), MOST_RUNS.into())?;
        within("packets", self.packets, 1 << 40)?;
        within("flows in a table", self.room() as u64, 1 << 26)?;
        match self.cycles.iter().find(|&&cycles| cycles > MOST_CYCLES) {
            Some(cycles) => {
                Err(Error::request(format!("expected at most {MOST_CYCLES} cycles, got {cycles}")))
            }
            None => Ok(()),
        }
    }

    /// Flows in tables.
    pub(super) fn room(&self) -> usize {
        self.table.unwrap_or_else(|| (4 * self.flows as usize).max(1 << 17))
    }

    pub(super) fn settings(&self, cycles: u64) -> Settings {
        let room = self.room();
        Settings {
            limits: Limits::new(room),
            seed: self.seed,
            cycles,
            ring: self.ring,
            overload: self.overload,
            pin: true,
            ..Settings::new(self.cores, room)
        }
    }

    /// Connections that have about so many packets.
    pub(super) fn script(&self) -> script::Options {
        const DATA: u16 = 16;
        // Of the kinds of connections, this many packets on average: measured, and nothing depends on it.
        let each = 19;
        script::Options {
            seed: self.seed,
            connections: u32::try_from(self.packets / each).unwrap_or(u32::MAX).max(1),
            at_a_time: self.flows,
            data: DATA,
            order: Order::Free,
        }
    }
}

/// What one run says.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub(super) run: Run,
    /// Packets forwarded per second.
    pub(super) rate: f64,
    pub(super) packets: u64,
    pub(super) forwarded: u64,
    pub(super) reordered: Option<u64>,
    pub(super) identical: Option<bool>,
    pub(super) established: Option<(u64, u64)>,
}
