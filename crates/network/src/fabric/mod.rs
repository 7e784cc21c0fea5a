//! `sched fabric`: how long flows take on a leaf-spine fabric under TCP, DCTCP and packet schedulers (figures 7 to 10 of SP-PIFO).

mod capture_file;
pub mod found;
pub mod names;
pub mod options;
mod page;
mod plots;
mod port;
pub mod queueing;
mod run;
pub mod system;
mod verdict;
pub mod ways;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::Found;
pub use options::Options;
pub use system::{RankName, SystemName, TransportName};

/// The study.
#[derive(Debug)]
pub struct Fabric;

impl Study for Fabric {
    const NAME: &'static str = "sched.fabric";
    const ABOUT: &'static str = "
        Compare flow completion times in a network under TCP, DCTCP and packet schedulers.

        Flows start at random between random hosts, or as a table has them, and react to what the network does with their packets. Every packet,
        queue and acknowledgement is simulated. Each policy gets the same flows.

        The policies tcp and dctcp have FIFO ports. All others are schedulers: each port sends the waiting packet with the smallest rank first,
        as well as the scheduler can. With --rank pfabric, ranks are the bytes that a flow has left, which makes small flows fast. With --rank
        stfq, ranks share each link fairly. The ranks lstf and edf go by deadlines, and fifo+ by how long packets waited at other ports.

        Links can have faults (--faults), and packets can be spread over several ways (--balancing).

        The classical model is a queueing formula for a single link: M/G/1 with the shortest remaining flow first for schedulers with --rank
        pfabric, and M/G/1 with processor sharing for everything else.";
    const EXAMPLES: &'static str = "\
        trueplane sched fabric --report out
        trueplane sched fabric data-mining --load 0.5 --duration 20ms
        trueplane sched fabric --rank stfq --policies dctcp,afq,sp-pifo,pifo --duration 20ms
        trueplane sched fabric --rank lstf --balancing spray --load 0.5 --duration 20ms
        trueplane sched fabric --topology fat-tree:4 --load 0.5 --duration 50ms
        trueplane sched fabric --leaves 2 --spines 1 --hosts-per-leaf 4 --load 0.3,0.9 --policies tcp,sp-pifo --json";
    const BELIEF: &'static str = "the completion time of a flow is that of a queueing formula for one link: shared equally under TCP, and given to the smallest flow under a priority scheduler";

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Flow completion times on a fabric: {}, {}", options.workload.title(), options.rank.purpose())
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
