//! `fair allocate`: who gets what of a cluster whose tasks can be divided, under several mechanisms, side by side.
//!
//! The file is a demands document: [`demands`] says what it holds, and `read` reads and checks it.

pub mod demands;
pub mod found;
pub mod options;
mod page;
mod plots;
mod read;
pub mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

use crate::BELIEF;
pub use demands::Demands;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Allocate;

impl Study for Allocate {
    const NAME: &'static str = "fair.allocate";
    const ABOUT: &'static str = "
        Tell who gets how much of a cluster, by rules with and without memory.

        Tasks can be divided at will. mmf and smmf are max-min fairness for one resource; if there are several, they divide each one separately.
        drf and sdrf are dominant resource fairness. smmf and sdrf have memory: they take commitments into account.";
    const EXAMPLES: &'static str = "\
        trueplane fair allocate examples/demands.json
        trueplane fair allocate examples/demands.json --policies mmf,drf,sdrf --delta 0.5 --report report";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("Who gets what of {}", options.name())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::divide(&run::read(options)?, options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
        plots::draw(found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, _: &Found) -> String {
        String::new()
    }
}
