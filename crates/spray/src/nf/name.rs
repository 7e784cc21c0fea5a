//! Functions by name, with what is known of each without running it.

use trueplane_units::choices;

use super::{Balancer, Dpi, Firewall, Monitor, Nat, Redundancy, Synthetic};
use crate::{Fit, NetworkFunction};

/// Properties of a function that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Constraint of the function on the distribution of its packets.
    pub fit: Fit,
}

impl Properties {
    const fn of<N: NetworkFunction>() -> Self {
        Self { fit: N::FIT }
    }
}

choices! {
    /// A network function by name.
    pub enum FunctionName: Properties {
        /// Translates many private addresses to a few public ones.
        Nat = "nat" { ..Properties::of::<Nat>() },
        /// Applies rules to new connections, and passes the packets of allowed ones.
        Firewall = "firewall" { ..Properties::of::<Firewall>() },
        /// Distributes connections to one address over many servers.
        Balancer = "balancer" { ..Properties::of::<Balancer>() },
        /// Counts packets and bytes of every flow.
        Monitor = "monitor" { ..Properties::of::<Monitor>() },
        /// Finds parts of packets that were sent before.
        Redundancy = "redundancy" { ..Properties::of::<Redundancy>() },
        /// Does a lookup and an edit, as in the evaluation of Sprayer.
        Synthetic = "synthetic" { ..Properties::of::<Synthetic>() },
        /// Finds patterns, also across the packets of a flow.
        Dpi = "dpi" { ..Properties::of::<Dpi>() },
    }
}
