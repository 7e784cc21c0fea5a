//! What can be chosen: where ranks come from, when packets come, and who competes.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Choice, Choices, Datum, Name, Value, Word, choices, unexpected};

use crate::distribution::{Distribution, Shape};
use crate::policy::SchedulerName;
use crate::rank::RankName;

/// Source of ranks.
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
            None => Err(unexpected(RankChoice::expected(), text)),
        }
    }
}

impl RankChoice {
    /// Every name, as errors and help texts say them.
    fn known() -> String {
        let shapes: Vec<&str> = Shape::ALL.iter().map(|shape| shape.name()).collect();
        let policies: Vec<&str> = RankName::ALL.iter().map(|policy| policy.name()).collect();
        format!(
            "one of {} (or with a span, as uniform:100), trace, {}",
            shapes.join(", "),
            policies.join(", ")
        )
    }
}

impl Value for RankChoice {
    fn expected() -> String {
        Self::known()
    }

    fn range() -> Option<String> {
        Some(Self::known())
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

choices! {
    /// Process by which packets arrive.
    pub enum Arrivals {
        /// As a Poisson process.
        Poisson = "poisson",
        /// Flows start as a Poisson process, and send at an access rate.
        OnOff = "on-off",
        /// At the times of the trace.
        Trace = "trace",
    }
}

/// The schedulers that compete, and whether the list says `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedulers {
    /// Schedulers in the order of the list, none twice.
    pub list: Choices<SchedulerName>,
    /// The list says `all`: schedulers that cannot work with the ranks are left out instead of being refused.
    pub lenient: bool,
}

impl Value for Schedulers {
    const SHAPE: trueplane_units::Shape = <Choices<SchedulerName>>::SHAPE;

    fn expected() -> String {
        <Choices<SchedulerName>>::expected()
    }

    fn names() -> Vec<Name> {
        <Choices<SchedulerName>>::names()
    }

    fn words() -> Vec<Word> {
        <Choices<SchedulerName>>::words()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let list = Choices::parse(text)?;
        Ok(Self { list, lenient: text.split(',').any(|name| name.trim().eq_ignore_ascii_case("all")) })
    }

    fn show(&self) -> String {
        match self.lenient {
            true if self.list.as_slice() == SchedulerName::USUAL => "all".to_owned(),
            // At the end the word adds nothing to the list.
            true => format!("{},all", self.list.show()),
            false => self.list.show(),
        }
    }

    fn datum(&self) -> Datum {
        self.list.datum()
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
        assert!(shown("normal").unwrap_err().starts_with("expected one of uniform, exponential, "));
        assert!(shown("uniform:0").unwrap_err().starts_with("expected a span of 1 to 262144 ranks"));
    }

    #[test]
    fn a_list_remembers_that_it_said_all() {
        for (text, shown) in [("all", "all"), ("pifo, fifo", "pifo,fifo")] {
            assert_eq!(Schedulers::parse(text).unwrap().show(), shown);
        }
        let both = Schedulers::parse("afq-strict,ALL").unwrap();
        assert_eq!((both.lenient, both.list.len()), (true, 10));
        assert_eq!(Schedulers::parse(&both.show()), Ok(both));
    }
}
