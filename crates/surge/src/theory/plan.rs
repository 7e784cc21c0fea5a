//! The best packets to send, if the scheduler knows their jobs.

use trueplane_units::Nanos;

use super::{Attack, Limits, Staircase};
use crate::theory::model::{Key, Model, Users};

/// Number of jobs that are tried for a ratio: the more, the nearer it is met, and the larger the packets.
const TRIED: usize = 8;

/// The best of all packets within `limits`.
pub(super) fn known(users: &Users<'_>, limits: Limits) -> Attack {
    let largest = limits.largest();
    // Work per bit of the largest: there is none above.
    let most = largest.job.0 as f64 / f64::from(largest.bits);
    let attack = match &users.model {
        Model::Keys(Key::Work, stairs) => Some(smallest(users, stairs, limits)),
        Model::Keys(Key::WorkPerBit, stairs) => {
            let key = stairs.worst(users.rates.attack, most).key;
            users.worst(beside(key, limits).chain([largest]))
        }
        // One key is as good as the next: all of them are tried.
        Model::Heads(stairs) => {
            let keys = stairs.keys().iter().filter(|key| **key <= most);
            users.worst(keys.filter_map(|key| below(*key, limits)).chain([largest]))
        }
        Model::Arrivals | Model::Shares(_) | Model::Rounds => None,
    };
    attack.unwrap_or(largest)
}

/// The best of the smallest packets, of all jobs.
///
/// Up to the best key an attack does the more the longer its job is, and beyond it the less, but for users of the very same job, who
/// share what is left with it. So the jobs on both sides are tried until none further off can be better, even before its equals.
fn smallest(users: &Users<'_>, stairs: &Staircase, limits: Limits) -> Attack {
    let (bits, most) = (limits.least_bits, limits.most_job.0);
    let slope = users.rates.attack / f64::from(bits);
    let middle = (stairs.worst(slope, most as f64).key.floor() as u64).clamp(1, most);
    let mut best = Attack::known(bits, Nanos(middle));
    let mut least = users.goodput(Some(best));
    // Tries a job; whether none further off can be better.
    let mut is_last = |job: u64| {
        let attack = Attack::known(bits, Nanos(job));
        let before_equals = stairs.goodput(stairs.under(job as f64, users.load(attack)));
        let goodput = users.goodput(Some(attack));
        let is_last = before_equals >= least;
        if goodput < least {
            (best, least) = (attack, goodput);
        }
        is_last
    };
    for job in (1..middle).rev() {
        if is_last(job) {
            break;
        }
    }
    for job in middle + 1..=most {
        if is_last(job) {
            break;
        }
    }
    best
}

/// Small packets whose work per bit is near `key`: with every job those just below and just above, and the one that meets it if there is.
///
/// The smallest packet alone can be far off, where a job is a few nanoseconds; one that is a little larger costs the attacker nothing, as
/// work and bits count by their ratio only. A job of j nanoseconds meets it up to one part in j / `key` bits, which are no fewer than
/// the smallest packet has.
fn beside(key: f64, limits: Limits) -> impl Iterator<Item = Attack> {
    let first = (key * f64::from(limits.least_bits)).ceil() - 1.0;
    let first = first.clamp(1.0, limits.most_job.0 as f64) as u64;
    (first..=limits.most_job.0).take(TRIED).flat_map(move |job| {
        let near = (job as f64 / key).round();
        [near - 1.0, near, near + 1.0].into_iter().filter_map(move |bits| {
            let bits = bits.max(f64::from(limits.least_bits));
            // Below a nanosecond for the largest packet there is nothing.
            (bits <= f64::from(u32::MAX)).then(|| Attack::known(bits as u32, Nanos(job)))
        })
    })
}

/// A small packet whose work per bit is below `key` by little; `None` if there is none.
fn below(key: f64, limits: Limits) -> Option<Attack> {
    let ratio = |attack: &Attack| attack.job.0 as f64 / f64::from(attack.bits);
    let below = beside(key, limits).filter(|attack| ratio(attack) < key);
    below.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}
