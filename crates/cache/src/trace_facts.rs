//! The trace of a study, as its page tells of it.

use trueplane_study::Page;
use trueplane_trace::Clock;

use crate::scan::Summary;
use crate::units::Units;

/// The trace of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFacts {
    /// Name of the trace.
    pub name: String,
    /// Size, span and burstiness of the trace.
    pub summary: Summary,
    /// Lines of the trace that were no requests, by reason, with their number.
    pub skipped: Vec<(String, u64)>,
}

impl TraceFacts {
    /// Puts the size of the trace on the page, and what was left out of it.
    pub(crate) fn present(&self, clock: Clock, page: &mut Page) {
        let Summary { requests, objects, peak_active, first, last, .. } = self.summary;
        let units = Units(clock);
        page.fact("requests", "requests", requests);
        page.fact("objects", "objects", objects);
        page.fact("peak active objects", "peak_active_objects", peak_active);
        let (span, gap) = match clock {
            Clock::Timestamps => ("span_ns", "interarrival_mean_ns"),
            Clock::Steps => ("span_steps", "interarrival_mean_steps"),
        };
        page.fact(
            units.label("from the first to the last request"),
            span,
            units.cell(last.since(first).0 as f64),
        );
        page.fact(
            units.label("mean time between requests"),
            gap,
            self.summary.mean_interarrival().map(|mean| units.cell(mean)),
        );
        page.fact("time", "time", units.model().name());
        self.present_skipped(page);
    }

    /// Puts on the page what was left out of the trace, if anything was.
    pub(crate) fn present_skipped(&self, page: &mut Page) {
        page.left_out("trace", self.skipped.iter().cloned());
    }
}
