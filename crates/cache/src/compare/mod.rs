//! `cache compare`: what the classical model predicts of every policy, what happens, and who is fooled.

mod bounded;
pub mod found;
pub mod options;
mod page;
mod plots;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use bounded::simulate_bounded;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Compare;

impl Study for Compare {
    const NAME: &'static str = "cache.compare";
    const ABOUT: &'static str = "
        Run caching policies over a request log, and compare predicted latencies with simulated ones.

        Each policy is simulated twice. First, fetches take no time. From the hits and misses of this run, the classical model predicts the mean
        latency: hit rate × hit latency + miss rate × miss latency. Then fetches take their real time, and requests for an object that is being
        fetched wait for it (delayed hits). If you give lists of latencies and capacities, all combinations run, on all cores.

        Ctrl-C ends a comparison without a result, also with --bound.";
    const EXAMPLES: &'static str = "\
        trueplane cache compare examples/cdn-200k.csv.zst --latency 80ms --capacity 256MiB --policies online --report out
        trueplane cache compare examples/cdn-200k.csv.zst --latency 1ms,10ms,100ms --capacity 1%,5%,10% --report out
        trueplane cache compare examples/cdn-200k.csv.zst --columns time=time_ns,key=key --time-unit ns --latency 5ms --json
        trueplane cache compare examples/cdn-200k.csv.zst --latency 1000steps --capacity 400 --policies lru,arc,lru-mad
        trueplane cache compare examples/cdn-200k.csv.zst --latency 1ms,10ms --capacity 1%,5% --bound --bound-time 30s --report out";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::Timed;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Caching with delayed hits: {}", options.source.name())
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
