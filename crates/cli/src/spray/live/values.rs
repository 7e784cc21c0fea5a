//! Values of the verbs that run on real processors and devices.

use std::fmt;
use std::str::FromStr;

use trueplane_linux::Device;
use trueplane_spray::steering::BUCKETS;
use trueplane_units::{Datum, Shape, Value, text_value};

use crate::failure::Failure;

/// The most cores that a function has.
pub(super) const MOST_CORES: u64 = BUCKETS as u64;

/// Numbers of processors, each once; none if they are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Processors(pub(super) Vec<usize>);

const PROCESSORS: &str = "processors such as 0,1 or 0-3";

impl FromStr for Processors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected {PROCESSORS}, got \"{text}\"");
        let mut found = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number < 4096);
            let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(refuse()) };
            for processor in first..=last {
                if found.contains(&processor) {
                    return Err(format!("expected each processor once, got {processor} twice in \"{text}\""));
                }
                found.push(processor);
            }
        }
        match found.len() {
            1..=BUCKETS => Ok(Self(found)),
            count => Err(format!("expected 1 to {BUCKETS} processors, got {count}")),
        }
    }
}

impl Value for Processors {
    const SHAPE: Shape = Shape { is_list: true, ..Shape::NUMBER };

    fn expected() -> String {
        PROCESSORS.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        self.0.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }

    fn datum(&self) -> Datum {
        Datum::List(self.0.iter().map(|&processor| Datum::Integer(processor as u64)).collect())
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// A network device, here or in a network namespace.
#[derive(Clone, Debug)]
pub(super) struct Interface(pub(super) Device);

const INTERFACE: &str = "a network device such as eth0, or eth0@blue for one in the network namespace blue";

impl FromStr for Interface {
    type Err = trueplane_linux::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_value!(Interface, INTERFACE);

/// The value of a flag that a command fails without; the parser has seen to it.
pub(super) fn required<T: Clone + Value>(value: &Option<T>, flag: &str) -> Result<T, Failure> {
    value.clone().ok_or_else(|| Failure::input(format!("{flag}: expected {}", T::expected())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_lists_and_ranges() {
        let processors = |text: &str| text.parse::<Processors>();
        assert_eq!(processors("0,1"), Ok(Processors(vec![0, 1])));
        assert_eq!(processors("3,0-2"), Ok(Processors(vec![3, 0, 1, 2])));
        assert_eq!(Processors(vec![3, 0]).show(), "3,0");
        for bad in ["", "a", "1-0", "0,0", "0-200", "-1", "0,"] {
            assert!(processors(bad).is_err(), "{bad}");
        }
    }
}
