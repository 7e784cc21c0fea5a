//! How to simulate a cluster.

use trueplane_study::Error;
use trueplane_units::Nanos;

use crate::Memory;
use crate::cluster::MOST_WEIGHT;
use crate::policy::PolicyName;
use crate::workload::{BILLION, JobLog};

/// How large the cluster is.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// So many millionths of the mean use that the log would have of every resource if nobody ever waited (R in §4.5 of the thesis).
    Relative(u64),
    /// So many billionths of the log's unit of every resource that is named here.
    Absolute(Vec<(String, u128)>),
}

impl Capacity {
    /// How much there is of every resource of `log`, in billionths of its unit; `mean_use` is [`JobLog::mean_use`].
    ///
    /// Of a resource that nobody uses for any time there is as much as the largest task needs, or one unit.
    ///
    /// # Errors
    ///
    /// A resource is missing, or there is no such resource in the log, or one is named twice; a part of the mean use is larger than can be
    /// counted.
    pub fn amounts(&self, log: &JobLog, mean_use: &[u128]) -> Result<Vec<u128>, Error> {
        match self {
            Capacity::Relative(millionths) => relative(log, mean_use, *millionths),
            Capacity::Absolute(named) => absolute(log, named),
        }
    }
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

/// What users have a right to, by name; who is not named weighs 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights(pub Vec<(String, u32)>);

impl Weights {
    /// The weight of every user of `log`.
    ///
    /// # Errors
    ///
    /// The log has no such user, one is named twice, or a weight is out of range.
    pub fn of(&self, log: &JobLog) -> Result<Vec<u32>, Error> {
        let mut weights = vec![None; log.users.len()];
        let places: std::collections::HashMap<&str, usize> =
            log.users.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        for (name, weight) in &self.0 {
            let place = places.get(name.as_str()).ok_or_else(|| {
                Error::Parameters(format!("--weights: {} has no user \"{name}\"", log.name))
            })?;
            if *weight == 0 || *weight > MOST_WEIGHT {
                return Err(Error::Parameters(format!(
                    "--weights: expected weights from 1 to {MOST_WEIGHT}, found {weight} for \"{name}\""
                )));
            }
            if weights[*place].replace(*weight).is_some() {
                return Err(Error::Parameters(format!("--weights: \"{name}\" is named twice")));
            }
        }
        Ok(weights.into_iter().map(|weight| weight.unwrap_or(1)).collect())
    }
}

/// How to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// How large the cluster is.
    pub capacity: Capacity,
    /// The orders of users, each in a run of its own.
    pub policies: Vec<PolicyName>,
    /// How fast those that remember forget.
    pub memory: Memory,
    /// What users have a right to.
    pub weights: Weights,
    /// Whether smaller tasks may pass the one that is next and does not fit.
    pub backfill: bool,
    /// How long after the first submission tasks must have ended to count as completed; if nobody says, the time at which the log would
    /// end if nobody ever waited.
    pub horizon: Option<Nanos>,
}

#[cfg(test)]
mod tests {
    use super::super::workload::Task;
    use super::*;

    fn log() -> JobLog {
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
            Capacity::Relative(500_000).amounts(&log, &log.mean_use()).unwrap(),
            [2 * BILLION, BILLION]
        );
        // 10^35 billionths each, of which a product with the factor has more than 128 bits.
        let mut huge = log.clone();
        let task = huge.tasks[0];
        huge.demands[0] = [10u128.pow(35), 0].into();
        huge.tasks = vec![task; 3];
        let amounts = Capacity::Relative(1_000_000_000).amounts(&huge, &huge.mean_use()).unwrap();
        assert!((amounts[0] as f64 / 3e38 - 1.0).abs() < 1e-9, "{}", amounts[0]);
        huge.tasks = vec![task; 4];
        assert!(Capacity::Relative(1_000_000_000).amounts(&huge, &huge.mean_use()).is_err());
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
    fn weights_are_of_users_of_the_log() {
        let of = |named: &[(&str, u32)]| {
            let weights = Weights(named.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect());
            weights.of(&log()).map_err(|error| error.to_string())
        };
        assert_eq!(of(&[("b", 3)]), Ok(vec![1, 3]));
        assert!(of(&[("c", 3)]).unwrap_err().contains("no user \"c\""));
        assert!(of(&[("a", 0)]).unwrap_err().contains("from 1 to 65536"));
        assert!(of(&[("a", 1), ("a", 2)]).unwrap_err().contains("named twice"));
    }
}
