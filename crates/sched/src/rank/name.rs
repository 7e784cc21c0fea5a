//! The rank policies by name, with what is known of each without running it.

use trueplane_units::choices;

use super::{Edf, Fifo, FifoPlus, Lstf, PFabric, RankPolicy, Srpt, Stfq, StrictClass};

/// Properties of a rank policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankProperties {
    /// Whether it looks at the size or the end of a flow.
    pub needs_flow_sizes: bool,
    /// Whether its ranks grow with time, as times and virtual times do, so that which of them are small depends on when one looks.
    pub grows: bool,
}

choices! {
    /// A rank policy by name.
    pub enum RankName: RankProperties {
        /// In the order of arrival.
        Fifo = "fifo" { needs_flow_sizes: false, grows: true },
        /// As if no packet had waited longer than others so far.
        FifoPlus = "fifo+" { needs_flow_sizes: false, grows: true },
        /// By class of service.
        Class = "class" { needs_flow_sizes: false, grows: false },
        /// Least remaining size of the flow first.
        PFabric = "pfabric" { needs_flow_sizes: true, grows: false },
        /// Shortest remaining processing time first.
        Srpt = "srpt" { needs_flow_sizes: true, grows: false },
        /// Start-time fair queueing.
        Stfq = "stfq" { needs_flow_sizes: false, grows: true },
        /// Least slack time first.
        Lstf = "lstf" { needs_flow_sizes: false, grows: true },
        /// Earliest deadline first.
        Edf = "edf" { needs_flow_sizes: true, grows: true },
    }
}

impl RankName {
    /// The policy, at its start.
    pub fn make(self) -> Box<dyn RankPolicy> {
        const FITS: &str = "a table for 2^16 flows can be had";
        match self {
            RankName::Fifo => Box::new(Fifo),
            RankName::FifoPlus => Box::new(FifoPlus),
            RankName::Class => Box::new(StrictClass),
            RankName::PFabric => Box::new(PFabric),
            RankName::Srpt => Box::new(Srpt::new(MOST_FLOWS).expect(FITS)),
            RankName::Stfq => Box::new(Stfq::new(MOST_FLOWS).expect(FITS)),
            RankName::Lstf => Box::new(Lstf),
            RankName::Edf => Box::new(Edf),
        }
    }
}

/// Number of flows for which policies that keep state for every flow keep it.
const MOST_FLOWS: usize = 1 << 16;
