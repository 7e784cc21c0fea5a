//! Values of `trueplane offload` as people write them.

use std::str::FromStr;

use trueplane_offload::policy::SystemName;
use trueplane_offload::timing::Timing;
use trueplane_units::{Nanos, UnknownName, scale_share};

use crate::values::{count, time, without_repetitions};

/// So many a second: `80Mpps`, `20K`, `1.25M/s`.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix("pps").or_else(|| text.strip_suffix("/s")).unwrap_or(text);
    count(number)
        .ok()
        .filter(|&rate| rate > 0)
        .ok_or_else(|| format!("expected a rate above zero such as 80Mpps or 20K, got \"{text}\""))
}

/// Systems without repetitions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Systems(pub(super) Vec<SystemName>);

impl FromStr for Systems {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = || SystemName::ALL.iter().copied();
        let mut systems = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "all" => systems.extend(all()),
                "online" => systems.extend(all().filter(|system| !system.properties().offline)),
                name => systems.push(name.parse().map_err(|error: UnknownName| error.to_string())?),
            }
        }
        Ok(Self(without_repetitions(&systems)))
    }
}

/// The part of a workload that is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Warmup {
    /// `10M`.
    Lookups(u64),
    /// `1s`.
    Time(Nanos),
}

impl Warmup {
    /// In lookups, at so many a second.
    pub(super) fn lookups(self, timing: Timing) -> u64 {
        match self {
            Warmup::Lookups(lookups) => lookups,
            Warmup::Time(time) => timing.slots(time),
        }
    }
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lookups = count(text).map(Warmup::Lookups);
        lookups.or_else(|_| text.parse().map(Warmup::Time)).map_err(|_| {
            format!("expected a time such as 1s or a number of lookups such as 10M, got \"{text}\"")
        })
    }
}

/// The sizes of a history buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct History {
    /// Rows.
    pub(super) rows: u32,
    /// Keys in a row.
    pub(super) slots: u32,
}

/// `256x8`.
pub(super) fn history(text: &str) -> Result<History, String> {
    let parts = text.split_once('x').and_then(|(rows, slots)| {
        let above_zero = |text: &str| count(text).ok().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
        Some(History { rows: above_zero(rows)?, slots: above_zero(slots)? })
    });
    parts.ok_or_else(|| format!("expected rows x slots, both above zero, such as 256x8, got \"{text}\""))
}

/// A probability below 100 %, in millionths: `1%`, `0.05%`.
pub(super) fn loss(text: &str) -> Result<u32, String> {
    let millionths = scale_share(text, 1_000_000);
    millionths
        .filter(|&millionths| millionths < 1_000_000)
        .map(|millionths| millionths as u32)
        .ok_or_else(|| format!("expected a percentage below 100% such as 1% or 0.05%, got \"{text}\""))
}

/// A whole percentage of 1 to 100.
pub(super) fn load(text: &str) -> Result<u32, String> {
    let percent =
        scale_share(text, 1_000_000).filter(|share| share % 10_000 == 0).map(|share| share / 10_000);
    percent
        .and_then(|percent| u32::try_from(percent).ok())
        .filter(|percent| (1..=100).contains(percent))
        .ok_or_else(|| format!("expected a whole percentage from 1% to 100% such as 90%, got \"{text}\""))
}

/// How often something is done: a time, or `never`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Period(pub(super) Option<Nanos>);

/// `1s` or `never`.
pub(super) fn period(text: &str) -> Result<Period, String> {
    match text {
        "never" => Ok(Period(None)),
        text => time(text)
            .map(|time| Period(Some(time)))
            .map_err(|_| format!("expected a time above zero such as 1s, or never, got \"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_may_say_what_they_count() {
        assert_eq!(
            ["80Mpps", "20K", "1.25M/s", "7", "500kpps"].map(rate),
            [Ok(80_000_000), Ok(20_000), Ok(1_250_000), Ok(7), Ok(500_000)]
        );
        assert!(["0", "0pps", "", "pps", "80Mbps", "-1", "1.5", "1e6"].iter().all(|bad| rate(bad).is_err()));
    }

    #[test]
    fn warmups_are_times_or_counts() {
        let timing = Timing { rate: 80_000_000 };
        let lookups = |text: &str| text.parse::<Warmup>().map(|warmup| warmup.lookups(timing));
        assert_eq!(
            [lookups("1s"), lookups("10M"), lookups("0"), lookups("2ms")],
            [Ok(80_000_000), Ok(10_000_000), Ok(0), Ok(160_000)]
        );
        assert!(["", "soon", "-1s", "10Mpps", "1.5"].iter().all(|bad| bad.parse::<Warmup>().is_err()));
    }

    #[test]
    fn systems_have_groups() {
        let names = |text: &str| text.parse::<Systems>().map(|systems| systems.0.len());
        assert_eq!([names("online"), names("all"), names("dyso, optimal,dyso")], [Ok(7), Ok(9), Ok(2)]);
        assert!(names("dyso,").is_err());
        assert!(names("lru").is_err_and(|error| error.contains("expected one of ideal-lru, ")));
    }

    #[test]
    fn shares_and_sizes_are_held_to_their_ranges() {
        assert_eq!(history("256x8"), Ok(History { rows: 256, slots: 8 }));
        assert!(["256", "0x8", "256x0", "x", "256x8x2", "-1x8"].iter().all(|bad| history(bad).is_err()));
        assert_eq!([loss("0%"), loss("1%"), loss("0.05%")], [Ok(0), Ok(10_000), Ok(500)]);
        assert!(["1", "100%", "-1%", "%", "x%"].iter().all(|bad| loss(bad).is_err()));
        assert_eq!([load("90%"), load("100%")], [Ok(90), Ok(100)]);
        assert!(["0%", "101%", "90", "90.5%"].iter().all(|bad| load(bad).is_err()));
        assert_eq!(
            [period("1s"), period("never")],
            [Ok(Period(Some(Nanos(1_000_000_000)))), Ok(Period(None))]
        );
        assert!(["0s", "", "always"].iter().all(|bad| period(bad).is_err()));
    }
}
