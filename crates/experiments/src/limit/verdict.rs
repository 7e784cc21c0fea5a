//! The verdict of the experiments: one sentence for each.

use trueplane_units::Percent;

use super::found::Results;
use super::precision::{Limiter, Source};
use super::{isolation, latency, marking, occupancy, precision};

/// The most important sentence first: whether TCP shares fairly, then what limits do, then how exact they are.
pub(super) fn verdict(all: &[Results]) -> Vec<String> {
    let sentence = |found: &Results| match found {
        Results::Isolation(found) => Some((0, on_isolation(found))),
        Results::Latency(found) => Some((1, on_latency(found))),
        Results::Precision(found) => on_precision(found).map(|sentence| (2, sentence)),
        Results::Occupancy(found) => Some((3, on_occupancy(found))),
        Results::Marking(found) => Some((4, on_marking(found))),
    };
    let mut sentences: Vec<(u8, String)> = all.iter().filter_map(sentence).collect();
    sentences.sort_by_key(|(importance, _)| *importance);
    sentences.into_iter().map(|(_, sentence)| sentence).collect()
}

fn on_isolation(found: &isolation::Found) -> String {
    let [few, many] = found.flows;
    format!(
        "Isolation: {many} flows get {:.1} times as much as {few} without limits, {:.2} times with a limiter per tenant.",
        found.unlimited.ratio(),
        found.limited.ratio()
    )
}

fn on_latency(found: &latency::Found) -> String {
    let [without, with] = [&found.unlimited, &found.limited].map(|run| run.quantile(0.5));
    format!(
        "Latency: beside {} flows a quiet tenant's median round trip takes {without} without limits and {with} with them.",
        found.flows
    )
}

/// None if UDP was not measured at any rate.
fn on_precision(found: &precision::Found) -> Option<String> {
    let udp = found.points.iter().filter(|point| point.source == Source::Udp);
    let worst = |limiter: Limiter| {
        let points = udp.clone().filter(|point| point.limiter == limiter);
        points.map(|point| (point.achieved() - 1.0).abs()).reduce(f64::max)
    };
    let rates = udp.clone().map(|point| point.rate_configured_bps);
    let (ours, least, most) = (worst(Limiter::Nimble)?, rates.clone().min()?, rates.max()?);
    let others = [Limiter::Tbf, Limiter::Htb].into_iter();
    let others = others.filter_map(|limiter| Some(format!(", {limiter} {}", Percent(worst(limiter)?))));
    Some(format!(
        "Precision: from {least} to {most}, UDP through a limiter is off by {} at most{}.",
        Percent(ours),
        others.collect::<String>()
    ))
}

fn on_occupancy(found: &occupancy::Found) -> String {
    format!(
        "Occupancy: marking above {}, DCTCP fills the limiter to {} at most and loses {} packets; without marks to {}, and loses {}.",
        found.mark_bytes,
        found.marked.quantile(1.0),
        found.marked.counter.dropped_packets,
        found.unmarked.quantile(1.0),
        found.unmarked.counter.dropped_packets
    )
}

fn on_marking(found: &marking::Found) -> String {
    let lossless = found.points.iter().filter(|point| point.dropped_packets == 0);
    match lossless.max_by_key(|point| point.goodput_bps) {
        None => format!("Marking: at {} no threshold kept DCTCP from losing packets.", found.rate_bps),
        Some(best) => format!(
            "Marking: a limiter of {} that marks above {} gives DCTCP {}, {} of the rate's payload, and drops nothing.",
            found.rate_bps,
            best.mark_bytes,
            best.goodput_bps,
            Percent(found.goodput_of_payload(best))
        ),
    }
}
