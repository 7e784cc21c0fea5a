//! `limit precision`: how exactly limiters enforce their rates against senders that take no notice of them (figures 11 to 13 of Nimble).

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Point;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Precision;

impl Study for Precision {
    const NAME: &'static str = "limit.precision";
    const ABOUT: &'static str = "
        Measure how exactly limiters enforce their rates against senders that do not slow down.

        Each source offers each limiter more than its rate (see --load). When the bucket is full, the command compares the rate that passes with
        the configured rate. Nimble drains by multiplication (exact), or from a table with a chosen maximum error, as on a switch that cannot
        multiply. The other limiters are references with full-size words. The two-rate meter uses the configured rate as its peak rate.";
    const EXAMPLES: &'static str = "\
        trueplane limit precision --report out
        trueplane limit precision --rate 10Gbps,40Gbps,80Gbps --packet-size 1500 --source cbr --policies nimble --drain exact,6%
        trueplane limit precision --rate 1Mbps,100Mbps --packet-size 64,1500 --load 1.2 --duration 60s --json";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Vec<Point>;

    fn title(_: &Options) -> String {
        "How exactly limiters enforce their rates".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<Point>, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Vec<Point>, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(options: &Options, found: &Vec<Point>) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(options: &Options, found: &Vec<Point>) -> String {
        verdict::advice(options, found)
    }
}
