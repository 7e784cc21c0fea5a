//! The verdict of `spray concurrency`.

use trueplane_study::prose::command;
use trueplane_units::Percent;

use super::found::{Flows, Found, Which};
use super::options::Options;

/// The most important sentence first.
pub(super) fn verdict(options: &Options, found: &Found) -> Vec<String> {
    found
        .rows
        .iter()
        .flat_map(|row| [Some(on_flows(options, row)), on_cores(options, row)])
        .flatten()
        .collect()
}

fn on_flows(options: &Options, row: &Flows) -> String {
    let (which, share) = match row.which {
        Which::All => ("", String::new()),
        Which::Large => ("large ", format!(" (they have {} of the bytes)", Percent(row.bytes))),
    };
    format!(
        "Of the windows of {} that have any, half have {} {which}{} or fewer, and 99% {}{share}.",
        *options.window,
        row.median,
        if row.median == 1 { "flow" } else { "flows" },
        row.p99
    )
}

/// Sentence about the share of the most cores that hashing can be expected to use.
fn on_cores(options: &Options, row: &Flows) -> Option<String> {
    let cores = options.cores();
    let (cores, used) = cores.iter().zip(&row.cores_used).max_by_key(|(cores, _)| **cores)?;
    let which = match row.which {
        Which::All => "all flows",
        Which::Large => "large flows alone",
    };
    Some(format!("Hashing can be expected to use {} of {cores} cores for {which}.", Percent(*used)))
}

/// Whether spraying is worth a look.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    /// Hashing that uses such a share of the cores is good enough.
    const ENOUGH: f64 = 0.9;
    if found.is_idle() {
        return String::new();
    }
    let used = found.rows.iter().filter_map(|row| row.cores_used.iter().copied().reduce(f64::min));
    match used.reduce(f64::min) {
        Some(used) if used < ENOUGH => {
            let name = options.capture.to_string_lossy();
            let words = ["trueplane", "spray", "compare", &*name];
            format!("See what spraying gains: {}", command(&words, &options.order))
        }
        Some(_) => "Keep hashing flows to cores: there are enough flows at a time.".to_owned(),
        None => String::new(),
    }
}
