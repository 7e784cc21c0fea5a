//! The queues that pipelines are run with.

use std::sync::atomic::AtomicBool;

use trueplane_pqueue::BadShape;
use trueplane_units::choices;

use super::Error;
use super::pipeline::service::Work;
use super::pipeline::traffic::Traffic;
use super::pipeline::{Run, Settings, run};
use super::rivals::{Heap, TwoEnded};
use crate::policy::{Fcfs, Wsjf};
use crate::{Bounded, Capacity, Overflow};

/// Properties of a queue that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Packet that goes when the buffer is full: the worst, if the queue can find it.
    pub overflow: Overflow,
}

choices! {
    /// Queue that orders the packets that wait.
    pub enum Queue: Properties {
        /// WSJF over a bounded binary heap; it drops the newcomer.
        Heap = "heap" { overflow: Overflow::DropNewcomer },
        /// WSJF over a min-max heap; it drops the worst.
        TwoEnded = "two-ended" { overflow: Overflow::DropWorst },
        /// WSJF over the find-first-set queue; it drops the worst.
        Ffs = "ffs" { overflow: Overflow::DropWorst },
        /// First come, first served; it drops the newcomer.
        Fcfs = "fcfs" { overflow: Overflow::DropNewcomer },
    }
}

impl Queue {
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
        let (capacity, overflow) = (Some(Capacity::Packets(packets)), self.properties().overflow);
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
