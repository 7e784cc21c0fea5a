//! What to compare.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::dispatch::{DISPATCH_NAMES, DispatchName, DispatchOptions};
use crate::nf::{FunctionName, FunctionOptions};
use crate::sizes::FlowSizes;

/// Cores that a machine can have: no more than the indirection table has rows.
pub const MOST_CORES: usize = crate::steering::BUCKETS;

/// How a function's packets and its flows are shared out among cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemName {
    /// This framework: a dispatch policy, a table for each core that all read, connection packets handed over.
    Dispatch(DispatchName),
    /// State-compute replication: packets in turns, and every core computes the state of all flows from a history that packets bring along. Source: Q. Xu et al.,
    /// *State-compute replication*, NSDI 2025.
    Scr,
    /// Packets in turns, and one table behind one lock.
    Locked,
    /// Symmetric receive-side scaling, and a table for each core that no other sees.
    Sharded,
}

/// The names as they are written, for help and errors.
pub const SYSTEM_NAMES: &str =
    "rss, rss:default, spray, round-robin, flowlet, subset:K, adaptive, rss++, scr, locked, sharded";

impl SystemName {
    /// All of them; of `subset`, that of two cores.
    pub fn all() -> Vec<Self> {
        let policies = DispatchName::ALL.into_iter().map(Self::Dispatch);
        policies.chain([Self::Scr, Self::Locked, Self::Sharded]).collect()
    }

    /// Whether a core handles all packets of a flow, or sees them all in their order: what a function needs that writes a flow's state with every packet.
    pub fn suits_whole_flows(self, cores: usize, options: &DispatchOptions) -> bool {
        use crate::Dispatch as _;
        use crate::dispatch::dispatcher;
        match self {
            Self::Dispatch(name) => dispatcher(name, cores, options).keeps_flows_whole(),
            Self::Scr | Self::Sharded => true,
            Self::Locked => false,
        }
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatch(name) => name.fmt(f),
            Self::Scr => f.pad("scr"),
            Self::Locked => f.pad("locked"),
            Self::Sharded => f.pad("sharded"),
        }
    }
}

impl FromStr for SystemName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "scr" => Ok(Self::Scr),
            "locked" => Ok(Self::Locked),
            "sharded" => Ok(Self::Sharded),
            text => text.parse().map(Self::Dispatch).map_err(|_| {
                debug_assert!(SYSTEM_NAMES.starts_with(DISPATCH_NAMES));
                format!("expected one of {SYSTEM_NAMES}, got \"{text}\"")
            }),
        }
    }
}

/// What things cost, in cycles. Defaults: receiving and sending in batches as poll-mode drivers do, a flow table in the core's own cache, lines
/// that another core's cache has, and exchanges between caches; measure your own machine with `spray memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// To receive and send a packet.
    pub base: u64,
    /// To look up a flow in the core's own table.
    pub local: u64,
    /// To look it up in another core's.
    pub remote: u64,
    /// To hand over a batch, at either end.
    pub batch: u64,
    /// For each packet in it, at either end.
    pub packet: u64,
    /// To hold the lock of a shared table for a lookup, with what it takes to get a free one.
    pub lock: u64,
    /// To compute the state that another core's packet leaves.
    pub replay: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Self { base: 120, local: 40, remote: 80, batch: 150, packet: 40, lock: 150, replay: 30 }
    }
}

impl Costs {
    /// Names and values, as they are written.
    pub fn named(&self) -> [(&'static str, u64); 7] {
        let Self { base, local, remote, batch, packet, lock, replay } = *self;
        let (first, second) = ([("base", base), ("local", local), ("remote", remote)], ("batch", batch));
        let [a, b, c] = first;
        [a, b, c, second, ("packet", packet), ("lock", lock), ("replay", replay)]
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.named().iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(","))
    }
}

impl FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut costs = Self::default();
        for part in text.split(',') {
            let refuse = || format!("expected cycles such as base=120,remote=80, got \"{part}\"");
            let (name, value) = part.trim().split_once('=').ok_or_else(refuse)?;
            let value = value.parse().ok().filter(|&value| value <= MOST_CYCLES).ok_or_else(refuse)?;
            *match name {
                "base" => &mut costs.base,
                "local" => &mut costs.local,
                "remote" => &mut costs.remote,
                "batch" => &mut costs.batch,
                "packet" => &mut costs.packet,
                "lock" => &mut costs.lock,
                "replay" => &mut costs.replay,
                _ => {
                    let known = costs.named().map(|(name, _)| name).join(", ");
                    return Err(format!("unknown cost \"{name}\"; known: {known}"));
                }
            } = value;
        }
        if costs.base + costs.local == 0 {
            return Err("expected a packet to cost something: base and local are both 0".to_owned());
        }
        Ok(costs)
    }
}

/// The most cycles that anything may cost.
pub const MOST_CYCLES: u64 = 1_000_000_000;

/// How the time that a packet takes varies around its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Not at all.
    Constant,
    /// Exponentially.
    Exponential,
    /// Log-normally, with this coefficient of variation, above 0 and 100 at most.
    LogNormal(f64),
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Exponential => f.write_str("exponential"),
            Self::LogNormal(variation) => write!(f, "lognormal:{variation}"),
        }
    }
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let variation = |text: &str| text.parse().ok().filter(|&cv: &f64| cv > 0.0 && cv <= 100.0);
        match (text, text.strip_prefix("lognormal:").and_then(variation)) {
            ("constant", _) => Ok(Self::Constant),
            ("exponential", _) => Ok(Self::Exponential),
            (_, Some(variation)) => Ok(Self::LogNormal(variation)),
            _ => Err(format!("expected constant, exponential or lognormal:1.5, got \"{text}\"")),
        }
    }
}

/// When generated packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly.
    Even,
    /// As a Poisson process.
    Poisson,
}

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "even" => Ok(Self::Even),
            "poisson" => Ok(Self::Poisson),
            _ => Err(format!("expected even or poisson, got \"{text}\"")),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Even { "even" } else { "poisson" })
    }
}

/// How many packets generated flows have, SYN and FIN not counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// They do not end.
    Forever,
    /// So many, one at least.
    Packets(u64),
    /// Drawn from a distribution of bytes, in segments of 1460.
    Drawn(Arc<FlowSizes>),
}

/// A comparison: every system for every function, number of flows, cores and cycles.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which functions.
    pub functions: Vec<FunctionName>,
    /// What they are told.
    pub function: FunctionOptions,
    /// Which systems, each once.
    pub systems: Vec<SystemName>,
    /// What dispatch policies are told.
    pub dispatch: DispatchOptions,
    /// Cycles of work for each packet, besides [`costs`](Self::costs).
    pub cycles: Vec<u64>,
    /// Flows at a time; ignored for a capture.
    pub flows: Vec<u64>,
    /// Cores.
    pub cores: Vec<usize>,
    /// Packets a second that are offered to find the processing rate.
    pub rate: u64,
    /// The share of the smallest rate at which latency is measured.
    pub load: f64,
    /// Packets that are offered in each run to find the rate; for latency, a fifth of them.
    pub packets: u64,
    /// Runs with other flows each, of which means and extremes are taken.
    pub runs: u32,
    /// Descriptors of a ring, of receiving and of handing over.
    pub ring: usize,
    /// Cycles a second.
    pub clock: u64,
    /// What things cost.
    pub costs: Costs,
    /// How the time of a packet varies.
    pub service: Service,
    /// When packets come.
    pub arrivals: Arrivals,
    /// How long flows are.
    pub sizes: Sizes,
    /// Packets a second that the card gets through while it sprays by checksums: 82599 cards about ten million (§3.4).
    pub card_limit: Option<u64>,
    /// Where random draws begin.
    pub seed: u64,
}

impl Default for Options {
    /// The evaluation (§3.4): 8 cores of 2 GHz, one flow, packets of 64 bytes at 10 Gbit/s.
    fn default() -> Self {
        Self {
            functions: vec![FunctionName::Synthetic],
            function: FunctionOptions::default(),
            systems: [DispatchName::Rss, DispatchName::Spray, DispatchName::Adaptive]
                .map(SystemName::Dispatch)
                .into(),
            dispatch: DispatchOptions::default(),
            cycles: vec![0, 2_500, 5_000, 10_000],
            flows: vec![1, 8, 64],
            cores: vec![8],
            rate: 14_880_952,
            load: 0.7,
            packets: 100_000,
            runs: 10,
            ring: 512,
            clock: 2_000_000_000,
            costs: Costs::default(),
            service: Service::Constant,
            arrivals: Arrivals::Even,
            sizes: Sizes::Forever,
            card_limit: None,
            seed: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for system in SystemName::all() {
            assert_eq!(system.to_string().parse(), Ok(system));
        }
        assert!("subset:0".parse::<SystemName>().is_err_and(|error| error.contains("scr, locked")));
        for service in ["constant", "exponential", "lognormal:1.5"] {
            assert_eq!(service.parse::<Service>().map(|service| service.to_string()), Ok(service.to_owned()));
        }
        assert!(
            ["lognormal:0", "lognormal:-1", "lognormal:NaN", "normal"]
                .iter()
                .all(|bad| { bad.parse::<Service>().is_err() })
        );
    }

    #[test]
    fn costs_are_read_one_by_one() {
        let costs = Costs { base: 7, replay: 9, ..Costs::default() };
        assert_eq!("base=7, replay=9".parse(), Ok(costs));
        assert_eq!(costs.to_string().parse(), Ok(costs));
        assert!(
            "base=7,cache=1".parse::<Costs>().is_err_and(|error| error.contains("unknown cost \"cache\""))
        );
        assert!(
            ["", "base", "base=x", "base=-1", "base=0,local=0"]
                .iter()
                .all(|bad| { bad.parse::<Costs>().is_err() })
        );
    }
}
