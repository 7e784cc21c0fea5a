//! `sched feedback`: the order of packets where senders react to drops and delays (figures 5 and 6 of SP-PIFO).

pub mod found;
pub mod options;
mod page;
mod port;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Feedback;

impl Study for Feedback {
    const NAME: &'static str = "sched.feedback";
    const ABOUT: &'static str = "
        Count how often packets leave in the wrong order if senders react to the port, and if they do not.

        TCP flows start at random at one host and share its port. Each packet draws a rank. An inversion is a packet that leaves while a packet of
        lower rank waits. Senders lower their rate when packets are dropped, and they send in bursts: the loop is closed.

        The open loop is the simulation of sched inversions: packets come at random times that do not depend on drops. It is run twice: at the load
        that the flows need if nothing is lost, and at the load that came.

        Lists of --ranks, --push-down and --flow-starts vary one thing at a time. Their first values are the base.";
    const EXAMPLES: &'static str = "\
        trueplane sched feedback --report out
        trueplane sched feedback --ranks uniform,exponential --push-down cost,queue-bound,rank,one
        trueplane sched feedback --flow-starts 500,1000,1500 --duration 200ms --json
        trueplane sched feedback --both-ways --flow-starts 1500 --duration 1s --transport simplified";
    const BELIEF: &'static str = "arrivals do not depend on the scheduler, so packets that come at random times show how it orders them";

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("The order of packets with TCP senders: ranks {}", options.ranks()[0])
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
