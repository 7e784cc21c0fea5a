//! Usage that is forgotten with a half-life, as Kueue's admission fair sharing and Slurm's multifactor priority have it.
//!
//! | | [Kueue](HalfLife::kueue) | [Slurm](HalfLife::slurm) |
//! |---|---|---|
//! | usage after each period | (1 − A)·usage + A·held now | D·usage + what was held × seconds |
//! | with | A = 1 − ½^(period ÷ half-life) | D = ½^(period ÷ half-life) |
//! | at the start of a task | usage + A·what it needs | |
//! | first | least Σ weight·usage ÷ weight of the user | least usage ÷ share of the user |
//! | then | oldest task | oldest task |
//!
//! Between two periods nothing moves in Slurm, and in Kueue only who starts a task: whoever is first stays so, whatever it starts in
//! five minutes (Slurm), or until what it has started, as far as it counts in one sample, puts it behind another (Kueue).
//!
//! Sources. Kueue: `keps/4136-admission-fair-sharing/README.md` of kubernetes-sigs/kueue, sections "Proposal" and "Entry penalty", and
//! the page "Admission Fair Sharing" of its documentation; the weight of a queue divides its usage (pull request 4687). Slurm: the
//! pages "Multifactor Priority Plugin" (sections "Fair-share Factor", "Configuration") and "Classic Fairshare Algorithm" of its
//! documentation.

mod decay;
mod milli;
mod options;

pub use options::{HalfLifeError, KueueOptions, SlurmOptions};

use trueplane_units::Nanos;

use super::periodic::{Ledger, Periodic};
use crate::Cluster;
use decay::{Decay, Usage};
use milli::Milli;

/// Policy that serves first the user who has used least; usage halves in every half-life. See the [module](self).
///
/// Cost: that of [`Periodic`]; a user's usage is worked out in O(1) however many periods have ended. Thousandths
/// ([`KueueOptions::thousandths`]) take O(n·m) in every period for n users and m resources. A classic fair-share factor
/// ([`SlurmOptions::priority_weight`]) takes O(n) in every period. Floating point: that of the formulas; usage depends on what has
/// been held since when, and not on how often somebody asked.
pub type HalfLife = Periodic<DecayedUsage>;

/// The accounts of [`HalfLife`].
#[derive(Clone, Debug)]
pub struct DecayedUsage {
    weights: Vec<f64>,
    total_weight: f64,
    /// Usage that one of the cluster's units counts, resource by resource.
    rates: Vec<f64>,
    decay: Decay,
    ended: u64,
    usage: Vec<Usage>,
    scheme: Scheme,
}

/// Scheme that orders users by their usage.
#[derive(Clone, Debug)]
enum Scheme {
    /// Usage over weight; what a task needs is charged at its start, if so.
    Kueue { penalty: bool },
    /// The same, of usage that is cut to thousandths. One thousandth of each resource counts so much.
    Thousandths { penalty: bool, milli: Milli, rates: Vec<f64> },
    /// Usage over weight: a Fair Tree of one level.
    FairTree,
    /// A whole number for each user: the classic fair-share factor times the weight.
    Classic { weight: f64, priorities: Vec<u32> },
}

impl HalfLife {
    /// As Kueue orders the workloads of the local queues of one cluster queue, of equal priority. A user is a local queue.
    ///
    /// Departures: all users are sampled at the same instants; weights are whole.
    ///
    /// Departure: versions since v1beta2 also look at a queue, by the time since the last look, whenever its workloads change; here it is
    /// looked at in every period only.
    ///
    /// # Errors
    ///
    /// The half-life or the period is zero, or factors are not one for every resource or not within 0 and [`KueueOptions::MOST`].
    pub fn kueue(cluster: &Cluster, options: &KueueOptions) -> Result<Self, HalfLifeError> {
        options::check(
            cluster,
            options.half_life,
            options.sampling,
            &options.units,
            &options.resource_weights,
        )?;
        let units = options::filled(&options.units, cluster.resources());
        let weights = options::filled(&options.resource_weights, cluster.resources());
        let decay = Decay::new(options.half_life, options.sampling, false);
        let penalty = options.entry_penalty;
        let scheme = if options.thousandths {
            let milli = Milli::new(cluster.users(), &units, decay.lost);
            let rates = weights.iter().map(|weight| weight / 1e3).collect();
            Scheme::Thousandths { penalty, milli, rates }
        } else {
            Scheme::Kueue { penalty }
        };
        let rates = units.iter().zip(&weights).map(|(unit, weight)| unit * weight).collect();
        Ok(Self::with(cluster, rates, decay, options.sampling, scheme))
    }

    /// As Slurm orders jobs whose priorities differ in nothing but the fair-share factor, with all users in one account.
    ///
    /// Departures: the usage of the current period is not decayed within itself (the documentation has it so; the code multiplies it by
    /// the decay of the time since the job began or the period did), and D is exact (the code takes 1 − 0.693 ÷ half-life for a second).
    ///
    /// # Errors
    ///
    /// The half-life or the period is zero, or factors are not one for every resource or not within 0 and [`KueueOptions::MOST`].
    pub fn slurm(cluster: &Cluster, options: &SlurmOptions) -> Result<Self, HalfLifeError> {
        options::check(cluster, options.half_life, options.period, &options.units, &options.billing_weights)?;
        let units = options::filled(&options.units, cluster.resources());
        let mut weights = options.billing_weights.clone();
        if weights.is_empty() {
            weights = vec![0.0; cluster.resources()];
            weights[0] = 1.0;
        }
        let decay = Decay::new(options.half_life, options.period, true);
        let scheme = options.priority_weight.map_or(Scheme::FairTree, |weight| Scheme::Classic {
            weight: weight.into(),
            // Nobody has used anything: the factor is 1.
            priorities: vec![weight.max(1); cluster.users()],
        });
        let rates = units.iter().zip(&weights).map(|(unit, weight)| unit * weight).collect();
        Ok(Self::with(cluster, rates, decay, options.period, scheme))
    }

    fn with(cluster: &Cluster, rates: Vec<f64>, decay: Decay, period: Nanos, scheme: Scheme) -> Self {
        let weights: Vec<f64> =
            (0..cluster.users()).map(|user| cluster.weight_or_zero(user as u32).into()).collect();
        let ledger = DecayedUsage {
            total_weight: weights.iter().sum(),
            usage: vec![Usage::default(); weights.len()],
            weights,
            rates,
            decay,
            ended: 0,
            scheme,
        };
        Self::over(ledger, period, cluster.users())
    }
}

impl DecayedUsage {
    /// Usage of `user`, as of the end of the last period that was told and with the charges since then: Kueue's weighted sum of consumed
    /// resources, not divided by its weight; Slurm's billing units × seconds.
    pub fn usage(&self, user: u32) -> f64 {
        match &self.scheme {
            Scheme::Thousandths { milli, rates, .. } => {
                milli.used(user).iter().zip(rates).map(|(&used, rate)| used as f64 * rate).sum()
            }
            _ => self.usage[user as usize].at(self.ended, &self.decay),
        }
    }

    /// The priority of the jobs of `user`, if they have one: Slurm's whole number by the classic fair-share factor.
    pub fn priority(&self, user: u32) -> Option<u32> {
        match &self.scheme {
            Scheme::Classic { priorities, .. } => priorities.get(user as usize).copied(),
            _ => None,
        }
    }

    /// F = 2^(−U/S) of everybody, with U its part of all usage and S its part of all weights, times the weight, cut to a whole number;
    /// 0 is for jobs on hold.
    fn prioritise(&mut self) {
        let usage: Vec<f64> = self.usage.iter().map(|usage| usage.at(self.ended, &self.decay)).collect();
        let total: f64 = usage.iter().sum();
        let Scheme::Classic { weight, priorities } = &mut self.scheme else { return };
        for (user, priority) in priorities.iter_mut().enumerate() {
            let used = if total > 0.0 { usage[user] / total } else { 0.0 };
            let factor = libm::exp2(-used * self.total_weight / self.weights[user]);
            *priority = ((factor * *weight) as u32).max(1);
        }
    }
}

impl Ledger for DecayedUsage {
    /// The bits of a number that is not negative, which are in its order.
    type Key = u64;

    fn pass(&mut self, period: u64) {
        let periods = period - self.ended;
        self.ended = period;
        match &mut self.scheme {
            Scheme::Thousandths { milli, .. } => milli.pass(periods),
            Scheme::Classic { .. } => self.prioritise(),
            Scheme::Kueue { .. } | Scheme::FairTree => {}
        }
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        if let Scheme::Thousandths { penalty, milli, .. } = &mut self.scheme {
            milli.hold(user, held, *penalty);
            return;
        }
        let amount = held.iter().zip(&self.rates).map(|(&held, rate)| held as f64 * rate).sum::<f64>();
        let usage = &mut self.usage[user as usize];
        let charged = matches!(self.scheme, Scheme::Kueue { penalty: true });
        let penalty = if charged { (amount - usage.held()).max(0.0) * self.decay.lost } else { 0.0 };
        usage.hold(amount, penalty, self.ended, now, &self.decay);
    }

    fn key(&self, user: u32) -> u64 {
        match &self.scheme {
            Scheme::Classic { priorities, .. } => u64::from(u32::MAX - priorities[user as usize]),
            _ => (self.usage(user) / self.weights[user as usize]).to_bits(),
        }
    }
}

#[cfg(test)]
mod tests;
