//! Values as people write them on the command line.

use std::str::FromStr;

use trueplane_units::{Nanos, Value as _, scale_decimal};

/// A fetch time, before it is known what the clock counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LatencyArg {
    /// `100ms`.
    Time(Nanos),
    /// `1000steps`.
    Steps(u64),
    /// `lognormal:100ms,0.3`.
    LogNormal(Nanos, f64),
    /// `trace`: a column of the trace.
    Trace,
}

const LATENCY: &str = "a latency such as 100ms, 1000steps, lognormal:100ms,0.3 or trace";

impl FromStr for LatencyArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || format!("expected {LATENCY}, got \"{text}\"");
        if text == "trace" {
            return Ok(LatencyArg::Trace);
        }
        if let Some(parameters) = text.strip_prefix("lognormal:") {
            let (median, sigma) = parameters.split_once(',').ok_or_else(refuse)?;
            let sigma: f64 = sigma.trim().parse().map_err(|_| refuse())?;
            if !(0.0..=10.0).contains(&sigma) {
                return Err(format!("expected a sigma between 0 and 10, got \"{sigma}\""));
            }
            return Ok(LatencyArg::LogNormal(median.parse().map_err(|_| refuse())?, sigma));
        }
        if let Some(steps) = text.strip_suffix("steps").or_else(|| text.strip_suffix("step")) {
            return steps.trim().parse().map(LatencyArg::Steps).map_err(|_| refuse());
        }
        text.parse().map(LatencyArg::Time).map_err(|_| refuse())
    }
}

/// Several fetch times with commas between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyList(pub(crate) Vec<LatencyArg>);

impl FromStr for LatencyList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts: Vec<String> = Vec::new();
        for part in text.split(',') {
            match parts.last_mut() {
                // The comma within `lognormal:100ms,0.3` does not separate.
                Some(open) if open.trim_start().starts_with("lognormal:") && !open.contains(',') => {
                    open.push(',');
                    open.push_str(part);
                }
                _ => parts.push(part.to_owned()),
            }
        }
        parts.iter().map(|part| part.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

/// What has names that flags know it by.
#[cfg(feature = "live")]
pub(crate) trait Named: Copy + PartialEq + 'static {
    /// What it is, for errors.
    const WHAT: &'static str;
    /// Every one of them with its name.
    const NAMES: &'static [(&'static str, Self)];
}

/// The one that is called `name`.
#[cfg(feature = "live")]
pub(crate) fn named<T: Named>(name: &str) -> Result<T, String> {
    let known = || T::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = T::NAMES.iter().find(|(other, _)| *other == name).map(|&(_, value)| value);
    found.ok_or_else(|| format!("unknown {} \"{name}\"; known: {}", T::WHAT, known()))
}

/// A length of time above zero.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    match text.parse::<Nanos>() {
        Ok(Nanos(0)) => Err(format!("expected a time above zero such as 100ms, got \"{text}\"")),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// A count with an optional `K`, `M` or `G`, powers of ten, or `Ki`, `Mi` or `Gi`, powers of two.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    u64::parse(text)
}

/// A count of at least one.
pub(crate) fn above_zero(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("expected a count above zero, got \"0\"".to_owned()),
        count => Ok(count),
    }
}

/// How close bounds are to be: a percentage such as `0.1%`, as a share. No `0.1`, which many would take for the default, 0.1 %.
pub(crate) fn gap(text: &str) -> Result<f64, String> {
    // A millionth of a percent is finer than any search will get.
    let share = text.strip_suffix('%').and_then(|percent| scale_decimal(percent, 1_000_000));
    let share = share.map(|millionths| millionths as f64 / 1e8).filter(|share| *share <= 1.0);
    share.ok_or_else(|| format!("expected a percentage up to 100% such as 0.1%, got \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_told_apart_by_their_unit() {
        let list: LatencyList =
            "1ms, lognormal:100ms,0.3,1000steps,trace".parse().expect("all are latencies");
        let expected = [
            LatencyArg::Time(Nanos(1_000_000)),
            LatencyArg::LogNormal(Nanos(100_000_000), 0.3),
            LatencyArg::Steps(1000),
            LatencyArg::Trace,
        ];
        assert_eq!(list.0, expected);
        for bad in
            ["", "5", "ms", "lognormal:1ms", "lognormal:1ms,NaN", "lognormal:1ms,-1", "-1ms", "1.5steps"]
        {
            assert!(bad.parse::<LatencyList>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_have_suffixes() {
        assert_eq!([count("200K"), count("1.5M"), count("7")], [Ok(200_000), Ok(1_500_000), Ok(7)]);
        assert_eq!(
            [count("64Ki"), count("1.5Mi"), count("64i")].map(Result::ok),
            [Some(65_536), Some(1_572_864), None]
        );
        assert!(["1.5", "0.4", "", "K", "-3", "1e6", "5Q"].iter().all(|bad| count(bad).is_err()));
    }
}
