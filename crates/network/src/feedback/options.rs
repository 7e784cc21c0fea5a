//! The parameters of `sched feedback`.

use trueplane_sched::choice::RankChoice;
use trueplane_sched::distribution::{Distribution, Shape};
use trueplane_sched::policy::{PushDown, SchedulerName};
use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{
    BitsPerSec, Bytes, Choices, List, Nanos, PerSecond, Positive, Within, distinct, parameters,
};

use crate::fabric::TransportName;

/// Queues of the port, at most.
const MOST_QUEUES: u64 = 64;
/// Packets that a queue holds, at most.
const MOST_DEPTH: u64 = 1 << 16;
/// Bytes of the largest flow.
const MOST_FLOW: u64 = 1_000_000_000_000;
/// More packets than these, in all runs together, are refused: they take hours.
const MOST_PACKETS: f64 = 1e10;
/// Flows that start per second, if nobody says how many.
const USUAL_STARTS: u64 = 1_000;

/// Heading of help texts for what comes to the port, and for the port.
const SCENARIO: &str = "The scenario";
/// Heading of help texts for what single schedulers have.
const SINGLE: &str = "Single schedulers";

parameters! {
    /// Parameters of `sched feedback`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Distribution of the ranks. A list varies it.
        ///
        /// It is drawn from a span of 100, or of SPAN if you give NAME:SPAN. It is uniform, exponential, inverse-exponential, poisson or convex.
        pub ranks: Option<List<RankChoice>> => { value: "LIST", default_words: "uniform:100" },
        /// Policies to compare.
        pub policies: Choices<SchedulerName> => { value: "LIST", default: "fifo,sp-pifo,gradient,fixed,pifo" },
        /// Flows that start per second. A list varies it.
        pub flow_starts: Option<List<Positive<PerSecond>>> => { value: "LIST", default_words: "1000" },
        /// Flows start at both ends of the link, half of them at each. Both ends have the port, and acknowledgements of one direction wait there with data of the other.
        ///
        /// That is how figures 5 and 6 of SP-PIFO were made, with 1500 flows per second.
        pub both_ways: bool => {},
        /// Time that is simulated.
        pub duration: Positive<Nanos> => { value: "TIME", default: "300ms" },
        /// How senders recover from losses and set their windows and timers.
        pub transport: TransportName => { value: "HOW", default: "standard" },
        /// Size of each flow.
        pub flow_size: Within<Bytes, 1, MOST_FLOW> => { value: "SIZE", default: "1MB", heading: SCENARIO },
        /// Rate of the output line.
        pub rate: Positive<BitsPerSec> => { value: "RATE", default: "10Gbps", heading: SCENARIO },
        /// Propagation delay of the link.
        pub link_delay: Nanos => { value: "TIME", default: "20ns", heading: SCENARIO },
        /// Number of strict-priority queues.
        pub queues: Within<u64, 1, MOST_QUEUES> => { value: "N", default: "8", heading: SCENARIO },
        /// Number of packets that each queue can hold. FIFO, AIFO and PIFO have one queue with the same total memory.
        pub depth: Within<u64, 1, MOST_DEPTH> => { value: "PACKETS", default: "10", heading: SCENARIO },
        /// Only for sp-pifo: amount by which it lowers its bounds after an inversion. A list varies it.
        pub push_down: Option<Choices<PushDown>> => { value: "LIST", default_words: "cost", heading: SINGLE },
        /// Only for gradient, aifo and packs: length of their window, in packets.
        pub window: Within<u32, 1, { 1 << 20 }> => { value: "PACKETS", default: "1000", heading: SINGLE },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

impl Options {
    /// The distributions of ranks, the base first.
    pub fn ranks(&self) -> Vec<RankChoice> {
        match &self.ranks {
            Some(given) => distinct(given.to_vec()),
            None => vec![RankChoice::Drawn(Distribution::usual(Shape::Uniform))],
        }
    }

    /// The ways in which SP-PIFO pushes down, the base first.
    pub(super) fn push_downs(&self) -> Vec<PushDown> {
        self.push_down.as_ref().map_or_else(|| vec![PushDown::Cost], |given| distinct(given.to_vec()))
    }

    /// Flows that start per second, the base first.
    pub(super) fn flow_starts(&self) -> Vec<u64> {
        match &self.flow_starts {
            Some(given) => distinct(given.iter().map(|starts| starts.0)),
            None => vec![USUAL_STARTS],
        }
    }

    /// Refuses ranks that are not drawn, and what would take hours. `packets` come in all runs together.
    pub(super) fn check(&self, packets: f64) -> Result<(), Error> {
        if let Some(other) = self.ranks().iter().find(|ranks| !matches!(ranks, RankChoice::Drawn(_))) {
            return Err(Error::Parameters(format!(
                "--ranks {other}: expected a distribution such as uniform or exponential:100"
            )));
        }
        if packets > MOST_PACKETS {
            return Err(Error::Parameters(format!(
                "expected a --duration so short that at most {MOST_PACKETS:.0e} packets come, in all runs together; with {} they are {}",
                *self.duration,
                beyond(packets, MOST_PACKETS)
            )));
        }
        Ok(())
    }
}
