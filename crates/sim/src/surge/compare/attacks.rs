//! What the attacker sends against each policy at each pair of rates, and what theory makes of it.

use std::collections::HashSet;

use rayon::prelude::*;
use trueplane_core::surge::theory::{
    Attack, Discipline, Innocents, Limits, Prediction, Rates, predict, predict_among,
};
use trueplane_core::units::BitsPerSec;

use super::super::options::{AttackChoice, Options};
use super::super::policy::PolicyName;
use super::super::workload::{PacketOf, Source};
use super::prepare::Prepared;
use super::run::{Own, Sent, Weapon};
use super::trying::Trying;
use crate::{Error, Observer};

/// A policy under attack.
#[derive(Clone, Debug)]
pub(super) struct Threat<P> {
    /// The policy.
    pub policy: PolicyName,
    /// The number of the users' rate.
    pub innocent: usize,
    /// What the attacker sends, and how fast.
    pub sent: Sent<P>,
    /// What theory expects of it; none where it has no say.
    pub prediction: Option<Prediction>,
}

/// The threats to a source.
pub(super) type Threats<S> = Vec<Threat<PacketOf<S>>>;

/// All of them: policy by policy, rate by rate.
///
/// # Errors
/// If the application has no attack of its own and that was chosen, more packets would come than can be simulated, or the observer
/// interrupts.
pub(super) fn threats<S: Source>(
    source: &S,
    prepared: &Prepared<S>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Threats<S>, Error> {
    let mut points: Vec<(PolicyName, usize, BitsPerSec)> = Vec::new();
    for innocent in 0..prepared.innocent.len() {
        for &policy in &options.policies {
            points.extend(prepared.attack.iter().map(|rate| (policy, innocent, *rate)));
        }
    }
    let given = match options.attack {
        AttackChoice::Optimal | AttackChoice::Search { .. } => None,
        AttackChoice::Largest => Some(largest(prepared.limits)),
        AttackChoice::Given { size, job, estimate } => Some(Attack { bits: size.bits(), job, estimate }),
        AttackChoice::Own => {
            let own = own(source)?;
            let threat = |(policy, innocent, rate)| {
                let sent = Sent { weapon: Weapon::Own(own.clone()), rate };
                Threat { policy, innocent, sent, prediction: None }
            };
            return Ok(points.into_iter().map(threat).collect());
        }
    };
    let attacker = Attacker::new(&prepared.innocents, prepared.limits, given);
    observer.stage("planning the attack", points.len() as u64);
    let threats = (points.into_par_iter())
        .map(|(policy, innocent, rate)| {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let rates = prepared.rates(prepared.innocent[innocent], rate);
            let best = attacker.best(policy.discipline(), rates);
            // The theorem is for a buffer that holds everything.
            let bound = best.bound.filter(|_| options.capacity.is_none());
            observer.advance(1);
            let sent = Sent { weapon: Weapon::Alike(best.attack), rate };
            Ok(Threat { policy, innocent, sent, prediction: Some(Prediction { bound, ..best }) })
        })
        .collect::<Result<Threats<S>, _>>()?;
    if given.is_some() {
        return Ok(threats);
    }
    let trying = Trying { source, prepared, options, observer };
    let threats = if options.capacity.is_some() { trying.largest(threats)? } else { threats };
    match options.attack {
        AttackChoice::Search { trials } => trying.search(threats, trials, !attacker.misjudged.is_empty()),
        _ => Ok(threats),
    }
}

/// The smallest packet with the largest job.
pub(super) fn largest(Limits { least_bits, most_job }: Limits) -> Attack {
    Attack { bits: least_bits, job: most_job, estimate: most_job }
}

/// The attack of the application itself.
fn own<S: Source>(source: &S) -> Result<Own<PacketOf<S>>, Error> {
    let pool = source.attack().filter(|pool| !pool.packets.is_empty()).ok_or_else(|| {
        Error::Parameters("--attack own needs an application: reassembly:… or match:…".to_owned())
    })?;
    let packets = &pool.packets;
    let bits = packets.iter().map(|packet| u64::from(packet.bits)).sum::<u64>() / packets.len() as u64;
    Ok(Own { pool, bits: u32::try_from(bits).unwrap_or(u32::MAX) })
}

/// An attacker who knows what every packet takes and what the scheduler thinks that it takes.
struct Attacker<'a> {
    innocents: &'a Innocents,
    limits: Limits,
    /// What he sends whatever the policy; none: the best by theory.
    given: Option<Attack>,
    /// Packets of users that the scheduler is wrong about: any of them can be sent again.
    misjudged: Vec<Attack>,
}

impl<'a> Attacker<'a> {
    fn new(innocents: &'a Innocents, limits: Limits, given: Option<Attack>) -> Self {
        let jobs = innocents.jobs().iter().filter(|job| job.job != job.estimate);
        let packets = jobs.map(|job| Attack { bits: job.bits, job: job.job, estimate: job.estimate });
        let mut seen = HashSet::new();
        let misjudged = packets.filter(|attack| seen.insert(*attack)).collect();
        Self { innocents, limits, given, misjudged }
    }

    /// The attack on a policy, and what is to be expected of it.
    fn best(&self, discipline: Discipline, rates: Rates) -> Prediction {
        let known = || predict(discipline, self.innocents, rates, self.limits);
        if let Some(given) = self.given {
            return predict_among(discipline, self.innocents, rates, [given]).unwrap_or_else(known);
        }
        let (known, misjudged) = (known(), self.misjudged.iter().copied());
        match predict_among(discipline, self.innocents, rates, misjudged) {
            Some(misjudged) if misjudged.goodput < known.goodput => misjudged,
            _ => known,
        }
    }
}
