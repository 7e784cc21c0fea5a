//! `cache bound`: how far from optimal, the least total latency of a trace from below and from above.
//!
//! 1. [`problem`]: the trace as an instance of BELATEDLY.
//! 2. [`mod@search`]: prices that prove a lower bound and a schedule that is an upper one, ever closer to each other.
//! 3. [`replay`]: a schedule followed by the simulator; [`export`] writes down what becomes of every request.
//! 4. [`certificate`]: both bounds with all that proves them, for [`check`](super::check).
//! 5. `lp`, with the feature of that name: the exact way, for small traces.
//! 6. [`burstiness`]: for which objects Bélády is wrong.
//! 7. The study: the bounds, and how far from them every policy is.

pub mod burstiness;
pub mod certificate;
pub mod export;
pub mod found;
#[cfg(feature = "lp")]
pub mod lp;
pub mod options;
mod page;
mod plots;
pub mod problem;
pub mod replay;
pub mod run;
pub mod search;
pub mod single;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use found::Found;
pub use options::{Method, Options};
pub use problem::{Problem, Scenario};
pub use search::{Limits, Solution, search};

/// The study.
#[derive(Debug)]
pub struct Bound;

impl Study for Bound {
    const NAME: &'static str = "cache.bound";
    const ABOUT: &'static str = "
        Find the lowest possible total latency of a request log, and how far above it every policy is.

        The search computes two numbers that approach the optimum (BELATEDLY, thesis section 2.4). The lower bound is a total latency that no
        schedule of the cache can beat, even if it knows the future. A price for the cache's space at every moment proves this. The upper bound
        is the total latency of a schedule that the search has found.

        Ctrl-C ends the search and skips the steps after it; the best bounds so far are then printed. A second Ctrl-C ends the command at once.
        The log is held in memory, which takes about 240 B for each request. --requests reads only the start of it.";
    const EXAMPLES: &'static str = "\
        trueplane cache bound examples/cdn-200k.csv.zst --latency 1000steps --capacity 250
        trueplane cache bound examples/cdn-200k.csv.zst --latency 10ms --capacity 5% --gap 0.5% --report out
        trueplane cache bound examples/cdn-200k.csv.zst --latency 80ms --capacity 32MiB --bypass-oversized --requests 50K
        trueplane cache bound examples/cdn-200k.csv.zst --latency 10ms --certificate proof.json.zst --schedule schedule.csv.zst
        trueplane cache bound examples/cdn-200k.csv.zst --latency 10ms --iterations 200 --policies none --json";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::Timed;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("How far from optimal: {}", options.source.name())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
