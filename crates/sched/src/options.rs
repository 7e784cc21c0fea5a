//! What `sched inversions` is asked to do, and what of it makes no sense.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::choice::{Arrivals, RankChoice};
use crate::distribution::{Distribution, Shape};
use crate::policy::SchedulerName;
use crate::policy::{Adaptation, PushDown};

/// Without a number, so many packets come.
pub const USUAL_PACKETS: u64 = 1_000_000;

/// The line, if nobody says how fast it is.
pub const USUAL_RATE: BitsPerSec = BitsPerSec(10_000_000_000);

/// Bytes of every flow in a round of AFQ, if nobody says how many: the largest packet of an Ethernet, as the paper of SP-PIFO takes the
/// largest segment.
pub const USUAL_BYTES_PER_ROUND: u32 = 1500;

/// The optimum takes memory for every pair of a queue and a rank: of so many at most.
pub const MOST_OPTIMAL: u64 = 1 << 26;

/// The buffer of a port holds so many packets at most: 50 MB for every run at a time, and more than any switch has.
pub const MOST_BUFFERED: u64 = 1 << 20;

/// Refuses a number of queues and a depth that no port has.
pub(super) fn check_buffer(queues: u64, depth: u64) -> Result<(), Error> {
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(Error::Parameters(format!("expected 1 to {MOST_QUEUES} queues, got {queues}")));
    }
    let most = MOST_BUFFERED / queues;
    if !(1..=most).contains(&depth) {
        return Err(Error::Parameters(format!(
            "expected a depth of 1 to {most} packets for {queues} queues, which is {MOST_BUFFERED} packets of buffer, got {depth}"
        )));
    }
    Ok(())
}

/// What to simulate.
///
/// Of every list the first value is the base. Each further value varies that one thing with the others at their base: a star, not a
/// product.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where ranks come from.
    pub ranks: Vec<RankChoice>,
    /// When packets come.
    pub arrivals: Arrivals,
    /// Number of queues.
    pub queues: Vec<u64>,
    /// Packets that a queue holds.
    pub depth: u64,
    /// What comes, in millionths of what the line can send.
    pub loads: Vec<u64>,
    /// The schedulers.
    pub schedulers: Vec<SchedulerName>,
    /// Leave out schedulers that cannot work with the ranks, instead of refusing.
    pub lenient: bool,
    /// How SP-PIFO pushes down.
    pub push_downs: Vec<PushDown>,
    /// How many packets come; none: a million, or as many as the trace has.
    pub packets: Option<u64>,
    /// How fast the line sends; none: 10 Gbit/s, or what makes the load right for a trace with times of its own.
    pub rate: Option<BitsPerSec>,
    /// The length of packets that have none.
    pub packet_bytes: u32,
    /// Bytes of every flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// Packets after which the gradient adapts, and over which AIFO and PACKS take their quantiles.
    pub window: usize,
    /// How far the gradient goes after a window.
    pub adaptation: Adaptation,
    /// Flows among which the packets of a Poisson process are drawn.
    pub flows: u32,
    /// The size of an on-off flow.
    pub flow_size: Bytes,
    /// What an on-off flow sends while it does; none: a tenth of the line.
    pub access: Option<BitsPerSec>,
    /// How much a packet may wait in time, at most; flows draw theirs.
    pub slack: Nanos,
    /// Where draws begin.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ranks: vec![RankChoice::Drawn(Distribution::usual(Shape::Uniform))],
            arrivals: Arrivals::Poisson,
            queues: vec![8],
            depth: 10,
            loads: vec![900_000],
            schedulers: SchedulerName::USUAL.into(),
            lenient: true,
            push_downs: vec![PushDown::Cost],
            packets: None,
            rate: None,
            packet_bytes: 1500,
            bytes_per_round: USUAL_BYTES_PER_ROUND,
            window: 1000,
            adaptation: Adaptation::OneStep,
            flows: 100,
            flow_size: Bytes(1_000_000),
            access: None,
            slack: Nanos(1_000_000),
            seed: 1,
        }
    }
}

impl Options {
    /// Whether a trace is needed, as ranks or as arrivals, at the base or in a variation.
    pub fn needs_trace(&self) -> bool {
        self.arrivals == Arrivals::Trace || self.ranks.contains(&RankChoice::Trace)
    }

    /// Refuses what cannot be simulated, as far as that can be told without the trace.
    ///
    /// # Errors
    /// In one line, what was expected and what was found.
    pub fn check(&self, has_trace: bool) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::Parameters(message));
        if self.needs_trace() && !has_trace {
            let what = if self.arrivals == Arrivals::Trace { "--arrivals trace" } else { "--ranks trace" };
            return refuse(format!("{what} needs a trace: name its file"));
        }
        if has_trace && !self.needs_trace() {
            return refuse(
                "the trace would not be used: choose --ranks trace or --arrivals trace, or leave it out"
                    .to_owned(),
            );
        }
        self.queues.iter().try_for_each(|&queues| check_buffer(queues, self.depth))?;
        if self.packet_bytes == 0 {
            return refuse("expected packets of at least one byte".to_owned());
        }
        if self.ranks.is_empty()
            || self.queues.is_empty()
            || self.loads.is_empty()
            || self.push_downs.is_empty()
        {
            return refuse("expected at least one value of every list".to_owned());
        }
        self.check_ranks()
    }

    fn check_ranks(&self) -> Result<(), Error> {
        for choice in &self.ranks {
            if let RankChoice::Policy(policy) = choice
                && policy.properties().needs_flow_sizes
                && self.arrivals == Arrivals::Poisson
            {
                return Err(Error::Parameters(format!(
                    "--ranks {} needs flows that have a size: choose --arrivals on-off, or trace with a capture",
                    policy.name()
                )));
            }
        }
        if self.arrivals == Arrivals::Trace && self.rate.is_some() && self.loads.len() > 1 {
            return Err(Error::Parameters(
                "a trace with times of its own and a given --rate has the load that it has: leave out --load"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}
