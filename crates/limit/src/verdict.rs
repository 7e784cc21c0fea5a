//! What the studies of limits found, in plain sentences.

use trueplane_study::prose::join;
use trueplane_units::{BitsPerSec, Nanos, Percent};

use crate::precision::found::Point;
use crate::replay::found::{ClassRun, Replay, UNCLASSIFIED};

/// What a drained rate may be off beside the error of the table: the configured word, a packet at either end, and the
/// 1/64 byte that is rounded off at every packet.
const TABLE_ROUNDING: f64 = 0.001;

/// A silence that is longer, and more than half of a capture, is a gap between two captures.
const LONG_SILENCE: Nanos = Nanos(60_000_000_000);

/// The verdict on how exactly rates are enforced, the most important sentence first.
pub fn on_precision(points: &[Point], load: f64) -> Vec<String> {
    let mut sentences = Vec::new();
    let largest = |points: &mut dyn Iterator<Item = &Point>| {
        points.map(|point| point.error.abs()).max_by(f64::total_cmp)
    };
    let nimble = |point: &&Point| point.policy == "nimble";
    let is_exact = |point: &&Point| point.drain_error_max == 0.0;
    if load < 1.0 {
        sentences.push(format!(
            "Only {} of the configured rate is offered, so that the limits have nothing to do.",
            Percent(load)
        ));
        return sentences;
    }
    if let Some(error) = largest(&mut points.iter().filter(nimble).filter(is_exact)) {
        sentences.push(format!(
            "With exact draining the rate that Nimble lets through is within {} of the configured one, for all sources and rates here; the paper reports less than 1 % for its switch, and less than 0.5 % for UDP (§1.1, §4.3.1).",
            at_most(error)
        ));
    }
    let mut drains: Vec<&Point> = points.iter().filter(|point| !is_exact(point)).collect();
    drains.sort_by(|a, b| a.drain_error_max.total_cmp(&b.drain_error_max));
    drains.dedup_by(|a, b| a.drain == b.drain);
    if !drains.is_empty() {
        let parts: Vec<String> = (drains.iter())
            .map(|drain| {
                let same = points.iter().filter(|point| point.drain == drain.drain);
                let error = largest(&mut { same }).unwrap_or_default();
                format!("{} ({})", at_most(error), drain.drain)
            })
            .collect();
        let beyond = |point: &Point| point.error.abs() > point.drain_error_max + TABLE_ROUNDING;
        let bound = match points.iter().filter(|point| !is_exact(point)).find(|point| beyond(point)) {
            None => "never beyond the error that the table was made for (in brackets)".to_owned(),
            Some(point) => format!(
                "beyond the error that the table was made for (in brackets) at {} for one, where what is rounded off at every packet adds up",
                BitsPerSec(point.rate_configured_bps)
            ),
        };
        sentences.push(format!(
            "Drained from a table, as a switch without multiplication must, it is within {}, {bound}.",
            join(&parts)
        ));
    }
    let others: Vec<&Point> = points.iter().filter(|point| !nimble(point)).collect();
    if let Some(error) = largest(&mut others.iter().copied()) {
        let mut names: Vec<&str> = others.iter().map(|point| point.policy).collect();
        names.dedup();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        sentences.push(format!(
            "In wide words, {} {} within {}.",
            join(&names),
            are(names.len()),
            at_most(error)
        ));
    }
    sentences.push(format!(
        "Without a limit each of these sources takes what it sends, {} times what it was meant to get: none of them asks TCP what is fair.",
        trimmed(load)
    ));
    sentences
}

/// The verdict on a capture, the most important sentence first.
pub fn on_replay(replay: &Replay) -> Vec<String> {
    let tenants: Vec<&ClassRun> = (replay.classes.iter())
        .filter(|class| class.class != UNCLASSIFIED && class.counts.arrived_packets > 0)
        .collect();
    if tenants.is_empty() {
        return vec!["No packet of the capture belongs to any class: all pass untouched.".to_owned()];
    }
    let mut sentences = vec![on_fairness(&tenants), on_drops(replay, &tenants)];
    sentences.extend(on_marks(replay));
    if let Some(other) = replay.classes.iter().find(|class| class.class == UNCLASSIFIED)
        && other.counts.arrived_packets > 0
    {
        sentences.push(format!(
            "{} of the bytes belong to no class and pass untouched.",
            Percent(other.share_offered)
        ));
    }
    if replay.longest_silence_ns > LONG_SILENCE.0 && replay.longest_silence_ns > replay.span_ns / 2 {
        sentences.push(format!(
            "Beware: for {} of {} nothing was captured; means and pictures are of the whole time.",
            Nanos(replay.longest_silence_ns),
            Nanos(replay.span_ns)
        ));
    }
    sentences.push(
        "The replay is open-loop: packets come when they came, though senders that keep to TCP would have slowed down."
            .to_owned(),
    );
    sentences
}

/// What TCP's fairness would come to, and what it came to.
fn on_fairness(tenants: &[&ClassRun]) -> String {
    let by_flows = |a: &&&ClassRun, b: &&&ClassRun| a.flows.cmp(&b.flows);
    let (Some(most), Some(least)) = (tenants.iter().max_by(by_flows), tenants.iter().min_by(by_flows)) else {
        return String::new();
    };
    let took = |class: &ClassRun| {
        format!(
            "{} for its {} (it took {})",
            Percent(class.share_by_flows),
            flows(class.flows),
            Percent(class.share_offered)
        )
    };
    if tenants.len() == 1 {
        return format!("TCP, even if it shared perfectly, would give {} {}.", most.class, took(most));
    }
    let largest = tenants.iter().max_by(|a, b| a.share_offered.total_cmp(&b.share_offered)).unwrap_or(most);
    let largest_by_name =
        format!("{} takes the most, {} of the bytes", largest.class, Percent(largest.share_offered));
    if most.flows == least.flows {
        return format!(
            "All {} classes have {}, so that TCP would be fair between them if it shared perfectly; {largest_by_name}.",
            tenants.len(),
            flows(most.flows)
        );
    }
    let is_named = [most, least].iter().any(|class| class.class == largest.class);
    let beside =
        if is_named { String::new() } else { format!(" {largest_by_name}, by {}.", flows(largest.flows)) };
    format!(
        "TCP, even if it shared perfectly, would share between flows and not between {} tenants: {} would get {}, {} {}.{beside}",
        tenants.len(),
        most.class,
        took(most),
        least.class,
        took(least)
    )
}

fn on_drops(replay: &Replay, tenants: &[&ClassRun]) -> String {
    let worst = tenants.iter().max_by(|a, b| a.counts.drop_share().total_cmp(&b.counts.drop_share()));
    match worst.filter(|class| class.counts.dropped_packets > 0) {
        None => "The limits would have dropped nothing.".to_owned(),
        Some(worst) => {
            let hit = tenants.iter().filter(|class| class.counts.dropped_packets > 0).count();
            format!(
                "The limits would have dropped {} of all bytes, of {hit} of {} classes; most of {}, which loses {} of its own and keeps {} of what is let through.",
                Percent(replay.counts.drop_share()),
                tenants.len(),
                worst.class,
                Percent(worst.counts.drop_share()),
                Percent(worst.share_admitted)
            )
        }
    }
}

fn on_marks(replay: &Replay) -> Option<String> {
    let (marked, all) = (replay.counts.marked_packets, replay.counts.arrived_packets);
    let unmarkable: u64 = replay.classes.iter().map(|class| class.unmarkable_packets).sum();
    if marked + unmarkable == 0 {
        return None;
    }
    let share = |part: u64| Percent(part as f64 / all.max(1) as f64);
    let due = "due a mark that their senders do not understand (no ECN)";
    Some(match (marked, unmarkable) {
        (0, unmarkable) => format!("{} of the packets were {due}.", share(unmarkable)),
        (marked, 0) => format!("{} of the packets would have been marked.", share(marked)),
        _ => format!(
            "{} of the packets would have been marked; {} were {due}.",
            share(marked),
            share(unmarkable)
        ),
    })
}

/// `1 flow`, `12 flows`.
fn flows(count: u64) -> String {
    format!("{count} flow{}", if count == 1 { "" } else { "s" })
}

/// An error rounded up to the digits in which people read it, so that "within" stays true: `0.03 %`.
fn at_most(error: f64) -> String {
    let percent = error * 100.0;
    let step = if percent < 1.0 { 0.01 } else { 0.1 };
    Percent(((percent / step).ceil() * step).max(0.01) / 100.0).to_string()
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_is_never_less_than_the_error() {
        let said = [0.0, 0.000_02, 0.000_123, 0.005, 0.051_3, 0.49].map(at_most);
        assert_eq!(said, ["0.01 %", "0.01 %", "0.02 %", "0.50 %", "5.2 %", "49.0 %"]);
    }
}
