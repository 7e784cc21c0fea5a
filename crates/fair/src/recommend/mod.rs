//! `fair recommend`: which half-life to set on one's own cluster, for SDRF, Kueue and Slurm.

mod configuration;
pub mod found;
pub mod options;
mod page;
mod plots;
pub mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Recommend;

impl Study for Recommend {
    const NAME: &'static str = "fair.recommend";
    const ABOUT: &'static str = "
        Recommend how long your cluster's scheduler should remember what users had, and print the lines to configure.

        Your log runs under SDRF, Kueue's admission fair sharing and Slurm's fair tree, each with several half-lives, and under two schedulers
        that remember nothing: drf (equal shares at each moment) and fifo. The output compares how long users wait, what part of the cluster they
        had in the long run beside what they are entitled to by weight, and how much stays idle. It names who gains and who loses.

        A half-life is recommended if at least as many users wait less as wait longer, all tasks together wait no longer, and users wait at least
        2% less on average, each compared with drf.

        To write a log, run TZ=UTC sacct -aXP -S 2026-11-01 -E 2026-12-01 -o JobID,User,Submit,Start,End,AllocTRES > jobs.txt for Slurm, or kubectl get pods
        -A -o json > pods.json for Kubernetes.";
    const EXAMPLES: &'static str = "\
        trueplane fair recommend examples/jobs.csv --half-life 10min,30min,1h
        trueplane fair recommend generate:users=100,tasks=100K --capacity 60% --half-life 1h,6h,1d --report out";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Which half-life to set: {}", options.scenario.reading.source(&options.jobs).title())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        let (log, weights) = options.scenario.read(&options.jobs, observer)?;
        run::on_log(&log, &weights, options, observer)
    }

    fn present(_: &Options, found: &Found, page: &mut Page) {
        verdict::warn(found, page);
        page::present(found, page);
        plots::draw(found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
