//! `cache experiment`: an origin, a cache and clients on the loopback interface, to show how long requests really wait.
//!
//! 1. `options`, `workload`: what is asked for; the requests of a trace, with their times.
//! 2. `latency`, `alarm`, `origin`: how long the origin takes for an object; exact timers; the server.
//! 3. `ours`, `rivals`: the caches. `client`: who asks, at the times of the trace.
//! 4. `calibrate`, `predict`: what a request takes besides; what the two models predict.
//! 5. `run`, `found`, `page`, `verdict`: as in every study.
//!
//! Caches take turns within each round, so that whatever else the machine does meets all of them. Origin, cache and clients share the
//! machine's cores.

mod alarm;
mod calibrate;
mod client;
pub mod found;
mod latency;
pub mod options;
mod origin;
mod ours;
mod page;
pub mod predict;
mod rivals;
mod run;
mod verdict;
pub mod workload;

use trueplane_cache::BELIEF;
use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Experiment;

impl Study for Experiment {
    const NAME: &'static str = "cache.experiment";
    const ABOUT: &'static str = "
        Measure how long requests wait for HTTP caches on this machine, and compare it with both predictions.

        The command runs an origin, a cache and clients on the loopback interface. The origin has a latency for each object. The start of a
        request log is replayed at its own times, scaled to --rate. Each request is sent when it is due, even if earlier requests still wait. The
        command measures trueplane cache serve under each policy, and nginx, Varnish, HAProxy and Traffic Server if they are installed. They have
        the same memory, as far as they can be set to it.

        For each cache, the command shows the mean wait that the hit rate predicts (classical), the one in a simulation of the same requests
        (refined), and the one that the clients measured. Other caches have no simulation. Their classical number comes from the hit rate that
        they had.";
    const EXAMPLES: &'static str = "\
        trueplane cache experiment examples/cdn-200k.csv.zst --report out
        trueplane cache experiment examples/cdn-200k.csv.zst --origins all --policies online --rivals none --rounds 3 --json";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Waiting for HTTP caches: {}", options.source.name())
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
