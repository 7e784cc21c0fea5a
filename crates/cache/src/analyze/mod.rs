//! `cache analyze`: what a trace is like, and how long latencies are on its own scale.

pub mod found;
pub mod options;
mod page;
mod run;
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
        Tell what a request log is like: objects, concurrency, burstiness, and how many requests arrive during a fetch (Z).

        The trace is read once. Delayed hits are to be expected from the latency on at which Z is one.";
    const EXAMPLES: &'static str = "\
        trueplane cache analyze access.log.gz --latency 50ms,200ms
        trueplane cache analyze trace.csv --columns time=2,key=5,size=4 --time-unit ms";
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
}
