//! `sched bandwidth`: who gets the line while flows of higher and higher priority join (figure 11 of SP-PIFO).

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::SchedulerRun;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Bandwidth;

impl Study for Bandwidth {
    const NAME: &'static str = "sched.bandwidth";
    const ABOUT: &'static str = "
        See who gets the line while flows of higher and higher priority join (figure 11 of SP-PIFO).

        Flows of a constant rate start one after the other. Each has a lower rank, so a higher priority, than all flows before it. By default,
        each flow alone sends more than the line can carry. Under a PIFO, the newest flow then gets everything. Strict-priority queues can
        separate as many flows as there are queues. Figure 11 was measured on a switch whose bounds change with every arrival; here, this is
        sp-pifo-arrivals. The gaps between the packets of a flow are random, so that flows do not synchronise.";
    const EXAMPLES: &'static str = "\
        trueplane sched bandwidth --report out
        trueplane sched bandwidth --queues 8 --policies sp-pifo,fixed,packs,pifo
        trueplane sched bandwidth --flows 16 --flow-rate 5Gbps --rate 10Gbps --step 10ms --json";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Vec<SchedulerRun>;

    fn title(_: &Options) -> String {
        "Who gets the line while flows of higher and higher priority join".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<SchedulerRun>, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Vec<SchedulerRun>, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(options: &Options, found: &Vec<SchedulerRun>) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(options: &Options, found: &Vec<SchedulerRun>) -> String {
        verdict::advice(options, found)
    }
}
