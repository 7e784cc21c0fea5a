//! `limit size`: how much memory a limiter takes, and how many fit (figure 15 of Nimble).

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Size;

impl Study for Size {
    const NAME: &'static str = "limit.size";
    const ABOUT: &'static str = "
        Tell how many limiters fit into a memory, by layout.

        Layouts in 32-bit words have one word for each parameter and each variable of the algorithm, as hardware would. References are the
        layouts that this program uses. All limiters of a switch that cannot multiply share the tables from which they drain.";
    const EXAMPLES: &'static str = "\
        trueplane limit size
        trueplane limit size --limiters 1M --memory 22MiB --report out";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(_: &Options) -> String {
        "How many limiters fit".to_owned()
    }

    fn run(options: &Options, _: &dyn Observer) -> Result<Found, Error> {
        run::run(options)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(options: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(_: &Options, _: &Found) -> String {
        String::new()
    }
}
