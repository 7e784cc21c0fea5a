//! The verdict of `cache analyze`.

use trueplane_trace::Clock;

use super::found::Found;

/// One sentence: from which latency on to expect delayed hits.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    if found.clock == Clock::Steps {
        return vec![format!(
            "The trace has no timestamps: compare policies in steps, such as trueplane cache compare {} --latency 1000steps.",
            found.trace.name
        )];
    }
    let reached = (found.latencies.iter().filter(|scale| scale.z.is_some_and(|z| z >= 1.0)))
        .min_by_key(|scale| scale.latency);
    vec![match reached {
        Some(scale) => {
            format!("From fetches of {} on, others arrive meanwhile: expect delayed hits.", scale.latency)
        }
        None => "Fewer than one request arrives during such fetches: delayed hits come from bursts only."
            .to_owned(),
    }]
}
