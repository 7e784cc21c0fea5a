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
        /// Many private addresses behind a few public ones.
        Nat = "nat" { ..Properties::of::<Nat>() },
        /// Rules, and the connections that they allowed.
        Firewall = "firewall" { ..Properties::of::<Firewall>() },
        /// Connections to one address, shared out to many servers.
        Balancer = "balancer" { ..Properties::of::<Balancer>() },
        /// Packets and bytes of every flow.
        Monitor = "monitor" { ..Properties::of::<Monitor>() },
        /// Parts of packets that were sent before already.
        Redundancy = "redundancy" { ..Properties::of::<Redundancy>() },
        /// A lookup and an edit, as in the evaluation of Sprayer.
        Synthetic = "synthetic" { ..Properties::of::<Synthetic>() },
        /// Patterns across the packets of a flow.
        Dpi = "dpi" { ..Properties::of::<Dpi>() },
    }
}
