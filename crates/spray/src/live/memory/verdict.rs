//! What was found, in sentences, and what the machine does not let anybody find.

use trueplane_units::Percent;

use super::document::{Compare, Row};
use crate::live::memory::options::Traffic;

/// The verdict, the most important sentence first.
pub(super) fn on_compare(found: &Compare) -> Vec<String> {
    let mut sentences = match found.parameters.traffic {
        Traffic::Steady => on_rates(found),
        Traffic::Connections => vec![on_identity(found)],
        Traffic::Flood => on_flood(found),
    };
    sentences.extend(on_machine(found));
    sentences
}

/// The rows with as much work as the first, and so on.
fn groups(found: &Compare) -> impl Iterator<Item = &[Row]> {
    found.rows.chunk_by(|a, b| a.cycles == b.cycles)
}

fn millions(rate: f64) -> String {
    format!("{:.2} million packets/s", rate / 1e6)
}

fn on_rates(found: &Compare) -> Vec<String> {
    let sentence = |rows: &[Row]| {
        let [first, others @ ..] = rows else { return None };
        let parts: Vec<String> =
            others.iter().map(|row| format!("{} {:.2} times that", row.dispatch, row.ratio)).collect();
        let flows = if first.flows == 1 { "One flow".to_owned() } else { format!("{} flows", first.flows) };
        let verb = if first.flows == 1 { "gets" } else { "get" };
        let rest = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        Some(format!(
            "{flows} through {} with {} cycles of work per packet {verb} {} under {} on {} cores{rest}.",
            first.nf,
            first.cycles,
            millions(first.rate_pps),
            first.dispatch,
            first.cores,
        ))
    };
    groups(found).filter_map(sentence).collect()
}

fn on_identity(found: &Compare) -> String {
    let wrong: Vec<String> = found
        .rows
        .iter()
        .filter(|row| row.identical == Some(false))
        .map(|row| row.dispatch.to_string())
        .collect();
    let packets: u64 = found.rows.iter().map(|row| row.packets).sum();
    if wrong.is_empty() {
        format!(
            "Of {packets} packets, every one got the verdict that one core alone gives, and the same headers up to the chosen port."
        )
    } else {
        format!("Not the verdicts that one core alone gives: {}.", wrong.join(", "))
    }
}

fn on_flood(found: &Compare) -> Vec<String> {
    let sentence = |row: &Row| {
        let (all, passed) = (row.established?, row.established_forwarded?);
        let share = Percent(passed as f64 / all.max(1) as f64);
        let mebibytes = row.table_bytes as f64 / f64::from(1 << 20);
        Some(format!(
            "{}: during {} SYNs, {passed} of {all} packets of connections that were there before passed ({share}); {} flows were in tables \
             of {mebibytes:.1} MiB, which did not grow.",
            row.dispatch,
            row.packets - all,
            row.table_flows
        ))
    };
    found.rows.iter().filter_map(sentence).collect()
}

/// What the machine does to the numbers.
fn on_machine(found: &Compare) -> Option<String> {
    let (cores, threads) = (found.machine.cores, found.parameters.cores + 1);
    let most = found.rows.iter().max_by(|a, b| a.dispatcher.total_cmp(&b.dispatcher))?;
    let share = Percent(most.dispatcher);
    Some(if cores < threads {
        format!(
            "{threads} threads shared {cores} cores: generator, dispatcher and sink are one thread, which had up to {share} of a core \
             (under {}, {} cycles), and what it takes the cores that handle packets lack.",
            most.dispatch, most.cycles
        )
    } else {
        format!(
            "Generator, dispatcher and sink are one thread with a core of its own, of which it used up to {share} (under {}, {} cycles).",
            most.dispatch, most.cycles
        )
    })
}
