//! What can be chosen: where ranks come from, and when packets come.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Choice, choices};

use crate::distribution::{Distribution, Shape};
use crate::rank::RankName;

/// Where ranks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankChoice {
    /// Drawn from a distribution.
    Drawn(Distribution),
    /// The keys of the trace.
    Trace,
    /// A policy, from what a packet and its flow are.
    Policy(RankName),
}

impl fmt::Display for RankChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankChoice::Drawn(distribution) => distribution.fmt(f),
            RankChoice::Trace => f.pad("trace"),
            RankChoice::Policy(policy) => f.pad(policy.name()),
        }
    }
}

impl FromStr for RankChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text == "trace" {
            return Ok(RankChoice::Trace);
        }
        if let Ok(policy) = RankName::from_name(text) {
            return Ok(RankChoice::Policy(policy));
        }
        match Distribution::parse(text) {
            Some(parsed) => parsed.map(RankChoice::Drawn).map_err(|error| error.to_string()),
            None => {
                let shapes = Shape::NAMES.iter().map(|(name, _)| *name);
                let policies = RankName::ALL.iter().map(|policy| policy.name());
                let known: Vec<&str> = shapes.chain(["trace"]).chain(policies).collect();
                Err(format!("unknown ranks \"{text}\"; known: {}", known.join(", ")))
            }
        }
    }
}

choices! {
    /// When packets come.
    pub enum Arrivals {
        /// As a Poisson process.
        Poisson = "poisson",
        /// In flows that start as a Poisson process and send at an access rate.
        OnOff = "on-off",
        /// When those of the trace came.
        Trace = "trace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_a_distribution_a_trace_or_a_policy() {
        let shown = |text: &str| text.parse::<RankChoice>().map(|choice| choice.to_string());
        assert_eq!(shown("uniform"), Ok("uniform:100".to_owned()));
        for text in ["convex:9", "trace", "fifo+", "edf"] {
            assert_eq!(shown(text), Ok(text.to_owned()));
        }
        assert!(shown("normal").unwrap_err().starts_with("unknown ranks \"normal\"; known: uniform, "));
        assert!(shown("uniform:0").unwrap_err().starts_with("expected a span of 1 to 262144 ranks"));
    }
}
