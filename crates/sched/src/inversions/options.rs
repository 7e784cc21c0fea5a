//! The parameters of `sched inversions`.

use std::path::PathBuf;

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_study::Error;
use trueplane_trace::{Reading, Trace};
use trueplane_units::{
    BitsPerSec, Bytes, Choices, Factor, List, Nanos, Parameters as _, Positive, Within, distinct, parameters,
};

use crate::choice::{Arrivals, RankChoice, Schedulers};
use crate::distribution::{Distribution, Shape};
use crate::options::check_buffer;
use crate::policy::{AdaptationName, PushDown};

/// Without a number, so many packets come.
pub const USUAL_PACKETS: u64 = 1_000_000;

/// The line, if nobody says how fast it is.
pub const USUAL_RATE: BitsPerSec = BitsPerSec(10_000_000_000);

/// The optimum takes memory for every pair of a queue and a rank: of so many at most.
pub const MOST_OPTIMAL: u64 = 1 << 26;

/// The number of queues, if nobody says how many.
const USUAL_QUEUES: u64 = 8;

/// Load unless the user gives another.
const USUAL_LOAD: Factor = load(900_000);

/// The numbers of queues of figure 5b.
const PAPER_QUEUES: [u64; 3] = [8, 16, 32];

/// The loads of figure 5d, the base first.
const PAPER_LOADS: [Factor; 7] = [
    USUAL_LOAD,
    load(500_000),
    load(600_000),
    load(700_000),
    load(800_000),
    load(1_000_000),
    load(1_100_000),
];

/// The load of so many millionths of what the line can send.
const fn load(millionths: u64) -> Factor {
    Factor::of_millionths(millionths).expect("the constants here are above zero")
}

/// Heading of help texts for what single schedulers have.
const SINGLE: &str = "Single schedulers";
/// Heading of help texts for what else comes to the port and waits there.
const SCENARIO: &str = "The scenario";

parameters! {
    /// Parameters of `sched inversions`.
    ///
    /// Of every list the first value is the base. Each further value varies that one thing with the others at their base: a star, not a
    /// product.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Trace for --ranks trace or --arrivals trace: a capture or a request log. The key of a request is its rank. The trace is plain or
        /// compressed with gzip, zstd or xz. A dash (-) is standard input.
        pub trace: PathBuf => { value: "TRACE", positional: true },
        /// Source of the ranks. A list varies it.
        ///
        /// A distribution draws ranks from a span of 100, or of SPAN if you give NAME:SPAN. It is uniform, exponential (with a mean of a quarter
        /// of the span), inverse-exponential, poisson (with a mean of half the span) or convex (a parabola). With trace, the ranks are the keys
        /// of TRACE. All other names are rank policies.
        pub ranks: Option<List<RankChoice>> => { value: "LIST", default_words: "uniform:100" },
        /// Arrival process of the packets.
        pub arrivals: Arrivals => { value: "HOW", default: "poisson" },
        /// Number of strict-priority queues. A list varies it.
        pub queues: Option<List<Within<u64, 1, MOST_QUEUES>>> => { value: "LIST", default_words: "8" },
        /// Number of packets that each queue can hold. FIFO, AIFO and PIFO have one queue with the same total memory.
        pub depth: Positive<u64> => { value: "PACKETS", default: "10", heading: SCENARIO },
        /// Offered load, as a multiple of the line rate, such as 0.9, 90% or 1.1. A list varies it.
        pub load: Option<List<Factor>> => { value: "LIST", default_words: "0.9" },
        /// Policies to compare.
        ///
        /// With all, policies that cannot work with the ranks are left out. If you name such a policy, it is refused.
        pub policies: Schedulers => { value: "LIST", default: "all" },
        /// Amount by which SP-PIFO lowers its bounds after an inversion. A list varies it.
        ///
        /// The first bound, `q[0]`, becomes `r`, the rank of the packet that came too late. This flag says how the other bounds change.
        pub push_down: Option<Choices<PushDown>> => { value: "LIST", default_words: "cost", heading: SINGLE },
        /// Vary what figures 5b, 5c, 5d and 6 of the paper vary. These are 8, 16 and 32 queues, the push-downs cost, queue-bound, rank and one,
        /// loads from 0.5 to 1.1, and all distributions. Lists that you give replace those of the figures.
        pub figures: bool => { heading: SCENARIO },
        /// Number of packets that arrive.
        ///
        /// If the trace is shorter, its ranks start again from the beginning.
        pub packets: Option<Positive<u64>> => { value: "N", default_words: "1M, or all of TRACE" },
        /// Rate of the output line.
        pub rate: Option<Positive<BitsPerSec>> =>
            { value: "RATE", default_words: "10Gbps; with --arrivals trace, the rate at which the trace has the load of --load", heading: SCENARIO },
        /// Length of packets without a length of their own.
        pub packet_size: Within<u32, 1, 65_535> => { value: "BYTES", default: "1500", unit: "bytes", heading: SCENARIO },
        /// Only for afq: bytes that it sends from each flow in a round.
        pub bytes_per_round: Positive<u32> => { value: "BYTES", default: "1500", heading: SINGLE },
        /// Only for gradient, aifo and packs: length of their window, in packets. The gradient adapts after each window. The others take their
        /// quantiles from it.
        pub window: Within<u32, 1, { 1 << 20 }> => { value: "PACKETS", default: "1000", heading: SINGLE },
        /// Only for gradient: how far the bounds move after a window.
        pub adaptation: AdaptationName => { value: "HOW", default: "one-step", heading: SINGLE },
        /// Only for --arrivals poisson: number of flows from which packets are drawn. It matters to afq and to ranks by policy.
        pub flows: Within<u32, 1, { 1 << 24 }> => { value: "N", default: "100", heading: SCENARIO },
        /// Only for --arrivals on-off: size of each flow.
        pub flow_size: Positive<Bytes> => { value: "SIZE", default: "1MB", heading: SCENARIO },
        /// Only for --arrivals on-off: rate of a flow while it sends.
        pub access_rate: Option<Positive<BitsPerSec>> => { value: "RATE", default_words: "a tenth of --rate", heading: SCENARIO },
        /// Only for --ranks lstf, edf and fifo+: maximum time that packets may wait. Each flow draws its own time, up to this one.
        pub slack: Nanos => { value: "TIME", default: "1ms", heading: SCENARIO },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
    including {
        /// Options for reading the trace.
        pub reading: Reading,
    }
}

impl Options {
    /// The sources of ranks, the base first.
    pub fn ranks(&self) -> Vec<RankChoice> {
        let drawn = |&shape: &Shape| RankChoice::Drawn(Distribution::usual(shape));
        let paper: Vec<RankChoice> = Shape::ALL.iter().map(drawn).collect();
        let given = self.ranks.as_ref().map(|list| list.to_vec());
        listed(given, self.figures.then_some(&paper), drawn(&Shape::Uniform))
    }

    /// The numbers of queues, the base first.
    pub fn queues(&self) -> Vec<u64> {
        let given = self.queues.as_ref().map(|list| list.iter().map(|&queues| *queues).collect());
        listed(given, self.figures.then_some(&PAPER_QUEUES), USUAL_QUEUES)
    }

    /// The loads, the base first.
    pub fn loads(&self) -> Vec<Factor> {
        let given = self.load.as_ref().map(|list| list.to_vec());
        listed(given, (self.figures && !self.has_own_load()).then_some(&PAPER_LOADS), USUAL_LOAD)
    }

    /// The ways in which SP-PIFO pushes down, the base first.
    pub fn push_downs(&self) -> Vec<PushDown> {
        let given = self.push_down.as_ref().map(|list| list.to_vec());
        listed(given, self.figures.then_some(&PushDown::PAPER), PushDown::Cost)
    }

    /// Whether a trace has its own times and a line of its own, and so the load that it has.
    fn has_own_load(&self) -> bool {
        self.arrivals == Arrivals::Trace && self.rate.is_some()
    }

    /// Whether a trace is named.
    pub(super) fn has_trace(&self) -> bool {
        !self.trace.as_os_str().is_empty()
    }

    /// The trace, if one is named.
    pub(super) fn open(&self) -> Result<Option<Trace>, Error> {
        if self.has_trace() {
            return Ok(Some(Trace::open(&self.trace, &self.reading.options())?));
        }
        match self.reading.first_given() {
            Some(flag) => {
                Err(Error::Parameters(format!("{flag} says how to read a TRACE, and there is none")))
            }
            None => Ok(None),
        }
    }

    /// Refuses what cannot be simulated, as far as that can be told without the trace.
    pub(super) fn check(&self, has_trace: bool) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::Parameters(message));
        if self.has_own_load() && self.load.is_some() {
            return refuse(
                "--arrivals trace has the load that it has on a line of --rate: give --rate or --load"
                    .to_owned(),
            );
        }
        let ranks = self.ranks();
        let needs_trace = self.arrivals == Arrivals::Trace || ranks.contains(&RankChoice::Trace);
        if needs_trace && !has_trace {
            let what = if self.arrivals == Arrivals::Trace { "--arrivals trace" } else { "--ranks trace" };
            return refuse(format!("{what} needs a trace: name its file"));
        }
        if has_trace && !needs_trace {
            return refuse(
                "the trace would not be used: choose --ranks trace or --arrivals trace, or leave it out"
                    .to_owned(),
            );
        }
        if self.access_rate.is_some() && self.arrivals != Arrivals::OnOff {
            return refuse("--access-rate is for --arrivals on-off: leave it out, or choose that".to_owned());
        }
        self.queues().iter().try_for_each(|&queues| check_buffer(queues, *self.depth))?;
        let sized = ranks.iter().find_map(|choice| match choice {
            RankChoice::Policy(policy) if policy.properties().needs_flow_sizes => Some(policy),
            _ => None,
        });
        match sized.filter(|_| self.arrivals == Arrivals::Poisson) {
            Some(policy) => refuse(format!(
                "--ranks {policy} needs flows that have a size: choose --arrivals on-off, or trace with a capture"
            )),
            None => Ok(()),
        }
    }
}

/// Values of a list: those given, else those of the paper if its figures are wanted, else the usual value; nothing twice.
fn listed<T: Copy + PartialEq>(
    given: Option<Vec<T>>,
    paper: Option<&(impl AsRef<[T]> + ?Sized)>,
    usual: T,
) -> Vec<T> {
    let list = given.or_else(|| paper.map(|paper| paper.as_ref().to_vec())).unwrap_or_default();
    if list.is_empty() { vec![usual] } else { distinct(list) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_what_was_given_or_the_papers_without_repetitions() {
        let options = Options::given(&[("queues", "16,8,16"), ("figures", "true")]).unwrap();
        assert_eq!(options.queues(), [16, 8]);
        assert_eq!((options.ranks().len(), options.loads().len(), options.push_downs().len()), (5, 7, 4));
        let usual = Options::default();
        assert_eq!((usual.ranks().len(), usual.queues(), usual.loads()), (1, vec![8], vec![USUAL_LOAD]));
        // A trace on a line of a given rate has one load.
        let given = [("arrivals", "trace"), ("rate", "1Gbps"), ("figures", "true")];
        assert_eq!(Options::given(&given).unwrap().loads(), [USUAL_LOAD]);
    }
}
