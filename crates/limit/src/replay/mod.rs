//! `limit replay`: what the limits of a classes file would have done to the packets of a capture.
//!
//! A replay is open-loop: packets come when they came, though their senders would have slowed down if some had been dropped or
//! marked. It tells what limits do to the traffic as it is, and which classes they touch.
//!
//! A packet becomes an `arrival`, comes over the link of the `carrier`, meets its `limits` (the only part that knows the kind of limiter), and is counted by the `record`.

mod arrival;
mod carrier;
pub mod found;
mod limits;
pub mod options;
mod page;
mod record;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use found::{ClassRun, Found, LimiterRun};
pub use options::Options;
pub use run::replay;

/// The study.
#[derive(Debug)]
pub struct Replay;

impl Study for Replay {
    const NAME: &'static str = "limit.replay";
    const ABOUT: &'static str = "
        Tell what limits would have done to the traffic of a capture: packets passed, marked and dropped.

        The results are per class and over time. A packet counts with the length of its frame on the wire, even if it was captured only in part.
        It meets the same limiter as it would live. Rules by fwmark match nothing, because captures do not contain the mark. Packets that match
        no rule go to the default class; without a default class, they pass. A classes file has a part for each class: [[class]], and below it
        name = \"gold\", rate = \"100Mbps\" and source = \"10.1.0.0/16\", each on a line of its own. trueplane demo --files DIR writes an example
        with all keys.

        The replay is open-loop: senders do not react to drops or marks. Packets arrive at the times of the capture, or as a link with faults
        delivers them (--delay, --jitter, --loss, --reorder, --duplicate).";
    const EXAMPLES: &'static str = "\
        trueplane limit replay examples/tenants.pcap --classes examples/classes.toml --report out
        trueplane limit replay examples/tenants.pcap --classes examples/classes.toml --speedup 10 --bin 1s
        tcpdump -i eth0 -c 100000 -w - | trueplane limit replay - --classes examples/classes.toml --json";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("What limits would have done: {}", options.capture_name())
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

    fn advice(options: &Options, found: &Found) -> String {
        verdict::advice(options, found)
    }
}
