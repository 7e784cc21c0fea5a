//! `limit experiment`: real packets in network namespaces of their own, to show of this kernel what the paper's figures show of a
//! switch.
//!
//! 1. [`precision`]: what rate passes, beside `tc`'s own limiters (figures 10 and 11).
//! 2. [`isolation`]: ten flows of one tenant against a hundred of another (figure 16).
//! 3. [`latency`]: what a quiet tenant waits while the other sends (figure 17).
//! 4. [`occupancy`]: how full a limiter gets with marks and without (figure 14).
//! 5. [`marking`]: where to mark so that DCTCP neither loses a packet nor leaves the rate unused.
//!
//! Each makes its network, is bounded in time, and leaves nothing behind.

pub mod found;
pub mod isolation;
pub mod latency;
pub mod marking;
pub mod occupancy;
pub mod options;
mod page;
pub mod precision;
mod run;
mod tap;
mod verdict;

use trueplane_limit::BELIEF;
use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use found::Found;
pub use options::{ExperimentName, Options};
pub use tap::{Admitted, Limits, PAYLOAD_SHARE};

/// The study.
#[derive(Debug)]
pub struct Experiment;

impl Study for Experiment {
    const NAME: &'static str = "limit.experiment";
    const ABOUT: &'static str = "
        Test limits with real packets on this machine, in temporary network namespaces.

        The command does not touch any device of this machine. You need root, and the programs iperf3, tc and ethtool.";
    const EXAMPLES: &'static str = "\
        trueplane limit experiment --report out
        trueplane limit experiment isolation latency --duration 2s --json";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(_: &Options) -> String {
        "Limits on real packets".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(_: &Options, found: &Found, page: &mut Page) {
        page::present(found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(&found.results)
    }

    fn advice(_: &Options, _: &Found) -> String {
        String::new()
    }
}
