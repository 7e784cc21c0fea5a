//! What can be chosen: where ranks come from, and when packets come.

use std::fmt;
use std::str::FromStr;

use crate::distribution::{Distribution, Shape};
use crate::rank;
use crate::rank::RankPolicy;

/// A rank policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankName {
    /// In the order of arrival.
    Fifo,
    /// As if no packet had waited longer than others so far.
    FifoPlus,
    /// By class of service.
    Class,
    /// Least remaining size of the flow first.
    PFabric,
    /// Shortest remaining processing time.
    Srpt,
    /// Start-time fair queueing.
    Stfq,
    /// Least slack time first.
    Lstf,
    /// Earliest deadline first.
    Edf,
}

impl RankName {
    /// Every policy with the name that flags and reports use.
    pub const NAMES: [(&'static str, RankName); 8] = [
        ("fifo", RankName::Fifo),
        ("fifo+", RankName::FifoPlus),
        ("class", RankName::Class),
        ("pfabric", RankName::PFabric),
        ("srpt", RankName::Srpt),
        ("stfq", RankName::Stfq),
        ("lstf", RankName::Lstf),
        ("edf", RankName::Edf),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, rank)| *rank == self).map_or("", |(name, _)| name)
    }

    /// Whether it looks at the size or the end of a flow.
    pub fn needs_flow_sizes(self) -> bool {
        matches!(self, RankName::PFabric | RankName::Srpt | RankName::Edf)
    }

    /// Whether its ranks grow with time, as times and virtual times do, so that which of them are small depends on when one looks.
    pub fn grows(self) -> bool {
        match self {
            RankName::Class | RankName::PFabric | RankName::Srpt => false,
            RankName::Fifo | RankName::FifoPlus | RankName::Stfq | RankName::Lstf | RankName::Edf => true,
        }
    }

    /// The policy, at its start.
    pub fn make(self) -> Box<dyn RankPolicy> {
        const FITS: &str = "a table for 2^16 flows can be had";
        match self {
            RankName::Fifo => Box::new(rank::Fifo),
            RankName::FifoPlus => Box::new(rank::FifoPlus),
            RankName::Class => Box::new(rank::StrictClass),
            RankName::PFabric => Box::new(rank::PFabric),
            RankName::Srpt => Box::new(rank::Srpt::new(MOST_FLOWS).expect(FITS)),
            RankName::Stfq => Box::new(rank::Stfq::new(MOST_FLOWS).expect(FITS)),
            RankName::Lstf => Box::new(rank::Lstf),
            RankName::Edf => Box::new(rank::Edf),
        }
    }
}

/// Policies that keep state for every flow keep it for so many.
pub const MOST_FLOWS: usize = 1 << 16;

/// Where ranks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankChoice {
    /// Drawn.
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
        if let Some(&(_, policy)) = RankName::NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(RankChoice::Policy(policy));
        }
        match Distribution::parse(text) {
            Some(parsed) => parsed.map(RankChoice::Drawn).map_err(|error| error.to_string()),
            None => {
                let shapes = Shape::NAMES.iter().map(|(name, _)| *name);
                let policies = RankName::NAMES.iter().map(|(name, _)| *name);
                let known: Vec<&str> = shapes.chain(["trace"]).chain(policies).collect();
                Err(format!("unknown ranks \"{text}\"; known: {}", known.join(", ")))
            }
        }
    }
}

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrivals {
    /// As a Poisson process.
    Poisson,
    /// In flows that start as a Poisson process and send at an access rate.
    OnOff,
    /// When those of the trace did.
    Trace,
}

impl Arrivals {
    /// Every choice with the name that flags and reports use.
    pub const NAMES: [(&'static str, Arrivals); 3] =
        [("poisson", Arrivals::Poisson), ("on-off", Arrivals::OnOff), ("trace", Arrivals::Trace)];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, arrivals)| *arrivals == self).map_or("", |(name, _)| name)
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
