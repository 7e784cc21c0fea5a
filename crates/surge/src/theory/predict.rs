//! The best attack on an order of service, and what it is worth.

use std::collections::HashMap;

use trueplane_units::Nanos;

use super::attacker::understated;
use super::model::Users;
use super::{Attack, Attacker, Innocents, Job, Prediction, Rates, plan};
use crate::policy::PolicyName;

/// The work of a flow: nine tenths of all work is in flows that have so much or more. O(n log n).
pub fn usual_flow(jobs: &[Job]) -> Nanos {
    let mut flows: HashMap<u64, u128> = HashMap::new();
    for job in jobs {
        *flows.entry(job.flow).or_default() += u128::from(job.job.0);
    }
    let mut work: Vec<u128> = flows.into_values().collect();
    work.sort_unstable();
    let mut left = work.iter().sum::<u128>() / 10;
    let usual = work.into_iter().find(|work| {
        let beyond = left < *work;
        left = left.saturating_sub(*work);
        beyond
    });
    Nanos(usual.map_or(0, |work| u64::try_from(work).unwrap_or(u64::MAX)))
}

/// The best attack by what the attacker can send, with a bound on everything that he can.
///
/// Of the packets whose job the scheduler knows it is the best there is where smaller packets are the better ones. Where work per bit
/// counts (WSJF and its variants) sizes and jobs are whole numbers, and a ratio is met up to one part in P_min, so that the best is
/// missed by so little.
///
/// O(n log n) in the packets of the sample and those that are misjudged.
pub fn predict(
    discipline: PolicyName,
    innocents: &Innocents,
    rates: Rates,
    attacker: &Attacker,
) -> Prediction {
    let (users, limits) = (Users::new(discipline, innocents, rates), attacker.limits());
    let known = plan::known(&users, limits);
    let misjudged = attacker.misjudged().iter().copied();
    let attack = users.worst(std::iter::once(known).chain(misjudged)).unwrap_or(known);
    users.prediction(attack, users.bound(limits.least_bits, attacker.understated()))
}

/// The best attack among `candidates`, with a bound on all of them. `None` if there are none.
///
/// O((n + candidates) log n).
pub fn predict_among(
    discipline: PolicyName,
    innocents: &Innocents,
    rates: Rates,
    candidates: impl IntoIterator<Item = Attack>,
) -> Option<Prediction> {
    let users = Users::new(discipline, innocents, rates);
    let (mut least_bits, mut most) = (u32::MAX, 0.0f64);
    let seen = candidates.into_iter().inspect(|attack| {
        least_bits = least_bits.min(attack.bits);
        most = most.max(understated(attack));
    });
    let attack = users.worst(seen)?;
    Some(users.prediction(attack, users.bound(least_bits, most)))
}
