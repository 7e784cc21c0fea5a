//! `offload compare`: one workload, all systems.

pub mod found;
mod grid;
mod level;
mod limits;
pub mod options;
mod page;
mod plots;
pub mod recovery;
mod run;
#[cfg(test)]
mod tests;
mod verdict;
mod warnings;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Compare;

impl Study for Compare {
    const NAME: &'static str = "offload.compare";
    const ABOUT: &'static str = "
        Show what a slow control loop costs a table of hot items in a switch, and what DySO changes.

        Keys are looked up one by one at --rate. The classical model assumes a table that is updated at once (ideal-lru, ideal-lfu). For other
        policies, an entry must first be noticed, chosen and installed. They install entries in batches at --update-rate, or row by row with the
        control packets of DySO. Lists make a grid, which runs on all cores.";
    const EXAMPLES: &'static str = "\
        trueplane offload compare zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3 --warmup 1s --report out
        trueplane offload compare zipf:0.99,keys=1M,hot-in=0/1s,seconds=3 --hot-in 0,10,100,1000 --policies netcache,dyso
        trueplane offload compare examples/tenants.pcap --key dst --entries 16 --batch 8 --history 4x8 --policies dyso,netcache --control-rate 1Mpps,5Mpps,80Mpps
        trueplane offload compare examples/cdn-200k.csv.zst --policies all --update-rate 20K,1.25M --best-config --json";
    const BELIEF: &'static str =
        "what is hot is in the table: the miss ratio is that of an instantly updated cache";

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("What a slow control loop costs a switch's table: {}", options.workload.title())
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

    fn advice(options: &Options, found: &Found) -> String {
        verdict::advice(options, found)
    }
}
