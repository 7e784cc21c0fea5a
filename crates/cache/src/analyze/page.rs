//! What people see of `cache analyze`: the trace, and latencies on its scale.

use trueplane_study::rounded::Toward;
use trueplane_study::{Measured, Page};
use trueplane_units::{Bytes, Percent};

use super::found::{Found, LatencyScale};

/// The three numbers are told of at most so many latencies.
const MOST_NUMBERS: usize = 8;

pub(super) fn present(found: &Found, page: &mut Page) {
    if let Some(warning) = &found.warning {
        page.warn(warning);
    }
    found.trace.present(found.clock, page);
    let summary = &found.trace.summary;
    page.fact("objects asked for only once", "one_timers", summary.one_timers);
    page.fact(
        "burstiness of all arrivals (−1 paced, 0 Poisson, 1 bursts)",
        "burstiness_arrivals",
        summary.burstiness_arrivals,
    );
    page.fact(
        "burstiness of the requests for one object, mean",
        "burstiness_objects",
        summary.burstiness_objects,
    );
    if found.sizes {
        page.fact("largest object", "largest_bytes", Bytes(summary.largest));
        page.fact("all objects together", "footprint_bytes", Bytes(summary.footprint_bytes));
        let requested = u64::try_from(summary.bytes_requested).ok();
        page.fact("all requests together", "requested_bytes", requested.map(Bytes));
    }
    let share = |scale: &LatencyScale| Toward::Up.ratio_cell(scale.most_delayed_share(summary.requests));
    for scale in found.latencies.iter().take(MOST_NUMBERS) {
        page.numbers(
            format!("largest share of delayed hits, with fetches of {}", scale.latency),
            "delayed_share_at_most",
            Percent(0.0),
            share(scale),
            Measured::Needs("a cache that logs its fetches"),
        );
    }
    if !found.latencies.is_empty() {
        page.table(
            "latencies",
            "Latencies on the trace's own scale: Z is a latency over the mean time between requests",
            &found.latencies,
        )
        .col("latency", "latency_ns", |scale| scale.latency)
        .col("Z", "z", |scale| scale.z)
        .col("delayed hits, at most", "delayed_hits_at_most", |scale| scale.most_delayed_hits)
        .col("of all requests", "delayed_share_at_most", |scale| share(scale));
    }
}
