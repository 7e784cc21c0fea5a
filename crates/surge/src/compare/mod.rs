//! `surge compare`: what every bit of an attack costs users under every order of service.
//!
//! 1. `prepare`: packets, rates and what the attacker knows.
//! 2. `sent`: an attack on a policy; `attacks`: all of them; `trying`: what of them is found by trying.
//! 3. `single`: one run; `case`: what differs between runs; `batches`: many of them within the memory; `rows`: what they come to.

mod attacks;
mod batches;
mod case;
pub mod found;
pub mod options;
pub(crate) mod page;
mod plots;
mod prepare;
mod rows;
pub mod run;
mod sent;
mod single;
mod trying;
mod verdict;
mod warnings;

use trueplane_study::{Error, Observer, Page, Study};

use crate::BELIEF;
pub use found::Found;
pub use options::Options;

/// The study.
#[derive(Debug)]
pub struct Compare;

impl Study for Compare {
    const NAME: &'static str = "surge.compare";
    const ABOUT: &'static str = "
        Show how much traffic of users one bit of attack displaces, under every order of service.

        Packets of users arrive at a server, which serves one packet at a time to its end. Each policy runs without an attack. It then runs at
        each attack rate, under the steady attack that is worst for it (or the one of --attack). The displacement factor is the lost goodput of
        users divided by the rate of the attack.";
    const EXAMPLES: &'static str = "\
        trueplane surge compare iid: --report out
        trueplane surge compare iid:size=uniform:64B:1500B,job=lognormal:2us:1 --innocent 50%,90%
        trueplane surge compare iid: --innocent 90% --attack-rate 30% --policies fcfs,wsjf --json
        trueplane surge compare iid: --attack-rate 30% --attack search --json > found.json
        trueplane surge compare iid: --attack-rate 30% --attack file:found.json --capacity 1000
        trueplane surge compare trace:examples/packets.csv --innocent own --arrivals trace --capacity 1000 --overflow newcomer
        trueplane surge compare trace:examples/packets.csv --attack-packet 64B --attack-job 1ms --attack-rate 100Mbps --policies fcfs --departures served.csv
        trueplane surge compare reassembly:generated,flows=1000,packets=100,late=1%,overtaken=3 --design tree
        trueplane surge compare match:examples/tenants.pcap --rules examples/attack.rules";
    const BELIEF: &'static str = BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        format!("What an attacker's bit costs users: {}", options.workload.title())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer, None)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
        plots::draw(options, found, page);
    }

    fn verdict(options: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(options, found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
