//! `spray concurrency`: how many flows a capture has at a time (figure 3.2).

pub mod found;
pub mod options;
mod page;
mod run;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Concurrency;

impl Study for Concurrency {
    const NAME: &'static str = "spray.concurrency";
    const ABOUT: &'static str = "
        Count the concurrent flows in a capture, and show what they mean for hashing to cores (figure 3.2).

        Even if very many connections are open, only a few have packets in the short time that a middlebox works on one packet. Only windows with
        packets count. Both directions of a connection are one flow.";
    const EXAMPLES: &'static str = "\
        trueplane spray concurrency examples/tenants.pcap
        trueplane spray concurrency examples/tenants.pcap --window 1ms --large 1MB --all-protocols --report out";
    const BELIEF: &'static str = "With very many connections, hashing uses all cores.";
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = Found;

    fn title(_: &Options) -> String {
        "Flows at a time".to_owned()
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(options: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(options: &Options, found: &Found) -> String {
        verdict::advice(options, found)
    }
}
