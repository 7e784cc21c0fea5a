//! `cache analyze`: what a trace is like, and how long latencies are on its own scale.
//!
//! `uncached` counts the most delayed hits that a cache can have.

pub mod found;
pub mod options;
mod page;
mod run;
mod uncached;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Analyze;

impl Study for Analyze {
    const NAME: &'static str = "cache.analyze";
    const ABOUT: &'static str = "
        Describe a request log: objects, concurrency, burstiness, and how many requests can be delayed hits.

        The trace is read once. Z is a latency divided by the mean time between two requests, for any object. A delayed hit is a request for an
        object that is being fetched. For each latency, the command shows the largest possible number of delayed hits. A cache that stores
        nothing reaches it: the first request starts a fetch, and all requests for the same object within the latency wait for it.";
    const EXAMPLES: &'static str = "\
        trueplane cache analyze examples/cdn-200k.csv.zst --latency 50ms,200ms
        trueplane cache analyze examples/cdn-200k.csv.zst --columns time=1,key=2,size=3 --time-unit ns";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("What the trace is like: {}", options.source.name())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(_: &Options, found: &Found, page: &mut Page) {
        page::present(found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(options: &Options, found: &Found) -> String {
        verdict::advice(options, found)
    }
}
