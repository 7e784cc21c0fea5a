//! What makes the results of `surge compare` doubtful.

use trueplane_study::prose::join;
use trueplane_units::Nanos;

use super::found::{FEWEST_PACKETS, Found, Row};
use super::options::Options;
use crate::Capacity;
use crate::attack::{AttackMethod, AttackSource};
use crate::words::on_bounds;

/// What to do if chance decides.
pub(super) const REMEDY: &str = "take more packets of users, a longer trace, or a higher attack rate";

/// All warnings, the most important first.
pub(super) fn warnings(options: &Options, found: &Found) -> Vec<String> {
    [on_bounds(found.telling()), on_buffer(options, found), on_overload(found), on_few(found)]
        .into_iter()
        .flatten()
        .collect()
}

/// A buffer that is too small for what comes during one job: no order of service helps.
fn on_buffer(options: &Options, found: &Found) -> Option<String> {
    let mean = found.workload.mean_packet_bits;
    let packets = match options.capacity? {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bits(bits) => bits as f64 / mean,
    };
    let longest = longest_job(options, found);
    let rate = found.innocent.iter().max().copied().unwrap_or_default();
    let needed = (rate.0 as f64 * longest.0 as f64 / 1e9 / mean).ceil();
    let advice = match options.attack.attack {
        AttackSource::Method(AttackMethod::Optimal | AttackMethod::Search)
            if !options.attack.is_by_hand() =>
        {
            " (see it with --attack largest)"
        }
        _ => "",
    };
    (packets < needed).then(|| {
        format!(
            "The buffer holds {packets:.0} packets, and while a job of {longest} is served users send {needed:.0}: what does not fit is \
             lost under every order of service, and no bound holds{advice}. Give it room for {needed:.0} or more."
        )
    })
}

/// The longest job that can be in the way: the longest of users and of the packets that the attacker sends. Where those are not known, the
/// longest that the attacker may send.
fn longest_job(options: &Options, found: &Found) -> Nanos {
    let is_own = options.attack.attack == AttackSource::Method(AttackMethod::Own);
    if !is_own && !options.attack.is_by_hand() {
        return found.limits.most_job;
    }
    let sent = found.rows.iter().map(|row| row.attack.job).max();
    found.workload.largest_job.max(sent.unwrap_or_default())
}

/// Users that need no attacker.
fn on_overload(found: &Found) -> Option<String> {
    let beyond = found.innocent.iter().filter(|rate| rate.0 as f64 > found.workload.r_max_bps);
    let rates: Vec<String> = beyond.map(ToString::to_string).collect();
    (!rates.is_empty()).then(|| {
        format!(
            "At {} users alone send more than can be served: some of it waits forever without any attack.",
            join(&rates)
        )
    })
}

/// Attacks of so few packets that chance decides, beside others of more.
fn on_few(found: &Found) -> Option<String> {
    let rate = found.rows.iter().filter(|row| !row.tells()).map(|row| row.attack_rate).max()?;
    found.rows.iter().any(Row::tells).then(|| {
        format!(
            "Up to {rate} an attack has fewer than {FEWEST_PACKETS} packets in a run, and what so few do is chance: to know of them too, {REMEDY}."
        )
    })
}
