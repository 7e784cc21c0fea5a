//! `trueplane sched bandwidth`

use trueplane_sched::bandwidth::{Options, bandwidth};
use trueplane_sched::options::USUAL_BYTES_PER_ROUND;
use trueplane_sched::policy::PushDown;
use trueplane_sched::scheduler::SchedulerName;
use trueplane_units::{BitsPerSec, Nanos};

use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::{NameList, named, time};
use crate::watch::Watch;

/// See who gets the line while flows of higher and higher priority join (figure 11 of SP-PIFO).
///
/// Flows of a constant rate start one after the other, each of a lower rank than all before it. If not told otherwise, each alone sends
/// more than the line can. Under a PIFO the newest then gets everything; strict-priority queues can keep apart as many flows as there
/// are queues. Figure 11 was measured on a switch, whose bounds follow every arrival: that is sp-pifo-arrivals. The gaps between a
/// flow's packets are random, so that flows do not stay in lock-step.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulation", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many flows start
    #[arg(long, value_name = "N", default_value_t = 8)]
    flows: u32,

    /// What each of them sends
    #[arg(long, value_name = "RATE", default_value = "20Gbps", value_parser = super::rate)]
    flow_rate: BitsPerSec,

    /// How fast the line sends
    #[arg(long, value_name = "RATE", default_value = "10Gbps", value_parser = super::rate)]
    rate: BitsPerSec,

    /// Number of queues in strict priority
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = super::number)]
    queues: u64,

    /// Packets that each queue holds; FIFO, AIFO and PIFO have one queue of the same memory
    #[arg(long, value_name = "PACKETS", default_value_t = 10, value_parser = super::number)]
    depth: u64,

    /// How long after each flow the next one starts
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = time)]
    step: Nanos,

    /// The length of a packet, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    packet_size: u32,

    /// Schedulers: fifo, sp-pifo, gradient, fixed, optimal, aifo, packs, afq, pifo, or all of these; beside them variants, which all
    /// leaves out (see `trueplane sched inversions --help`): sp-pifo-arrivals, gradient-authors, aifo-at-most, packs-past, afq-strict
    #[arg(long, value_name = "LIST", default_value = "sp-pifo,sp-pifo-arrivals,fifo,pifo")]
    schedulers: NameList<SchedulerName>,

    /// Only for sp-pifo and sp-pifo-arrivals: how they lower their bounds after an inversion: cost, queue-bound, rank, one or
    /// queue-bound-text
    #[arg(long, value_name = "HOW", default_value = "cost", value_parser = named::<PushDown>)]
    push_down: PushDown,

    /// Only for afq: bytes of every flow that it sends in a round
    #[arg(long, value_name = "BYTES", default_value_t = USUAL_BYTES_PER_ROUND, value_parser = clap::value_parser!(u32).range(1..))]
    bytes_per_round: u32,

    /// Only for gradient, aifo and packs: packets after which the gradient adapts, and over which the others take their quantiles
    #[arg(long, value_name = "PACKETS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    window: u32,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane sched bandwidth --report out
  trueplane sched bandwidth --queues 8 --schedulers sp-pifo,fixed,packs,pifo
  trueplane sched bandwidth --flows 16 --flow-rate 5Gbps --rate 10Gbps --step 10ms --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = Options {
            schedulers: self.schedulers.0,
            flows: self.flows,
            flow_rate: self.flow_rate,
            rate: self.rate,
            queues: self.queues,
            depth: self.depth,
            step: self.step,
            packet_bytes: self.packet_size,
            bytes_per_round: self.bytes_per_round,
            push_down: self.push_down,
            window: self.window as usize,
            seed: self.seed,
        };
        let watch = Watch::start()?;
        let found = pool(self.threads)?.install(|| bandwidth(&options, &watch));
        watch.finish();
        self.output.emit(&found?.report())
    }
}
