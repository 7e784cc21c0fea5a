//! What the attacker sends against each policy at each pair of rates, and what theory makes of it.

use std::sync::Arc;

use trueplane_study::{Error, Observer, cases};
use trueplane_units::BitsPerSec;

use super::options::{AttackChoice, Options};
use super::prepare::Prepared;
use super::sent::{Arsenal, Own, Sent, Threat, Threats, Weapon};
use super::trying::Trying;
use crate::jobs::MOST_JOB;
use crate::policy::PolicyName;
use crate::replay::{Replay, Replayed};
use crate::search::Space;
use crate::search::pattern::Kind;
use crate::theory::{predict, predict_among};
use crate::traffic::Pool;
use crate::workload::source::{PacketOf, Source};

/// All of them: policy by policy, rate by rate.
///
/// # Errors
/// If the application has no attack of its own and that was chosen, more packets would come than can be simulated, or the observer
/// interrupts.
pub(super) fn threats<S: Source>(
    source: &S,
    prepared: &Prepared<S>,
    options: &Options,
    choice: &AttackChoice,
    observer: &dyn Observer,
) -> Result<Threats<S>, Error> {
    let mut points: Vec<(PolicyName, usize, BitsPerSec)> = Vec::new();
    for innocent in 0..prepared.innocent.len() {
        for &policy in options.policies.iter() {
            points.extend(prepared.attack.iter().map(|rate| (policy, innocent, *rate)));
        }
    }
    let attacker = &prepared.attacker;
    let given = match choice {
        AttackChoice::Optimal | AttackChoice::Search { .. } => None,
        AttackChoice::Largest => Some(attacker.limits().largest()),
        AttackChoice::Given(attack) => Some(*attack),
        AttackChoice::Own => {
            let own = own(source)?;
            let threat = |(policy, innocent, rate)| {
                let sent = Sent { weapon: Weapon::Own(own.clone()), rate };
                Threat { policy, innocent, sent, prediction: None, bound: None, planned: None }
            };
            return Ok(points.into_iter().map(threat).collect());
        }
        AttackChoice::Replay(replay) => return replayed(source, prepared, options, replay, points),
    };
    observer.stage("planning the attack", points.len() as u64);
    let planned = |&(policy, innocent, rate): &(PolicyName, usize, BitsPerSec)| {
        let rates = prepared.rates(prepared.innocent[innocent], rate);
        let alone = given.and_then(|given| predict_among(policy, &prepared.innocents, rates, [given]));
        let best = alone.unwrap_or_else(|| predict(policy, &prepared.innocents, rates, attacker));
        observer.advance(1);
        let sent = Sent { weapon: Weapon::Alike(best.attack), rate };
        let bound = best.bound.filter(|_| options.capacity.is_none());
        let prediction = Some(best).filter(|best| prepared.foresees(policy, best.attack));
        Ok(Threat { policy, innocent, sent, prediction, bound, planned: None })
    };
    let threats: Threats<S> = cases::over(&points, observer, planned)?;
    if given.is_some() {
        return Ok(threats);
    }
    let trying = Trying { source, prepared, options, observer };
    let threats = if options.capacity.is_some() { trying.largest(threats)? } else { threats };
    match *choice {
        AttackChoice::Search { trials } => trying.search(threats, trials),
        _ => Ok(threats),
    }
}

/// The attacks that an earlier study found, prepared for this one.
fn replayed<S: Source>(
    source: &S,
    prepared: &Prepared<S>,
    options: &Options,
    replay: &Replay,
    points: Vec<(PolicyName, usize, BitsPerSec)>,
) -> Result<Threats<S>, Error> {
    let pool = source.attack().unwrap_or_else(Pool::none);
    let least =
        pool.packets.iter().map(|packet| packet.bits).fold(prepared.attacker.limits().least_bits, u32::min);
    let threat = |(policy, innocent, rate): (PolicyName, usize, BitsPerSec)| {
        let replayed = replay.of(policy, prepared.innocent[innocent], rate, pool.packets.len())?;
        let rates = prepared.rates(prepared.innocent[innocent], rate);
        let made = replayed.made();
        let best = made.and_then(|made| predict_among(policy, &prepared.innocents, rates, made));
        let bound = best.and_then(|best| best.bound).filter(|_| options.capacity.is_none());
        let (weapon, prediction) = match replayed {
            Replayed::Alike(attack) => {
                (Weapon::Alike(*attack), best.filter(|_| prepared.foresees(policy, *attack)))
            }
            Replayed::Mixture(pattern) => {
                let sizes = pattern.parts.iter().filter_map(|part| match part.kind {
                    Kind::Made { bits, .. } => Some(bits),
                    Kind::Pool(_) => None,
                });
                let smallest = sizes.fold(least, u32::min);
                let space = Space::new((1, u32::MAX), MOST_JOB, pool.clone())?;
                let arsenal = Arsenal { space, pool: Arc::clone(&pool.packets), least_bits: smallest };
                (Weapon::Found(Arc::new(arsenal), pattern.clone()), None)
            }
        };
        Ok(Threat { policy, innocent, sent: Sent { weapon, rate }, prediction, bound, planned: None })
    };
    points.into_iter().map(threat).collect()
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
