//! The verdict of `limit isolation`.

use trueplane_study::prose::join;
use trueplane_units::{BitsPerSec, Nanos, Percent, digits, distinct};

use super::found::{Found, Run};
use super::policy::{Mechanism, PolicyName, TransportName};

/// Tenants that are no further from their shares are kept apart.
const APART: f64 = 0.05;

/// Shares of dropped packets that differ by no more are equal.
const EQUAL: f64 = 0.01;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let Some(first) = found.transports().first().copied() else { return Vec::new() };
    let sentences = [
        without_limits(found),
        with_limits(found, first),
        on_probes(found, first),
        on_drops(found),
        on_borrowing(found, first),
    ];
    sentences.into_iter().flatten().collect()
}

/// Says something of each kind of senders: `9.1 (dctcp) and 8.3 (cubic)`.
fn by_transport(found: &Found, of: impl Fn(TransportName) -> Option<String>) -> Vec<String> {
    let text = |transport| Some(format!("{} ({transport})", of(transport)?));
    found.transports().into_iter().filter_map(text).collect()
}

fn without_limits(found: &Found) -> Option<String> {
    let (fewest, most) = found.extremes();
    let ratio = |transport| {
        let run = found.run(transport, PolicyName::Fifo)?;
        Some(digits(run.tenants[most].rate_bps / run.tenants[fewest].rate_bps.max(1.0), 2))
    };
    let ratios = by_transport(found, ratio);
    let [fewest, most] = [fewest, most].map(|place| found.tenants[place].flows);
    (!ratios.is_empty() && fewest < most).then(|| {
        format!(
            "Without limits, the tenant with {most} flows gets {} times as much as the one with {fewest}; the classical model says 1.",
            join(&ratios)
        )
    })
}

/// Policies that limit, in the order in which they ran.
fn limiting(found: &Found) -> Vec<PolicyName> {
    let limits = |policy: &PolicyName| policy.properties().mechanism != Mechanism::Nothing;
    distinct(found.runs.iter().map(|run| run.policy).filter(limits))
}

fn with_limits(found: &Found, first: TransportName) -> Option<String> {
    let error = |policy: &PolicyName| {
        let run = found.run(first, *policy)?;
        Some(format!("{} under {policy}", Percent(run.worst_error().abs())))
    };
    let errors: Vec<String> = limiting(found).iter().filter_map(error).collect();
    (!errors.is_empty() && found.tenants.len() > 1)
        .then(|| format!("With {first}, tenants are within {} of their shares.", join(&errors)))
}

fn on_probes(found: &Found, first: TransportName) -> Option<String> {
    let of_first = found.runs.iter().filter(|run| run.transport == first);
    let mut times: Vec<(Nanos, PolicyName)> =
        of_first.filter_map(|run| Some((run.probe_p99()?, run.policy))).collect();
    times.sort();
    let times: Vec<String> = times.iter().map(|(time, policy)| format!("{time} under {policy}")).collect();
    (!times.is_empty()).then(|| format!("99% of probes take at most {}.", join(&times)))
}

fn on_drops(found: &Found) -> Option<String> {
    let share = |policy| {
        let of = |transport| Some(Percent(found.run(transport, policy)?.drop_share()).to_string());
        let shares = by_transport(found, of);
        (!shares.is_empty()).then(|| format!("{policy} drops {}", join(&shares)))
    };
    let shares: Vec<String> =
        [PolicyName::Nimble, PolicyName::TokenBucket].into_iter().filter_map(share).collect();
    (!shares.is_empty()).then(|| format!("Of all packets, {}.", shares.join("; ")))
}

fn on_borrowing(found: &Found, first: TransportName) -> Option<String> {
    let alone = |policy| {
        let rate = found.run(first, policy)?.alone_bps?;
        Some(format!("{} under {policy}", BitsPerSec(rate.round() as u64)))
    };
    let rates: Vec<String> = [PolicyName::Nimble, PolicyName::Drr].into_iter().filter_map(alone).collect();
    (rates.len() == 2).then(|| format!("A tenant that is alone has {}.", join(&rates)))
}

/// Of the policies that keep tenants apart and need no queue for each, the one that drops the fewest packets: the first of those that are
/// about as good. None if there is no choice.
pub(super) fn best(found: &Found, transport: TransportName) -> Option<PolicyName> {
    let is_limiter = |run: &&Run| matches!(run.policy.properties().mechanism, Mechanism::Limiter { .. });
    let limiters = || found.runs.iter().filter(is_limiter).filter(|run| run.transport == transport);
    if found.tenants.len() < 2 || limiters().count() < 2 {
        return None;
    }
    let apart = || limiters().filter(|run| run.worst_error().abs() <= APART);
    let least = apart().map(Run::drop_share).fold(f64::INFINITY, f64::min);
    apart().find(|run| run.drop_share() <= least + EQUAL).map(|run| run.policy)
}

/// The policy to deploy, in words.
pub(super) fn advice(found: &Found) -> String {
    let Some(first) = found.transports().first().copied() else { return String::new() };
    let Some(best) = best(found, first) else { return String::new() };
    format!(
        "Put {best} before shared links: of the policies that need no queue for each tenant and keep all within {} of their shares, none drops clearly fewer packets with {first}.",
        Percent(APART)
    )
}
