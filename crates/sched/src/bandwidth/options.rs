//! The parameters of `sched bandwidth`.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{BitsPerSec, Choices, Nanos, Positive, Within, parameters};

use crate::options::check_buffer;
use crate::policy::{Order, PushDown, SchedulerName};

/// Number of parts of a step for which there is a rate over time.
pub const BINS_PER_STEP: u64 = 20;

/// More flows than these are refused: every scheduler has a number for each of them in each of [`BINS_PER_STEP`] parts of as many
/// steps, which is 82,000 with 64 flows.
pub const MOST_FLOWS: u64 = 64;

/// More packets than these, under all schedulers together, are refused: minutes of work.
const MOST_PACKETS: f64 = 2e9;

/// Heading of help texts for what single schedulers have.
const SINGLE: &str = "Single schedulers";

parameters! {
    /// Parameters of `sched bandwidth`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Number of flows.
        pub flows: Within<u32, 1, MOST_FLOWS> => { value: "N", default: "8" },
        /// Rate at which each flow sends.
        pub flow_rate: Positive<BitsPerSec> => { value: "RATE", default: "20Gbps" },
        /// Rate of the output line.
        pub rate: Positive<BitsPerSec> => { value: "RATE", default: "10Gbps" },
        /// Number of strict-priority queues.
        pub queues: Within<u64, 1, MOST_QUEUES> => { value: "N", default: "4" },
        /// Number of packets that each queue can hold. FIFO, AIFO and PIFO have one queue with the same total memory.
        pub depth: Positive<u64> => { value: "PACKETS", default: "10" },
        /// Time between the starts of two flows.
        pub step: Within<Nanos, BINS_PER_STEP, { u64::MAX }> => { value: "TIME", default: "5ms" },
        /// Length of a packet.
        pub packet_size: Within<u32, 1, 65_535> => { value: "BYTES", default: "1500", unit: "bytes" },
        /// Policies to compare.
        pub policies: Choices<SchedulerName> => { value: "LIST", default: "sp-pifo,sp-pifo-arrivals,fifo,pifo" },
        /// Amount by which SP-PIFO lowers its bounds after an inversion.
        ///
        /// The first bound, `q[0]`, becomes `r`, the rank of the packet that came too late. This flag says how the other bounds change.
        pub push_down: PushDown => { value: "HOW", default: "cost", heading: SINGLE },
        /// Only for afq: bytes that it sends from each flow in a round.
        pub bytes_per_round: Positive<u32> => { value: "BYTES", default: "1500", heading: SINGLE },
        /// Only for gradient, aifo and packs: length of their window, in packets. The gradient adapts after each window. The others take their
        /// quantiles from it.
        pub window: Within<u32, 1, { 1 << 20 }> => { value: "PACKETS", default: "1000", heading: SINGLE },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

impl Options {
    /// The number of packets that come, about, under all schedulers together.
    pub(super) fn packets(&self) -> f64 {
        let flow_steps = f64::from(*self.flows) * f64::from(*self.flows + 1) / 2.0;
        let bytes = flow_steps * self.step.0 as f64 / 1e9 * self.flow_rate.0 as f64 / 8.0;
        bytes / f64::from(*self.packet_size) * self.policies.len() as f64
    }

    /// The share of the line that the newest flow gets by the classical belief, once all flows send.
    ///
    /// An exact order gives it all that it sends. Queues in strict priority keep apart as many ranks as there are queues: of `n` flows in
    /// `q` queues it shares the first queue with `n / q`, rounded up. Everything else gives equal shares.
    pub(super) fn classical_share(&self, scheduler: SchedulerName) -> f64 {
        let flows = u64::from(*self.flows);
        let sharing = match scheduler.properties().order {
            Order::Exact => 1,
            Order::Queues => flows.div_ceil(*self.queues),
            Order::None => flows,
        };
        (self.flow_rate.0 as f64 / self.rate.0 as f64).min(1.0 / sharing as f64)
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_buffer(*self.queues, *self.depth)?;
        let packets = self.packets();
        if packets > MOST_PACKETS {
            return Err(Error::Parameters(format!(
                "expected a --step so short that at most {MOST_PACKETS:.0e} packets come, under all schedulers together; with {} they are {}",
                *self.step,
                beyond(packets, MOST_PACKETS)
            )));
        }
        Ok(())
    }
}
