//! Values of this subsystem as people write them on the command line.

use std::path::PathBuf;

use trueplane_fair::Memory;
use trueplane_fair::allocate::delta::left_and_forgotten;
use trueplane_fair::cluster::MOST_WEIGHT;
use trueplane_fair::options::{Capacity, Weights};
use trueplane_fair::workload::billionths;
use trueplane_study::Error;
use trueplane_units::{Nanos, scale_decimal, scale_share};

/// The largest part of the mean use: a thousand times of it.
const MOST_PARTS: u64 = 1_000_000_000;

/// The largest capacity of a resource, in billionths: 10²⁰ units.
const MOST_AMOUNT: u128 = 100_000_000_000_000_000_000_000_000_000;

/// `70%` of the mean use, in millionths.
pub(super) fn part(text: &str) -> Result<u64, String> {
    let millionths = scale_share(text, 1_000_000);
    millionths
        .filter(|part| (1..=MOST_PARTS).contains(part))
        .ok_or_else(|| format!("expected a part of the mean use such as 70%, got \"{text}\""))
}

/// `70%` of the mean use, or `cpu=96,mem=512`.
pub(super) fn capacity(text: &str) -> Result<Capacity, String> {
    if !text.contains('=') {
        return part(text).map(Capacity::Relative).map_err(|_| {
            format!("expected a capacity such as 70% of the mean use or cpu=96,mem=512, got \"{text}\"")
        });
    }
    let resource = |pair: &str| {
        let (name, amount) = pair
            .rsplit_once('=')
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or_else(|| format!("expected a resource and its amount such as cpu=96, got \"{pair}\""))?;
        let amount = billionths(amount.trim()).filter(|amount| (1..=MOST_AMOUNT).contains(amount));
        let amount = amount.ok_or_else(|| {
            format!("expected an amount of {} above zero such as 96 or 1.5K, got \"{pair}\"", name.trim())
        })?;
        Ok((name.trim().to_owned(), amount))
    };
    text.split(',').map(resource).collect::<Result<_, String>>().map(Capacity::Absolute)
}

/// δ, what is left after a second: `1-1e-6`, `0.9`.
pub(super) fn delta(text: &str) -> Result<Memory, String> {
    let expected =
        || format!("expected a δ between 0 and 1, per second, such as 1-1e-6 or 0.999, got \"{text}\"");
    let (_, forgotten) = left_and_forgotten(text).ok_or_else(expected)?;
    Memory::forgetting(forgotten).map_err(|_| expected())
}

/// A half-life: `8d`, `12h`.
pub(super) fn half_life(text: &str) -> Result<Memory, String> {
    Memory::half_life(long_time(text)?).map_err(|error| error.to_string())
}

/// A time above zero; `d` are days.
pub(super) fn long_time(text: &str) -> Result<Nanos, String> {
    const DAY: u64 = 86_400_000_000_000;
    let days = text.trim().strip_suffix('d').and_then(|days| scale_decimal(days, DAY)).map(Nanos);
    match days.map_or_else(|| text.parse(), Ok) {
        Ok(Nanos(0)) | Err(_) => {
            Err(format!("expected a time above zero such as 8d, 12h or 30min, got \"{text}\""))
        }
        Ok(time) => Ok(time),
    }
}

/// Weights as they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WeightsArg {
    /// In a file.
    File(PathBuf),
    /// `ann=2,bob=3`.
    Given(Weights),
}

/// `ann=2,bob=3`, or a file.
pub(super) fn weights(text: &str) -> Result<WeightsArg, String> {
    if !text.contains('=') {
        return Ok(WeightsArg::File(text.into()));
    }
    let user = |pair: &str| {
        let wrong =
            || format!("expected a user and a weight from 1 to {MOST_WEIGHT} such as ann=2, got \"{pair}\"");
        let (name, weight) = pair.rsplit_once('=').ok_or_else(wrong)?;
        let weight: u32 = weight.trim().parse().map_err(|_| wrong())?;
        if name.trim().is_empty() || !(1..=MOST_WEIGHT).contains(&weight) {
            return Err(wrong());
        }
        Ok((name.trim().to_owned(), weight))
    };
    text.split(',').map(user).collect::<Result<_, String>>().map(|named| WeightsArg::Given(Weights(named)))
}

impl WeightsArg {
    /// The weights, read if they are in a file.
    pub(super) fn read(&self) -> Result<Weights, Error> {
        match self {
            WeightsArg::File(path) => Weights::read(path),
            WeightsArg::Given(weights) => Ok(weights.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_parts_or_amounts() {
        assert_eq!(capacity("70%"), Ok(Capacity::Relative(700_000)));
        assert_eq!(capacity("0.5 %"), Ok(Capacity::Relative(5_000)));
        let named = |text: &str| match capacity(text) {
            Ok(Capacity::Absolute(named)) => named,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            named("cpu=96, mem=1.5K"),
            [("cpu".to_owned(), 96_000_000_000), ("mem".to_owned(), 1_500_000_000_000)]
        );
        assert_eq!(named("b=281474976710656"), [("b".to_owned(), 281_474_976_710_656_000_000_000)]);
        assert_eq!(named("b=.25"), [("b".to_owned(), 250_000_000)]);
        assert_eq!(named("b=1e3"), named("b=1K"), "as in a log");
        for bad in
            ["", "70", "0%", "-1%", "cpu=", "cpu=0", "=3", "cpu=-1", "cpu=1e30", "cpu=96,", "cpu=x", "%"]
        {
            assert!(capacity(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memories_are_deltas_or_half_lives() {
        assert_eq!(delta("1-1e-6"), Ok(Memory::forgetting(1e-6).unwrap()));
        assert_eq!(delta("0.5"), Ok(Memory::half_life(Nanos(1_000_000_000)).unwrap()));
        for bad in ["1", "0", "-0.5", "1-0", "1-1", "1--1", "2", "", "x", "1-x", "nan", "inf"] {
            assert!(delta(bad).is_err(), "{bad}");
        }
        assert_eq!(half_life("8d"), Ok(Memory::half_life(Nanos(691_200_000_000_000)).unwrap()));
        assert_eq!(long_time("1.5h"), Ok(Nanos(5_400_000_000_000)));
        for bad in ["0d", "0s", "8", "d", "-1d", ""] {
            assert!(half_life(bad).is_err() && long_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn weights_are_given_or_in_a_file() {
        let given = |named: &[(&str, u32)]| {
            let named = named.iter().map(|&(name, weight)| (name.to_owned(), weight));
            Ok(WeightsArg::Given(Weights(named.collect())))
        };
        assert_eq!(weights("ann=2,b=c=3"), given(&[("ann", 2), ("b=c", 3)]));
        assert_eq!(weights("w.csv"), Ok(WeightsArg::File("w.csv".into())));
        for bad in ["a=", "a=0", "=1", "a=65537", "a=1,", "a=1.5"] {
            assert!(weights(bad).is_err(), "{bad}");
        }
    }
}
