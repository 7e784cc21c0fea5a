//! The verdict of `limit size`.

use trueplane_units::Percent;

use super::found::Found;
use super::options::Options;

/// The most important sentence first.
pub(super) fn verdict(options: &Options, found: &Found) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(nimble) = found.layouts.first() {
        sentences.push(format!(
            "{} holds {} limiters of {} bytes each; Nimble has 64 K in 1 MB (figure 15 of its paper), where the queues of a switch give tens.",
            options.memory, nimble.limiters_in_memory, nimble.bytes
        ));
        let (take, fit) = match (options.limiters, nimble.limiters_bytes <= options.memory) {
            (1, true) => ("takes", "fits"),
            (1, false) => ("takes", "does not fit"),
            (_, true) => ("take", "fit"),
            (_, false) => ("take", "do not fit"),
        };
        sentences.push(format!("{} of them {take} {} and {fit}.", options.limiters, nimble.limiters_bytes));
    }
    if let [first, .., last] = &found.drain_tables[..] {
        sentences.push(format!(
            "Draining by a table costs a switch from {} prefixes ({} error) to {} ({}), once for all limiters.",
            last.prefixes,
            Percent(last.error_max()),
            first.prefixes,
            Percent(first.error_max())
        ));
    }
    sentences
}
