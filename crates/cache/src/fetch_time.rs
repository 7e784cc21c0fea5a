//! How long a fetch takes, as people say it, before it is known what the clock counts.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use trueplane_units::{Datum, Nanos, Shape, Value, text_value, unexpected};

/// The time of a fetch, as people say it.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchTime {
    /// `100ms`.
    Time(Nanos),
    /// `1000steps`.
    Steps(u64),
    /// `lognormal:100ms,0.3`.
    LogNormal(Nanos, f64),
    /// `trace`: a column of the trace.
    Trace,
}

const EXPECTED: &str = "a latency such as 100ms, 1000steps, lognormal:100ms,0.3 or trace";

/// What comes before the two numbers of a log-normal distribution.
const LOGNORMAL: &str = "lognormal:";

impl FromStr for FetchTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || unexpected(EXPECTED, text);
        if text == "trace" {
            return Ok(Self::Trace);
        }
        if let Some(parameters) = text.strip_prefix(LOGNORMAL) {
            let (median, sigma) = parameters.split_once(',').ok_or_else(refuse)?;
            let sigma: f64 = sigma.trim().parse().map_err(|_| refuse())?;
            if !(0.0..=10.0).contains(&sigma) {
                return Err(unexpected("a sigma between 0 and 10", sigma));
            }
            return Ok(Self::LogNormal(median.parse().map_err(|_| refuse())?, sigma));
        }
        if let Some(steps) = text.strip_suffix("steps").or_else(|| text.strip_suffix("step")) {
            return steps.trim().parse().map(Self::Steps).map_err(|_| refuse());
        }
        text.parse().map(Self::Time).map_err(|_| refuse())
    }
}

impl fmt::Display for FetchTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time:#}"),
            Self::Steps(steps) => write!(f, "{steps}steps"),
            Self::LogNormal(median, sigma) => write!(f, "{LOGNORMAL}{median:#},{sigma}"),
            Self::Trace => f.write_str("trace"),
        }
    }
}

text_value!(FetchTime, EXPECTED);

/// Several fetch times with commas between them.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchTimes(pub Vec<FetchTime>);

impl Deref for FetchTimes {
    type Target = [FetchTime];

    fn deref(&self) -> &[FetchTime] {
        &self.0
    }
}

impl Value for FetchTimes {
    const SHAPE: Shape = Shape { is_list: true, ..Shape::TEXT };

    fn expected() -> String {
        format!("{EXPECTED}, or several with commas between them")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut parts: Vec<String> = Vec::new();
        for part in text.split(',') {
            match parts.last_mut() {
                // The comma within `lognormal:100ms,0.3` does not separate.
                Some(open) if open.trim_start().starts_with(LOGNORMAL) && !open.contains(',') => {
                    open.push(',');
                    open.push_str(part);
                }
                _ => parts.push(part.to_owned()),
            }
        }
        parts.iter().map(|part| part.trim().parse()).collect::<Result<_, _>>().map(Self)
    }

    fn show(&self) -> String {
        self.0.iter().map(Value::show).collect::<Vec<_>>().join(",")
    }

    fn datum(&self) -> Datum {
        Datum::List(self.0.iter().map(Value::datum).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetch_times_are_told_apart_by_their_unit() {
        let list = FetchTimes::parse("1ms, lognormal:100ms,0.3,1000steps,trace").expect("all are latencies");
        let expected = [
            FetchTime::Time(Nanos(1_000_000)),
            FetchTime::LogNormal(Nanos(100_000_000), 0.3),
            FetchTime::Steps(1000),
            FetchTime::Trace,
        ];
        assert_eq!(list.0, expected);
        assert_eq!(FetchTimes::parse(&list.show()), Ok(list));
        for bad in [
            "",
            "_",
            "-1",
            "1e99",
            "5",
            "ms",
            "lognormal:1ms",
            "lognormal:1ms,NaN",
            "lognormal:1ms,-1",
            "-1ms",
            "1.5steps",
        ] {
            let error = FetchTimes::parse(bad).unwrap_err();
            assert!(error.starts_with("expected ") && error.contains("got \""), "{bad}: {error}");
        }
    }
}
