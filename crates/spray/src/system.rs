//! Systems by name: how packets and the state of flows are shared out among cores.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Datum, Listed, Name, Value, choice, choices, unexpected};

use crate::dispatch::{DispatchName, PolicyName};

/// Properties of a way to keep state that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether a core handles all packets of a flow, or sees them all in their order.
    pub whole_flows: bool,
}

choices! {
    /// Another way to keep the state of flows than a table for each core that all read.
    pub enum StateName: Properties {
        /// One packet to each core in turn; every core computes the state of all flows.
        ///
        /// It does so from a history that packets bring along. Source: Q. Xu et al., *State-compute replication*, NSDI 2025.
        Scr = "scr" { whole_flows: true },
        /// One packet to each core in turn; all cores share one table with one lock.
        Locked = "locked" { whole_flows: false },
        /// By hash; each core has a table that no other core reads.
        Sharded = "sharded" { whole_flows: true },
    }
}

/// Distribution of a function's packets and flows among cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemName {
    /// This framework: a dispatch policy, a table for each core that all read, connection packets handed over.
    Dispatch(DispatchName),
    /// Another way to keep state.
    State(StateName),
}

impl SystemName {
    /// All of them; of `subset`, that of two cores.
    pub fn all() -> impl Iterator<Item = Self> {
        DispatchName::all().map(Self::Dispatch).chain(StateName::ALL.iter().copied().map(Self::State))
    }

    /// Whether one of so many cores handles all packets of a flow, or sees them all in their order: what a function needs that writes a flow's
    /// state with every packet.
    pub fn suits_whole_flows(self, cores: usize) -> bool {
        match self {
            Self::Dispatch(name) => name.keeps_flows_whole(cores),
            Self::State(name) => name.properties().whole_flows,
        }
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatch(name) => name.fmt(f),
            Self::State(name) => name.fmt(f),
        }
    }
}

impl FromStr for SystemName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let other = |_| text.parse().map(Self::State);
        text.parse().map(Self::Dispatch).or_else(other).map_err(|_| unexpected(Self::expected(), text))
    }
}

impl Value for SystemName {
    fn expected() -> String {
        choice::one_of(Self::names().iter().map(|name| name.name))
    }

    fn names() -> Vec<Name> {
        [PolicyName::names(), StateName::names()].concat()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.to_string())
    }
}

impl Listed for SystemName {
    fn usual() -> Vec<Self> {
        Self::all().collect()
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Choices;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for system in SystemName::all() {
            assert_eq!(system.to_string().parse(), Ok(system));
        }
        assert!("subset:0".parse::<SystemName>().is_err_and(|error| error.contains("scr, locked")));
    }

    #[test]
    fn lists_have_every_system_once() {
        assert_eq!(<Choices<SystemName>>::parse("all").unwrap().0.len(), 11);
        assert_eq!(
            <Choices<SystemName>>::parse("subset:3, scr,all").unwrap().show().split(',').next(),
            Some("subset:3")
        );
        assert_eq!(<Choices<SystemName>>::parse("subset:3,all,all").unwrap().0.len(), 12);
        assert!(["", "rss,", "_", "rsss"].iter().all(|bad| <Choices<SystemName>>::parse(bad).is_err()));
    }
}
