//! Goodput over the attack rate, for every queue: figure 3.20.

use std::sync::atomic::AtomicBool;

use trueplane_pqueue::BadShape;
use trueplane_units::BitsPerSec;

use super::document::{Compare, Machine, Parameters, Row};
use super::options::{Options, Queue};
use super::pipeline::service::Work;
use super::pipeline::traffic::Traffic;
use super::pipeline::{Run, Settings, run};
use super::rivals::{Heap, TwoEnded};
use super::{Error, verdict};
use crate::policy::{Fcfs, Wsjf};
use crate::{BELIEF, Bounded, Capacity, Overflow};

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
