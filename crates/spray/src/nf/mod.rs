//! Network functions.
//!
//! 1. [`nat`]: private addresses behind public ones; [`ports`]: its ports, which are each core's own without having been dealt out.
//! 2. [`firewall`]: what may begin, and what belongs to it; [`rules`]: its rules.
//! 3. [`balancer`]: one service, many servers; [`maglev`]: which of them.
//! 4. [`monitor`]: packets and bytes of every flow.
//! 5. [`redundancy`]: what was sent before already; the case that fits badly.
//! 6. [`synthetic`]: a lookup and an edit (§3.4).
//! 7. [`dpi`]: patterns across packets; the case that does not fit at all.
//! 8. [`laden`]: any of them, with as much work for each packet as is asked for.
//! 9. [`FunctionName`], [`FunctionOptions`], [`with_function`]: functions by name; [`FunctionParameters`]: what people tell them; `parse`: ports and
//!    prefixes.
//!
//! `sort` has what those that keep connections ask of a packet first, and `followed` what a core remembers of flows for itself.

pub mod balancer;
pub mod dpi;
mod example;
pub mod firewall;
mod followed;
pub mod laden;
pub mod maglev;
pub mod monitor;
mod name;
pub mod nat;
mod options;
mod parameters;
mod parse;
pub mod ports;
pub mod redundancy;
pub mod rules;
mod sort;
pub mod synthetic;

pub use self::balancer::Balancer;
pub use self::dpi::Dpi;
pub use self::firewall::Firewall;
pub use self::laden::{Busy, Idle, Laden};
pub use self::monitor::Monitor;
pub use self::name::{FunctionName, Properties};
pub use self::nat::Nat;
pub use self::redundancy::Redundancy;
pub use self::rules::{Rules, RulesError};
pub use self::synthetic::Synthetic;
pub use crate::nf::options::{
    Backend, BalancerOptions, DpiOptions, FunctionOptions, MonitorOptions, NatOptions, OptionsError,
    RedundancyOptions,
};
pub use crate::nf::parameters::FunctionParameters;
pub use crate::nf::parse::{Endpoint, ParseError, PortRange, Prefix, parse_prefix, parse_v4_prefix};

use crate::NetworkFunction;

/// Operation on a function whose type is known only when its name is.
pub trait Visit {
    /// Result of the operation.
    type Output;

    /// Does it.
    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Self::Output;
}

/// Makes the function of a name and does with it what `visit` does.
///
/// # Errors
///
/// The function cannot work with `options`.
pub fn with_function<V: Visit>(
    name: FunctionName,
    options: &FunctionOptions,
    visit: V,
) -> Result<V::Output, OptionsError> {
    Ok(match name {
        FunctionName::Nat => visit.visit(Nat::new(&options.nat)?),
        FunctionName::Firewall => visit.visit(Firewall::new(options.rules.clone())),
        FunctionName::Balancer => visit.visit(Balancer::new(&options.balancer)?),
        FunctionName::Monitor => visit.visit(Monitor::new(&options.monitor)),
        FunctionName::Redundancy => visit.visit(Redundancy::new(&options.redundancy)),
        FunctionName::Synthetic => visit.visit(Synthetic),
        FunctionName::Dpi => visit.visit(Dpi::new(&options.dpi)?),
    })
}
