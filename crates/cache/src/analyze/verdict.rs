//! The verdict of `cache analyze`.

use trueplane_study::rounded::Toward;
use trueplane_trace::Clock;

use super::found::{Found, LatencyScale};

/// One or two sentences: how many delayed hits there can be, and which command tells how many there are.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let (name, requests) = (&found.trace.name, found.trace.summary.requests);
    if found.clock == Clock::Steps {
        return vec![format!(
            "The trace has no timestamps: compare policies in steps, such as trueplane cache compare {name} --latency 1000steps."
        )];
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
    vec![
        format!("Whatever the cache, up to {least} of the requests can be delayed hits {briefly}{more}."),
        format!(
            "How many there are depends on cache and policy: trueplane cache compare {name} --latency {} tells.",
            shortest.latency
        ),
    ]
}
