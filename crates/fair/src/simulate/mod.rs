//! `fair simulate`: one log on one cluster, under several orders of users.

pub mod found;
pub mod options;
mod page;
mod plots;
pub mod run;
mod verdict;
mod warnings;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Simulate;

impl Study for Simulate {
    const NAME: &'static str = "fair.simulate";
    const ABOUT: &'static str = "
        Show who waits for a shared cluster because its scheduler forgets.

        The tasks of a log run on one pooled cluster, under each policy. Whenever a task arrives or ends, the policy starts the next task of the
        user who is first in its order, and goes on until a task does not fit. The run ends when all tasks have ended.

        Instead of a log, you can give
        generate:users=600,tasks=1M,resources=2,zipf=1.1,span=24h,burst=50,gap=1s,duration=5min,spread=1.5,correlation=0.5. Its users follow
        Zipf's law, and come and go. Keys that you leave out have these values. See trueplane fair generate --help for their meaning.";
    const EXAMPLES: &'static str = "\
        trueplane fair simulate examples/jobs.csv --report out
        trueplane fair simulate examples/jobs.csv --capacity cpu=96,memory=512 --policies all --half-life 7d
        trueplane fair simulate examples/jobs.csv --schedule started.csv --json
        trueplane fair simulate generate:users=100,tasks=200K --capacity 50%";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Who waits for the cluster: {}", options.scenario.reading.source(&options.jobs).title())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        let (log, weights) = options.scenario.read(&options.jobs, observer)?;
        run::on_log(&log, &weights, options, observer, Vec::new())
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        warnings::warn(options, found, page);
        page::present(options, found, page);
        plots::draw(found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
