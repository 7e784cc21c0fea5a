//! `spray experiment`: real connections through the synthetic function, in network namespaces of their own, to show of this kernel and
//! this machine what figures 3.6b, 3.7b, 3.8 and 3.9 show of a card and eight cores.
//!
//! Variants take turns within each round, so that whatever else the machine does meets all of them; every run is told. Senders and receivers share
//! the machine's cores with the function.

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use found::Point;
pub use options::{ExperimentName, Options};

/// The study.
#[derive(Debug)]
pub struct Experiment;

impl Study for Experiment {
    const NAME: &'static str = "spray.experiment";
    const ABOUT: &'static str = "
        Test spraying with real connections on this machine, in temporary network namespaces.

        Senders and receivers share the cores of the machine with the function.

        The command does not touch any device of this machine. You need root, and the programs iperf3 and ethtool.";
    const EXAMPLES: &'static str = "\
        trueplane spray experiment --report out
        trueplane spray experiment cycles --cycles 0,10000 --policies rss,spray --rounds 5 --json";
    const BELIEF: &'static str = "A flow needs one core, and cores together do as much as each does alone.";
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Vec<Point>;

    fn title(_: &Options) -> String {
        "Spraying real connections".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<Point>, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Vec<Point>, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(_: &Options, found: &Vec<Point>) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, _: &Vec<Point>) -> String {
        String::new()
    }
}
