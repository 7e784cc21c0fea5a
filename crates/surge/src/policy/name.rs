//! The orders of service by name, with what is known of each without running it.

use trueplane_units::choices;

/// Properties of an order of service that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// True if it orders by ranks, which can be rounded.
    pub ranked: bool,
    /// True if the packets of a flow leave in the order in which they came.
    pub in_order: bool,
    /// True if it treats flows alike: its theory is for long runs of long flows.
    pub alike: bool,
}

impl Properties {
    const RANKED: Self = Self { ranked: true, in_order: true, alike: false };
}

choices! {
    /// An order of service by name.
    pub enum PolicyName: Properties {
        /// First come, first served.
        Fcfs = "fcfs" { ranked: false, ..Properties::RANKED },
        /// Self-clocked fair queueing: flows that wait get equal work.
        Fq = "fq" { alike: true, ..Properties::RANKED },
        /// Deficit round robin.
        Drr = "drr" { alike: true, ..Properties::RANKED },
        /// Shortest job first.
        Sjf = "sjf" { in_order: false, ..Properties::RANKED },
        /// Least work per bit first.
        Wsjf = "wsjf" { in_order: false, ..Properties::RANKED },
        /// The flow whose first packet has the least work per bit.
        WsjfHoq = "wsjf-hoq" { ..Properties::RANKED },
        /// The flow with the least work per bit in all its queue.
        WsjfInorder = "wsjf-inorder" { ..Properties::RANKED },
        /// The flow with the least work per packet in all its queue.
        SjfInorder = "sjf-inorder" { ..Properties::RANKED },
    }
}
