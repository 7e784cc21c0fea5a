//! Makes the orders of users that are known by name.

use std::fmt;

use trueplane_study::Error;

use crate::policy::{Fifo, HalfLife, Karma, KarmaOptions, KueueOptions, PolicyName, Sdrf, SlurmOptions};
use crate::{Cluster, Memory, Policy};

/// The order `policy` of the users of `cluster`, of whose units `scale` are one of the log, resource by resource. Those that decay have the
/// half-life of `memory`; all else is as by default, a unit of the log being one of Kueue's and Slurm's.
///
/// # Errors
///
/// The policy refuses its settings.
pub fn make(
    policy: PolicyName,
    cluster: &Cluster,
    scale: &[f64],
    memory: Memory,
) -> Result<Box<dyn Policy + Send>, Error> {
    let refused = |error: &dyn fmt::Display| Error::Parameters(format!("{policy}: {error}"));
    let units = || scale.iter().map(|scale| scale.recip()).collect();
    let half_life = memory.half_life_span();
    let kueue = |thousandths| {
        let options = KueueOptions { half_life, units: units(), thousandths, ..KueueOptions::default() };
        HalfLife::kueue(cluster, &options).map_err(|error| refused(&error))
    };
    Ok(match policy {
        PolicyName::Fifo => Box::new(Fifo::default()),
        PolicyName::Drf => Box::new(Sdrf::new(cluster, None)),
        PolicyName::Sdrf => Box::new(Sdrf::new(cluster, Some(memory))),
        PolicyName::Kueue => Box::new(kueue(false)?),
        PolicyName::KueueMilli => Box::new(kueue(true)?),
        PolicyName::Slurm => {
            let options = SlurmOptions { half_life, units: units(), ..SlurmOptions::default() };
            Box::new(HalfLife::slurm(cluster, &options).map_err(|error| refused(&error))?)
        }
        PolicyName::Karma => {
            Box::new(Karma::new(cluster, KarmaOptions::default()).map_err(|error| refused(&error))?)
        }
    })
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;

    #[test]
    fn every_policy_can_be_made_and_serves_who_waits() {
        let cluster = Cluster::new(vec![10, 1_000_000], vec![1, 2]).unwrap();
        let memory = Memory::half_life(Nanos(1_000_000_000)).unwrap();
        for &policy in PolicyName::ALL {
            let mut made = make(policy, &cluster, &[10.0, 1e6], memory).unwrap();
            assert_eq!(made.first(Nanos(0)), None, "{policy}");
            made.wait(1, 0, Nanos(0));
            assert_eq!(made.first(Nanos(5)), Some(1), "{policy}");
        }
    }
}
