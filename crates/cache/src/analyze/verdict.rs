//! The verdict of `cache analyze`.

use trueplane_study::prose::command;
use trueplane_study::rounded::Toward;
use trueplane_trace::Clock;

use super::found::{Found, LatencyScale};
use super::options::Options;
use crate::beware::is_coarse;
use crate::latency::Latency;

/// One sentence: how many delayed hits there can be.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let requests = found.trace.summary.requests;
    if found.clock == Clock::Steps {
        return vec!["The trace has no timestamps: each request is a step.".to_owned()];
    }
    let Some(longest) = found.latencies.iter().max_by_key(|scale| scale.latency) else { return Vec::new() };
    let delaying = found.latencies.iter().filter(|scale| scale.most_delayed_hits > 0);
    let Some(shortest) = delaying.min_by_key(|scale| scale.latency) else {
        return vec![format!(
            "No object is asked for again before a fetch of {} ends: whatever the cache, no hit is delayed.",
            longest.latency
        )];
    };
    let part = |scale: &LatencyScale| {
        let share = Toward::Up.percent(scale.most_delayed_share(requests));
        (share, format!("with fetches of {}", scale.latency))
    };
    let (least, briefly) = part(shortest);
    let (most, long) = part(longest);
    let more = match shortest.latency == longest.latency {
        true => String::new(),
        false => format!(", and up to {most} {long}"),
    };
    vec![format!("Whatever the cache, up to {least} of the requests can be delayed hits {briefly}{more}.")]
}

/// The command that counts delayed hits.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    let compare = |latency: &str| {
        let name = options.source.trace.to_string_lossy();
        let words = ["trueplane", "cache", "compare", &*name, "--latency", latency];
        command(&words, &options.source.reading)
    };
    if found.clock == Clock::Steps {
        return format!("Compare policies in steps: {}", compare("1000steps"));
    }
    // With whole seconds and shorter fetches, a comparison tells nothing.
    let is_coarse = |latency| is_coarse(&found.trace.summary, &Latency::Constant(latency));
    let telling =
        found.latencies.iter().filter(|scale| scale.most_delayed_hits > 0 && !is_coarse(scale.latency));
    telling.min_by_key(|scale| scale.latency).map_or_else(String::new, |shortest| {
        format!("Count them under every policy: {}", compare(&format!("{:#}", shortest.latency)))
    })
}
