//! `spray reordering`: what reordering in a middlebox that sprays packets over its cores costs TCP (figures 3.6b, 3.7b and 3.9 of Sprayer).

pub mod classical;
mod ends;
pub mod found;
mod middlebox;
pub mod options;
mod page;
mod plots;
mod run;
pub mod senders;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::{Found, Row};
pub use options::Options;
pub use senders::{ControlName, RecoveryName};

/// The study.
#[derive(Debug)]
pub struct Reordering;

impl Study for Reordering {
    const NAME: &'static str = "spray.reordering";
    const ABOUT: &'static str = "
        Show what spraying packets over cores costs TCP, which takes late packets for lost ones.

        Flows that never end run over one line, through a middlebox, and over another line. The cores of the middlebox need --cycles for each
        packet in either direction. The policies choose the core of each packet. A packet leaves as soon as its core is done, so that packets
        of a flow on different cores may overtake each other. Every packet, queue and acknowledgement is simulated.

        The list --recovery varies how senders find out that a packet is lost. The classical model has no cost of reordering: the goodput is
        that of the line, of the cores which flows use if hashing spreads them evenly, or of the receive windows, whichever is least.";
    const EXAMPLES: &'static str = "\
        trueplane spray reordering
        trueplane spray reordering --flows 1,2,4,8,16,32,64 --policies rss,spray --recovery rack --runs 10 --report out
        trueplane spray reordering --flows 1 --cycles 0,2500,5000,10000 --policies rss,spray
        trueplane spray reordering --flows 4 --policies all --recovery sack,rack --json";
    const BELIEF: &'static str = "hashing spreads flows evenly, m cores carry m times as much as one, and TCP does not mind the order in which packets arrive";

    type Options = Options;
    type Found = Found;

    fn title(_: &Options) -> String {
        "TCP through a middlebox that hashes flows or sprays packets".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
        plots::draw(options, found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
