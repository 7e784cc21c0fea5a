//! The size of a cluster as people write it: the peak that a log records, a part of the mean use, or amounts.

use trueplane_study::Error;
use trueplane_units::{Datum, Shape, Value, scale_share, unexpected};

use crate::workload::{BILLION, JobLog, billionths};

/// The largest part of the mean use, in millionths: a thousand times of it.
const MOST_PARTS: u64 = 1_000_000_000;

/// The largest capacity of a resource, in billionths: 10²⁰ units.
const MOST_AMOUNT: u128 = 100_000_000_000_000_000_000_000_000_000;

/// The part of the mean use of a log that does not record when tasks started.
pub const USUAL: Part = Part(700_000);

/// The word for [`Capacity::Peak`].
const PEAK: &str = "peak";

/// A part of the mean use that a log would have of every resource if nobody ever waited (R in §4.5 of the thesis): so many millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(pub u64);

impl Part {
    /// The part as a number: 0.7 for `70%`.
    pub fn ratio(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Value for Part {
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        "a part of the mean use such as 70%".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let millionths = scale_share(text, 1_000_000).filter(|part| (1..=MOST_PARTS).contains(part));
        millionths.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        format!("{}%", decimal(self.0.into(), 10_000))
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.ratio())
    }
}

/// `number / unit`, a power of ten, in all its digits.
fn decimal(number: u128, unit: u128) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", number / unit, number % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Capacity of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// The largest use of each resource at one time that the log records ([`JobLog::peak_use`]).
    Peak,
    /// A part of the mean use.
    Relative(Part),
    /// Amounts of the resources named here, in billionths of the log's unit.
    Absolute(Vec<(String, u128)>),
}

impl Value for Capacity {
    fn expected() -> String {
        "peak, a part of the mean use such as 70%, or amounts such as cpu=96,memory=512".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == PEAK {
            return Ok(Self::Peak);
        }
        if !text.contains('=') {
            return Part::parse(text).map(Self::Relative).map_err(|_| unexpected(Self::expected(), text));
        }
        let resource = |pair: &str| {
            let (name, amount) = pair
                .rsplit_once('=')
                .filter(|(name, _)| !name.trim().is_empty())
                .ok_or_else(|| unexpected("a resource and its amount such as cpu=96", pair))?;
            let name = name.trim();
            let amount = billionths(amount.trim()).filter(|amount| (1..=MOST_AMOUNT).contains(amount));
            let amount = amount.ok_or_else(|| {
                unexpected(format!("an amount of {name} above zero such as 96 or 1.5K"), pair)
            })?;
            Ok((name.to_owned(), amount))
        };
        text.split(',').map(resource).collect::<Result<_, String>>().map(Self::Absolute)
    }

    fn show(&self) -> String {
        match self {
            Capacity::Peak => PEAK.to_owned(),
            Capacity::Relative(part) => part.show(),
            Capacity::Absolute(named) => {
                let pairs =
                    named.iter().map(|(name, amount)| format!("{name}={}", decimal(*amount, BILLION)));
                pairs.collect::<Vec<_>>().join(",")
            }
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

impl Capacity {
    /// The capacity that `given` is, and by default the peak, or [`USUAL`] if the log does not record when tasks started.
    pub fn of(given: Option<&Self>, log: &JobLog) -> Self {
        let usual = || if log.started.is_empty() { Self::Relative(USUAL) } else { Self::Peak };
        given.cloned().unwrap_or_else(usual)
    }

    /// What it is, for a page.
    pub fn in_words(&self) -> String {
        match self {
            Self::Peak => "the most that the log records in use at one time".to_owned(),
            Self::Relative(part) => format!("{} of what is used on average if nobody waits", part.show()),
            Self::Absolute(_) => self.show(),
        }
    }

    /// Returns the amount of every resource of `log`, in billionths of its unit; `mean_use` is [`JobLog::mean_use`].
    ///
    /// Of a resource that nobody uses for any time there is as much as the largest task needs, or one unit.
    ///
    /// # Errors
    ///
    /// The log records no peak; a resource is missing, or there is no such resource in the log, or one is named twice; a part of the mean use is larger than can be
    /// counted.
    pub fn amounts(&self, log: &JobLog, mean_use: &[u128]) -> Result<Vec<u128>, Error> {
        match self {
            Capacity::Peak => peak(log),
            Capacity::Relative(part) => relative(log, mean_use, part.0),
            Capacity::Absolute(named) => absolute(log, named),
        }
    }
}

fn peak(log: &JobLog) -> Result<Vec<u128>, Error> {
    let peak = log.peak_use().ok_or_else(|| {
        let problem = "the log does not record when tasks started; expected a part of the mean use such as 70%, or amounts";
        Error::Parameters(format!("--capacity peak: {}: {problem}", log.name))
    })?;
    // All of it, and one unit of a resource that nobody needs.
    relative(log, &peak, 1_000_000)
}

fn relative(log: &JobLog, mean_use: &[u128], millionths: u64) -> Result<Vec<u128>, Error> {
    let parts = mean_use.iter().enumerate().map(|(resource, &mean)| {
        if mean == 0 {
            let largest = log.demands.iter().map(|demand| demand[resource]).max().unwrap_or(0);
            return Ok(if largest == 0 { BILLION } else { largest });
        }
        // In two parts, as the product leaves 128 bits where the quotient does not.
        let (factor, whole) = (u128::from(millionths), mean / 1_000_000);
        let rest = mean % 1_000_000 * factor / 1_000_000;
        let part = whole.checked_mul(factor).and_then(|whole| whole.checked_add(rest));
        part.map(|part| part.max(1)).ok_or_else(|| {
            let (name, of) = (&log.resources[resource], &log.name);
            Error::Parameters(format!(
                "--capacity: expected below 10^29 units of {name} for {of}, found more"
            ))
        })
    });
    parts.collect()
}

fn absolute(log: &JobLog, named: &[(String, u128)]) -> Result<Vec<u128>, Error> {
    let known = log.resources.join(", ");
    for (index, (name, _)) in named.iter().enumerate() {
        if !log.resources.contains(name) {
            return Err(Error::Parameters(format!(
                "--capacity: {} has no resource \"{name}\"; it has {known}",
                log.name
            )));
        }
        if named[..index].iter().any(|(other, _)| other == name) {
            return Err(Error::Parameters(format!("--capacity: {name} is named twice")));
        }
    }
    let amount = |resource: &String| {
        let found = named.iter().find(|(name, _)| name == resource).map(|&(_, amount)| amount);
        found.ok_or_else(|| {
            Error::Parameters(format!(
                "--capacity: expected a capacity for every resource of {} ({known}), found none for {resource}",
                log.name
            ))
        })
    };
    log.resources.iter().map(amount).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use trueplane_units::Nanos;

    use super::*;
    use crate::workload::Task;

    /// A log of two resources and two users with one task.
    pub(crate) fn log() -> JobLog {
        JobLog {
            name: "jobs".to_owned(),
            resources: vec!["cpu".to_owned(), "gpu".to_owned()],
            users: vec!["a".to_owned(), "b".to_owned()],
            demands: vec![[4 * BILLION, 0].into()],
            tasks: vec![Task { submitted: Nanos(5), duration: Nanos(10), user: 0, demand: 0 }],
            ..JobLog::default()
        }
    }

    #[test]
    fn capacity_is_a_part_of_the_mean_use_or_said() {
        let log = log();
        assert_eq!(
            Capacity::Relative(Part(500_000)).amounts(&log, &log.mean_use()).unwrap(),
            [2 * BILLION, BILLION]
        );
        // 10^35 billionths each, of which a product with the factor has more than 128 bits.
        let mut huge = log.clone();
        let task = huge.tasks[0];
        huge.demands[0] = [10u128.pow(35), 0].into();
        huge.tasks = vec![task; 3];
        let amounts = Capacity::Relative(Part(1_000_000_000)).amounts(&huge, &huge.mean_use()).unwrap();
        assert!((amounts[0] as f64 / 3e38 - 1.0).abs() < 1e-9, "{}", amounts[0]);
        huge.tasks = vec![task; 4];
        assert!(Capacity::Relative(Part(1_000_000_000)).amounts(&huge, &huge.mean_use()).is_err());
        let of = |named: &[(&str, u128)]| {
            let named = named.iter().map(|&(name, amount)| (name.to_owned(), amount)).collect();
            Capacity::Absolute(named).amounts(&log, &log.mean_use()).map_err(|error| error.to_string())
        };
        assert_eq!(of(&[("gpu", 7), ("cpu", 9)]), Ok(vec![9, 7]));
        assert!(of(&[("cpu", 9)]).unwrap_err().contains("found none for gpu"));
        assert!(of(&[("cpu", 9), ("ram", 9)]).unwrap_err().contains("no resource \"ram\"; it has cpu, gpu"));
        assert!(of(&[("cpu", 9), ("gpu", 1), ("cpu", 9)]).unwrap_err().contains("cpu is named twice"));
    }

    #[test]
    fn capacities_are_parts_or_amounts() {
        assert_eq!(Capacity::parse("70%"), Ok(Capacity::Relative(Part(700_000))));
        assert_eq!(Capacity::parse("0.5%"), Ok(Capacity::Relative(Part(5_000))));
        let named = |text: &str| match Capacity::parse(text) {
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
        for bad in [
            "", "70", "0%", "-1%", "cpu=", "cpu=0", "=3", "cpu=-1", "cpu=1e30", "cpu=96,", "cpu=x", "%", "_",
            "1e99",
        ] {
            assert!(Capacity::parse(bad).is_err(), "{bad}");
        }
        for text in ["70%", "0.5%", "1234.5678%", "cpu=96,mem=1500", "b=0.25", "b=0.000000001"] {
            assert_eq!(Capacity::parse(text).unwrap().show(), text);
        }
    }
}
