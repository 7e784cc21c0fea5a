//! Functions by name.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Which function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionName {
    /// Many private addresses behind a few public ones.
    Nat,
    /// Rules, and the connections that they allowed.
    Firewall,
    /// Connections to one address, shared out to many servers.
    Balancer,
    /// Packets and bytes of every flow.
    Monitor,
    /// What was sent before already.
    Redundancy,
    /// That of the evaluation: a lookup, an edit.
    Synthetic,
    /// Patterns across the packets of a flow.
    Dpi,
}

/// Not the name of a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {names}, got \"{0}\"", names = FunctionName::list())]
pub struct NotAFunction(String);

impl FunctionName {
    /// All of them.
    pub const ALL: [FunctionName; 7] = [
        Self::Nat,
        Self::Firewall,
        Self::Balancer,
        Self::Monitor,
        Self::Redundancy,
        Self::Synthetic,
        Self::Dpi,
    ];

    /// The name, as flags and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nat => "nat",
            Self::Firewall => "firewall",
            Self::Balancer => "balancer",
            Self::Monitor => "monitor",
            Self::Redundancy => "redundancy",
            Self::Synthetic => "synthetic",
            Self::Dpi => "dpi",
        }
    }

    /// All names, as people list things.
    fn list() -> String {
        let [first @ .., last] = Self::ALL.map(Self::name);
        format!("{} or {last}", first.join(", "))
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FunctionName {
    type Err = NotAFunction;

    fn from_str(text: &str) -> Result<Self, NotAFunction> {
        Self::ALL
            .into_iter()
            .find(|function| function.name() == text)
            .ok_or_else(|| NotAFunction(text.to_owned()))
    }
}

impl Serialize for FunctionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for function in FunctionName::ALL {
            assert_eq!(function.to_string().parse(), Ok(function));
        }
        let error = "proxy".parse::<FunctionName>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected nat, firewall, balancer, monitor, redundancy, synthetic or dpi, got \"proxy\""
        );
    }
}
