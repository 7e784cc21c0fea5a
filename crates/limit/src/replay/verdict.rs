//! The verdict of `limit replay`.

use trueplane_study::prose::command_line;
use trueplane_units::{Nanos, Percent};

use super::found::{ClassRun, Found};
use super::options::Options;

/// A silence that is longer, and more than half of a capture, is a gap between two captures.
const LONG_SILENCE: Nanos = Nanos(60_000_000_000);

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let tenants: Vec<&ClassRun> =
        (found.classes.iter()).filter(|class| class.is_class() && class.counts.arrived_packets > 0).collect();
    if found.counts.arrived_packets == 0 {
        return vec!["The link loses every packet of the capture.".to_owned()];
    }
    if tenants.is_empty() {
        return vec!["No packet of the capture belongs to any class: all pass untouched.".to_owned()];
    }
    let mut sentences = vec![on_drops(found, &tenants)];
    if found.counts.dropped_packets > 0 {
        sentences
            .push("Packets come when they came: TCP would have slowed down where some are lost.".to_owned());
    }
    sentences.extend(on_marks(found));
    sentences.push(on_fairness(&tenants));
    if let Some(other) = found.classes.iter().find(|class| !class.is_class())
        && other.counts.arrived_packets > 0
    {
        sentences.push(format!(
            "{} of the bytes belong to no class and pass untouched.",
            Percent(other.share_offered)
        ));
    }
    sentences
}

/// Warning that means and pictures are doubtful, if the capture has a long silence.
pub(super) fn on_silence(found: &Found) -> Option<String> {
    let is_long = found.longest_silence > LONG_SILENCE && found.longest_silence.0 > found.span.0 / 2;
    is_long.then(|| {
        format!(
            "Beware: for {} of {} nothing was captured; means and pictures are of the whole time.",
            found.longest_silence, found.span
        )
    })
}

/// Sentence on the shares that TCP's fairness would give, and on the real ones.
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
        if is_named { String::new() } else { format!("; {largest_by_name}, by {}", flows(largest.flows)) };
    format!(
        "TCP, even if it shared perfectly, would share between flows and not between {} tenants: {} would get {}, {} {}{beside}.",
        tenants.len(),
        most.class,
        took(most),
        least.class,
        took(least)
    )
}

fn on_drops(found: &Found, tenants: &[&ClassRun]) -> String {
    let worst = tenants.iter().max_by(|a, b| a.counts.drop_share().total_cmp(&b.counts.drop_share()));
    match worst.filter(|class| class.counts.dropped_packets > 0) {
        None => "These limits would have dropped nothing.".to_owned(),
        Some(worst) => {
            let hit = tenants.iter().filter(|class| class.counts.dropped_packets > 0).count();
            format!(
                "These limits would have dropped {} of all bytes, and hit {hit} of {} classes: {} most, which loses {} of its bytes. It has {} of all that come and {} of all that pass.",
                Percent(found.counts.drop_share()),
                tenants.len(),
                worst.class,
                Percent(worst.counts.drop_share()),
                Percent(worst.share_offered),
                Percent(worst.share_admitted)
            )
        }
    }
}

fn on_marks(found: &Found) -> Option<String> {
    let (marked, all) = (found.counts.marked_packets, found.counts.arrived_packets);
    let unmarkable: u64 = found.classes.iter().map(|class| class.unmarkable).sum();
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

/// Limits that drop a larger part of all bytes are hardly meant so.
const MUCH: f64 = 0.5;

/// The command that puts the limits on a device.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    let is_met = |class: &ClassRun| class.is_class() && class.counts.arrived_packets > 0;
    if !found.classes.iter().any(is_met) {
        return format!("Correct the rules of {}: no packet belongs to a class.", options.classes.display());
    }
    if found.counts.dropped_packets + found.counts.marked_packets == 0 {
        return "Lower the rates if these limits are to bind: nothing was dropped or marked.".to_owned();
    }
    if found.counts.drop_share() > MUCH {
        return format!(
            "Raise rates or bursts: limits that drop {} of all bytes stop more than they share.",
            Percent(found.counts.drop_share())
        );
    }
    let name = options.classes.to_string_lossy();
    let words = ["trueplane", "limit", "attach", "--dev", "IFACE", "--classes", &*name, "--dry-run"];
    format!("Try them on a device: {}", command_line(&words))
}
