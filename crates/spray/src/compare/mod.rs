//! `spray compare`: what hashing flows to cores wastes, and what spraying their packets gains and costs.

pub mod found;
pub mod options;
mod page;
mod plots;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::{Found, Row};
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Compare;

impl Study for Compare {
    const NAME: &'static str = "spray.compare";
    const ABOUT: &'static str = "
        Show what hashing flows to cores wastes, and what spraying packets gains and costs, in simulation.

        Cores are servers with rings. The network functions and their flow tables are the same as on real interfaces, and decide what happens to
        each packet. First, each system is offered --rate, to find its processing rate. Then all systems are offered the share --load of the
        smallest of these rates, to find their latency. Lists make a grid, which runs on all cores.";
    const EXAMPLES: &'static str = "\
        trueplane spray compare
        trueplane spray compare --nf nat --flows 1 --cores 8 --cycles 10000 --policies rss,spray
        trueplane spray compare --flows 1,2,4,8,16,32,64,128 --cycles 10K --policies all --report out
        trueplane spray compare --sizes web-search --flows 64 --cycles 5000
        trueplane spray compare examples/tenants.pcap --nf monitor --cycles 5000 --json";
    const BELIEF: &'static str = crate::BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(_: &Options) -> String {
        "Hashing flows to cores and spraying their packets".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(found, page);
        plots::draw(options, found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
