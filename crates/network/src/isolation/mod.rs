//! `limit isolation`: what tenants with many flows get of a shared link, with and without limits (figures 14, 16 and 17 of Nimble).
//!
//! | figure | what it shows | here |
//! |---|---|---|
//! | 16 (a), (b) | DCTCP: a tenant with 10 flows, later another with 100, without and with limits | the policies fifo and nimble: the picture of rates over time |
//! | 14 | the logical queue with and without marks | the policies nimble and nimble-drops with `--burst 1MB --mark 20kB`: the picture of the bucket |
//! | 17 | round-trip times of a tenant beside one with 100 flows | the distribution of the times of probes |
//! | 13 | a meter in place of the logical queue | the policies srtcm and trtcm |
//!
//! The files, in the order in which to read them:
//!
//! 1. [`options`]: the parameters; [`policy`]: what is compared, and the senders.
//! 2. `scenario`: hosts, links, and the flows of all tenants.
//! 3. [`tenants`]: a queue that knows tenants; [`policed`]: limiters in front of a FIFO; [`deficit`]: a queue for each tenant.
//! 4. [`shared`]: the port of the shared link, which sees every packet; [`record`]: what it counts.
//! 5. `run`, [`found`], `page`, `plots`, `verdict`, as in every study.

pub mod deficit;
pub mod found;
pub mod options;
mod page;
mod plots;
pub mod policed;
pub mod policy;
pub mod record;
mod run;
mod scenario;
pub mod shared;
pub mod tenants;
mod verdict;

use trueplane_study::{Error, Observer, Page, Study};

pub use found::Found;
pub use options::Options;
pub use policy::{PolicyName, TransportName};

/// The study.
#[derive(Debug)]
pub struct Isolation;

impl Study for Isolation {
    const NAME: &'static str = "limit.isolation";
    const ABOUT: &'static str = "
        Measure what tenants with few and many flows get of a shared link, with and without limits.

        Each tenant has long-running flows, each from a host of its own, to one host behind the shared link. The senders react to losses and
        marks. The second tenant starts later than the first. A further tenant sends small flows at random times, to probe how long packets take.

        The limits stand at the port of the shared link. Nimble drops and marks packets before they wait, token-bucket drops them, and drr has a
        queue for each tenant. Limiters are the objects that `trueplane limit attach` and the other studies use.

        The classical model is that TCP shares the link fairly between tenants: all get the same.";
    const EXAMPLES: &'static str = "\
        trueplane limit isolation --report out
        trueplane limit isolation --transport dctcp --policies fifo,nimble --flows 10,100
        trueplane limit isolation --policies nimble,nimble-drops --burst 1MB --mark 20kB
        trueplane limit isolation --flows 1,10,100 --limit 50Gbps,30Gbps,15Gbps --policies fifo,nimble,drr --json";
    const BELIEF: &'static str = trueplane_limit::BELIEF;

    type Options = Options;
    type Found = Found;

    fn title(options: &Options) -> String {
        let flows: Vec<String> = options.flows.iter().map(|flows| flows.to_string()).collect();
        format!("Isolation of tenants with {} flows", trueplane_study::prose::join(&flows))
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
        run::run(options, observer)
    }

    fn present(options: &Options, found: &Found, page: &mut Page) {
        page::present(options, found, page);
    }

    fn verdict(_: &Options, found: &Found) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, found: &Found) -> String {
        verdict::advice(found)
    }
}
