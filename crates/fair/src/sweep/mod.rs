//! `fair sweep`, figures 4.9 and 4.11 of the thesis: SDRF against DRF on clusters of several sizes, with memories of several lengths.

pub mod found;
pub mod options;
mod page;
pub mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Sweep;

impl Study for Sweep {
    const NAME: &'static str = "fair.sweep";
    const ABOUT: &'static str = "
        Show how long a scheduler should remember: SDRF against DRF on clusters of several sizes.

        The tables show how much SDRF reduces the mean wait of users, and how often users change places in the live tree (figures 4.9 and 4.11 of
        the thesis).";
    const EXAMPLES: &'static str = "\
        trueplane fair sweep examples/jobs.csv --report out
        trueplane fair sweep generate:users=100,tasks=100K --capacity 50%,70% --delta 1-1e-4,1-1e-6";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("How long to remember: {}", options.scenario.reading.source(&options.jobs).title())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        let (log, weights) = options.scenario.read(&options.jobs, observer)?;
        run::on_log(&log, &weights, options, observer)
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
