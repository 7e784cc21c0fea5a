//! `sched inversions`: how often packets leave in the wrong order under every scheduler, and what that has to do with the load, the
//! number of queues, the distribution of ranks and the way in which SP-PIFO pushes down.

mod compare;
pub mod found;
pub mod options;
mod page;
mod plots;
mod run;
mod scenario;
mod verdict;
mod workload;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;
pub use run::run_on;

/// The study.
#[derive(Debug)]
pub struct Inversions;

impl Study for Inversions {
    const NAME: &'static str = "sched.inversions";
    const ABOUT: &'static str = "
        Count how often packets leave an output port in the wrong order, under every scheduler.

        Packets with ranks arrive at one port. Its scheduler queues or drops them, and they leave at line rate. An inversion is a packet that
        leaves while a packet of lower rank waits.

        Lists vary one thing at a time: a star, not a product. The first values of --ranks, --queues, --push-down and --load are the base. Each
        further value replaces one value of the base.

        The port is open-loop: arrival times do not depend on drops. TCP senders, as in the paper, would slow down.";
    const EXAMPLES: &'static str = "\
        trueplane sched inversions --report out
        trueplane sched inversions --figures --report out
        trueplane sched inversions --ranks convex:1000 --queues 8,32 --load 1.1 --policies fifo,sp-pifo,packs,pifo
        trueplane sched inversions --ranks stfq --arrivals on-off --json
        trueplane sched inversions examples/tenants.pcap --ranks pfabric --arrivals trace --load 0.95
        trueplane sched inversions examples/packets.csv --ranks trace --columns key=packet_bytes";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        let ranks = options.ranks()[0];
        match options.trace.to_str() {
            Some("") => format!("The order of packets: ranks {ranks}"),
            Some("-") => format!("The order of packets: ranks {ranks}, stdin"),
            _ => format!("The order of packets: ranks {ranks}, {}", options.trace.display()),
        }
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(options: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
