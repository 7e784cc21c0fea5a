//! `surge guard`: what a bit of the worst steady attack costs my users today, and what it would cost them under WSJF.

pub mod found;
pub mod options;
mod page;
pub mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};
use trueplane_trace::name_of;

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Guard;

impl Study for Guard {
    const NAME: &'static str = "surge.guard";
    const ABOUT: &'static str = "
        Tell what a bit of the worst steady attack costs your users today, and what it would cost under WSJF.

        JOBS are packets that your processor served, each with the time that it took. The command tries attack rates from a hundred-thousandth of
        what the processor can serve up to all of it. At each rate, it sends the packets that theory finds worst, evenly and for a long time. In
        a short run, an attack in bursts can do more: see surge compare --attack search.";
    const EXAMPLES: &'static str = "\
        trueplane surge guard examples/packets.csv
        trueplane surge guard examples/packets.csv --innocent 2Gbps --largest-job 1ms --capacity 4096
        trueplane surge guard examples/packets.csv --policy fq --json";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("The worst steady attack on {}", name_of(&options.jobs))
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

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
