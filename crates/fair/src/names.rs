//! The orders of users by name.

use std::fmt;

use trueplane_study::Error;

use crate::policy::{Fifo, HalfLife, Karma, KarmaOptions, KueueOptions, Sdrf, SlurmOptions};
use crate::{Cluster, Memory, Policy};

/// An order of users by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// First come, first served.
    Fifo,
    /// The smallest dominant share first.
    Drf,
    /// The smallest sum of share and commitment first.
    Sdrf,
    /// Kueue's admission fair sharing: the least decayed usage first.
    Kueue,
    /// The same as it was until usage was no longer cut to thousandths of a unit.
    KueueMilli,
    /// Slurm's fair tree: the least decayed usage of billed resources first.
    Slurm,
    /// The most credits first.
    Karma,
}

impl PolicyName {
    /// Every order with the name that flags and reports use.
    pub const NAMES: [(&'static str, PolicyName); 7] = [
        ("fifo", PolicyName::Fifo),
        ("drf", PolicyName::Drf),
        ("sdrf", PolicyName::Sdrf),
        ("kueue", PolicyName::Kueue),
        ("kueue-milli", PolicyName::KueueMilli),
        ("slurm", PolicyName::Slurm),
        ("karma", PolicyName::Karma),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, policy)| *policy == self).map_or("", |(name, _)| name)
    }

    /// Whether the order depends on what users had before.
    pub fn remembers(self) -> bool {
        !matches!(self, PolicyName::Fifo | PolicyName::Drf)
    }

    /// Whether it keeps users in a live tree, which has events.
    pub fn has_live_tree(self) -> bool {
        matches!(self, PolicyName::Drf | PolicyName::Sdrf)
    }

    /// Whether what they had decays with a half-life.
    pub fn decays(self) -> bool {
        self.remembers() && self != PolicyName::Karma
    }

    /// The order of the users of `cluster`, of whose units `scale` are one of the log, resource by resource. Those that decay have the
    /// half-life of `memory`; all else is as by default, a unit of the log being one of Kueue's and Slurm's.
    ///
    /// # Errors
    ///
    /// The policy refuses its settings.
    pub fn make(
        self,
        cluster: &Cluster,
        scale: &[f64],
        memory: Memory,
    ) -> Result<Box<dyn Policy + Send>, Error> {
        let refused = |error: &dyn fmt::Display| Error::Parameters(format!("{self}: {error}"));
        let units = || scale.iter().map(|scale| scale.recip()).collect();
        let half_life = memory.half_life_span();
        let kueue = |thousandths| {
            let options = KueueOptions { half_life, units: units(), thousandths, ..KueueOptions::default() };
            HalfLife::kueue(cluster, &options).map_err(|error| refused(&error))
        };
        Ok(match self {
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
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The δ of a memory as people write it: `1-1e-6`, or `0.5`.
pub fn delta(memory: Memory) -> String {
    let forgotten = memory.forgotten_per_second();
    if forgotten > 0.1001 {
        return trimmed(&format!("{:.4}", 1.0 - forgotten)).to_owned();
    }
    let text = format!("{forgotten:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("1-{}e{exponent}", trimmed(digits))
}

/// Without zeros at the end.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;

    #[test]
    fn every_policy_can_be_made_and_serves_who_waits() {
        let cluster = Cluster::new(vec![10, 1_000_000], vec![1, 2]).unwrap();
        let memory = Memory::half_life(Nanos(1_000_000_000)).unwrap();
        for (name, policy) in PolicyName::NAMES {
            let mut made = policy.make(&cluster, &[10.0, 1e6], memory).unwrap();
            assert_eq!(made.first(Nanos(0)), None, "{name}");
            made.wait(1, 0, Nanos(0));
            assert_eq!(made.first(Nanos(5)), Some(1), "{name}");
            assert_eq!(policy.to_string(), name);
        }
    }

    #[test]
    fn a_delta_is_written_as_it_is_said() {
        let text = |forgotten| delta(Memory::forgetting(forgotten).unwrap());
        assert_eq!([1e-6, 1e-1, 0.5, 2.5e-4].map(text), ["1-1e-6", "1-1e-1", "0.5", "1-2.5e-4"]);
    }
}
