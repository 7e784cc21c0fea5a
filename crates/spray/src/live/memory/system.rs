//! What is compared: the dispatch policies, and the ways to have state on several cores without them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use trueplane_units::Nanos;

use crate::Steering;
use crate::dispatch::{
    Arrival, DISPATCH_NAMES, Dispatch, DispatchName, DispatchOptions, RoundRobin, dispatcher,
};
use crate::packet::Packet;

/// How packets come to cores, and flows' state to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum System {
    /// A policy; state is written by designated cores and read by all, connection packets are handed over.
    Dispatched(DispatchName),
    /// Packets in turns to all cores, one table for all of them, and one lock: for every batch of lookups, and for connection packets,
    /// which are handled where they are.
    Locked,
    /// All packets of a flow to its designated core by software, and a table for each core that no other core sees.
    Sharded,
    /// Packets in turns to all cores, and all of the state on each of them: every core handles all packets in the same order, those of other
    /// cores without work and without a result. State-compute replication: Xu et al., *State-Compute Replication*, NSDI 2025.
    Replicated,
}

/// The names beside those of dispatch policies.
const OTHERS: [(&str, System); 3] =
    [("locked", System::Locked), ("sharded", System::Sharded), ("scr", System::Replicated)];

impl System {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let policies = DispatchName::ALL.into_iter().map(Self::Dispatched);
        policies.chain(OTHERS.map(|(_, system)| system))
    }

    /// The names as they are written, for help and errors.
    pub fn names() -> String {
        OTHERS.iter().fold(DISPATCH_NAMES.to_owned(), |names, (name, _)| names + ", " + name)
    }

    /// Whether a core never sees but a part of each flow's packets: what functions cannot bear that write a flow's state with every packet.
    pub fn splits_flows(self, cores: usize) -> bool {
        match self {
            Self::Dispatched(name) => {
                !dispatcher(name, cores, &DispatchOptions::default()).keeps_flows_whole()
            }
            Self::Locked => true,
            Self::Sharded | Self::Replicated => false,
        }
    }

    /// Who chooses a packet's core.
    pub(super) fn picker(self, cores: usize, options: &DispatchOptions) -> Picker {
        match self {
            Self::Dispatched(name) => Picker::Card(dispatcher(name, cores, options)),
            Self::Locked | Self::Replicated => Picker::Card(Box::new(RoundRobin::new(cores))),
            Self::Sharded => Picker::Designated(Box::new(Steering::new(cores))),
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatched(name) => name.fmt(f),
            other => f.pad(OTHERS.iter().find(|(_, system)| system == other).map_or("", |(name, _)| name)),
        }
    }
}

impl FromStr for System {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let other = OTHERS.iter().find(|(name, _)| *name == text).map(|&(_, system)| system);
        let policy = || text.parse().map(Self::Dispatched).ok();
        let refuse = || format!("expected one of {}, found \"{text}\"", Self::names());
        other.or_else(policy).ok_or_else(refuse)
    }
}

impl Serialize for System {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Who chooses.
pub(super) enum Picker {
    /// A policy, which sees what a card sees.
    Card(Box<dyn Dispatch>),
    /// Software that sees all of the packet: what an error of ICMP quotes, and the identifier of an echo.
    Designated(Box<Steering>),
}

impl Picker {
    #[inline]
    pub(super) fn core(&mut self, packet: &Packet, now: Nanos) -> usize {
        match self {
            Self::Card(policy) => policy.core(&Arrival::of(packet), now),
            Self::Designated(steering) => packet.flow().map_or(0, |flow| steering.designated(flow)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for system in System::all() {
            assert_eq!(system.to_string().parse(), Ok(system));
        }
        assert_eq!(System::all().count(), 11);
        let refusal = "hash".parse::<System>().unwrap_err();
        assert!(
            refusal.starts_with("expected one of rss, ") && refusal.ends_with("found \"hash\""),
            "{refusal}"
        );
    }

    #[test]
    fn who_splits_flows() {
        let splits = |name: &str| name.parse::<System>().unwrap().splits_flows(2);
        assert!(["spray", "round-robin", "locked"].into_iter().all(splits));
        assert!(!["rss", "sharded", "scr"].into_iter().any(splits));
    }
}
