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
        /// Self-clocked fair queueing: flows that wait get the same amount of work.
        Fq = "fq" { alike: true, ..Properties::RANKED },
        /// Deficit round robin.
        Drr = "drr" { alike: true, ..Properties::RANKED },
        /// Shortest job first.
        Sjf = "sjf" { in_order: false, ..Properties::RANKED },
        /// Weighted shortest job first: least work per bit first.
        Wsjf = "wsjf" { in_order: false, ..Properties::RANKED },
        /// WSJF that ranks each flow by its first packet.
        WsjfHoq = "wsjf-hoq" { ..Properties::RANKED },
        /// WSJF that ranks each flow by its whole queue.
        WsjfInorder = "wsjf-inorder" { ..Properties::RANKED },
        /// SJF that ranks each flow by its whole queue, by work per packet.
        SjfInorder = "sjf-inorder" { ..Properties::RANKED },
    }
}
