//! The parameters of `spray reordering`.

use trueplane_spray::dispatch::{DispatchName, DispatchOptions, PolicyName};
use trueplane_spray::machine::{Clock, MOST_CORES};
use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{BitsPerSec, Bytes, Choices, List, Nanos, Positive, Value as _, Within, parameters};

use super::found::Case;
use super::senders::{ControlName, HEADER, RecoveryName, SEGMENT};

/// Flows, at most: each may have a receive window of packets on its way.
const MOST_FLOWS: u64 = 1 << 10;
/// Cycles of a packet, at most.
const MOST_CYCLES: u64 = 10_000_000;
/// Receive window, at most: what a header can tell (RFC 7323 §2.3).
const MOST_WINDOW: u64 = 1 << 30;
/// Packets on their way at once, at most, if all windows are full.
const MOST_ON_THEIR_WAY: u64 = 1 << 23;
/// More segments than these, in all runs together, are refused: they take hours.
const MOST_SEGMENTS: f64 = 1e10;

/// Heading of help texts for cores.
const MACHINE: &str = "The machine";
/// Heading of help texts for senders and receivers.
const HOSTS: &str = "Hosts and lines";
/// Heading of help texts for runs.
const SIMULATION: &str = "Simulation";

parameters! {
    /// Parameters of `spray reordering`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Policies to compare.
        pub policies: Choices<DispatchName> => { value: "LIST", default: "rss,spray,adaptive" },
        /// How senders find out that a packet is lost.
        pub recovery: Choices<RecoveryName> => { value: "LIST", default: "newreno,sack,rack" },
        /// Number of flows at the same time.
        pub flows: List<Within<u64, 1, MOST_FLOWS>> => { value: "LIST", default: "1,8,64" },
        /// Number of cores.
        pub cores: Within<usize, 1, MOST_CORES> => { value: "N", default: "8" },
        /// Cycles that a core needs for each packet, acknowledgements included.
        pub cycles: List<Within<u64, 0, MOST_CYCLES>> => { value: "LIST", default: "10000" },
        /// Time for which flows run. Goodput is that of the last three quarters.
        pub duration: Positive<Nanos> => { value: "TIME", default: "400ms" },
        /// Clock frequency of each core.
        pub clock: Clock => { value: "FREQUENCY", default: "2GHz", heading: MACHINE },
        /// Number of descriptors in the receive ring of each core.
        pub ring: Within<u32, 1, { 1 << 16 }> => { value: "N", default: "512", heading: MACHINE },
        /// Only for flowlet: silence after which a burst is over.
        pub gap: Positive<Nanos> => { value: "TIME", default: "50us", heading: MACHINE },
        /// Rate of the lines to the middlebox and from it.
        pub line_rate: Positive<BitsPerSec> => { value: "RATE", default: "10Gbps", heading: HOSTS },
        /// Propagation delay of each line. A round trip takes four of them.
        pub link_delay: Nanos => { value: "TIME", default: "1us", heading: HOSTS },
        /// Congestion control of the senders.
        pub congestion_control: ControlName => { value: "HOW", default: "cubic", heading: HOSTS },
        /// Window that each receiver offers.
        pub receive_window: Within<Bytes, { SEGMENT as u64 }, MOST_WINDOW> =>
            { value: "SIZE", default: "1MB", heading: HOSTS },
        /// Least retransmission time-out. Linux has 200ms, the standard 1s.
        pub least_timeout: Positive<Nanos> => { value: "TIME", default: "200ms", heading: HOSTS },
        /// Number of runs, each with other flows. The results are means and extremes over the runs.
        pub runs: Within<u32, 1, 10_000> => { value: "N", default: "1", heading: SIMULATION },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1", heading: SIMULATION },
    }
}

impl Options {
    /// The cases: each number of cycles with each number of flows.
    pub(super) fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for cycles in self.cycles.distinct() {
            cases.extend(self.flows.distinct().iter().map(|flows| Case { cycles: *cycles, flows: **flows }));
        }
        cases
    }

    /// Parameters of dispatch policies.
    pub(super) fn dispatch(&self) -> DispatchOptions {
        DispatchOptions { gap: *self.gap }
    }

    /// Time of a packet on a core, to the nearest nanosecond.
    pub(super) fn service(&self, cycles: u64) -> Nanos {
        let (cycles, hertz) = (u128::from(cycles), u128::from(self.clock.hertz()));
        Nanos(((cycles * 1_000_000_000 + hertz / 2) / hertz) as u64)
    }

    /// Time from which bytes count.
    pub(super) fn from(&self) -> Nanos {
        Nanos(self.duration.0 / 4)
    }

    /// Refuses parameters that do not fit each other, and what would take hours or too much memory.
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |message| Err(Error::Parameters(message));
        let has_flowlets = self.policies.iter().any(|name| name.policy() == PolicyName::Flowlet);
        if *self.gap != *Self::default().gap && !has_flowlets {
            return refuse(format!(
                "--gap is for --policies flowlet, got --policies {}",
                self.policies.show()
            ));
        }
        let flows = self.flows.iter().map(|flows| **flows).max().unwrap_or(0);
        let window = self.receive_window.0 / u64::from(SEGMENT);
        if flows.saturating_mul(window) > MOST_ON_THEIR_WAY {
            return refuse(format!(
                "expected at most {MOST_ON_THEIR_WAY} packets on their way at once, got {flows} flows with a --receive-window of {window} packets"
            ));
        }
        let of_line = self.line_rate.0 as f64 / 8.0 / f64::from(SEGMENT + HEADER);
        let each = of_line * self.duration.0 as f64 / 1e9;
        let rows = self.cases().len() * self.policies.len() * self.recovery.len();
        let segments = each * rows as f64 * f64::from(*self.runs);
        if segments > MOST_SEGMENTS {
            return refuse(format!(
                "expected a --duration so short that the line carries at most {MOST_SEGMENTS:.0e} segments, in all runs together; with {} it carries {}",
                *self.duration,
                beyond(segments, MOST_SEGMENTS)
            ));
        }
        Ok(())
    }
}
