//! What can be chosen: where ranks come from, when packets come, how many they are for the line, and who competes.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{
    Choice, Choices, Datum, Name, Value, Word, choices, scale_decimal, scale_share, unexpected,
};

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
        /// In flows that start as a Poisson process and send at an access rate.
        OnOff = "on-off",
        /// When those of the trace came.
        Trace = "trace",
    }
}

/// Offered load, as a multiple of the line's rate, in millionths: `0.9` or `90%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Load(pub u64);

impl Load {
    const MOST: u64 = 1_000_000_000_000;

    /// The load as a number: 0.9.
    pub fn share(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share().fmt(f)
    }
}

impl Value for Load {
    const SHAPE: trueplane_units::Shape = trueplane_units::Shape::NUMBER;

    fn expected() -> String {
        "a load of 0.000001 to 1000000 such as 0.9 or 90%".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let millionths = scale_share(text, 1_000_000).or_else(|| scale_decimal(text, 1_000_000));
        let load = millionths.filter(|millionths| (1..=Self::MOST).contains(millionths));
        load.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.share())
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
    fn loads_are_shares_or_multiples() {
        let parsed = ["0.9", "90%", "1", "1.1", "2.5"].map(|text| Load::parse(text).map(|load| load.0));
        assert_eq!(parsed, [Ok(900_000), Ok(900_000), Ok(1_000_000), Ok(1_100_000), Ok(2_500_000)]);
        assert_eq!(Load(900_000).show(), "0.9");
        for bad in ["", "_", "-1", "0", "1e99", "NaN", "18446744073709"] {
            let said = Load::parse(bad).expect_err(bad);
            assert_eq!(said, format!("expected {}, got \"{bad}\"", Load::expected()));
        }
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
