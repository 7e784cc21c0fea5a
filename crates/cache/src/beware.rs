//! What of a trace makes a verdict doubtful. It is said before the verdict.

use trueplane_trace::Trace;
use trueplane_units::Nanos;

use crate::latency::Latency;
use crate::scan::Summary;

/// A fetch that takes fewer spans than this, a span being what all timestamps are multiples of, cannot be followed.
const FEW: u64 = 5;

/// Traces of steps begin near zero; the time since 1970 does not.
const LATEST_FIRST_STEP: Nanos = Nanos(100_000_000 * 1_000_000_000);

/// Whether timestamps are too coarse for fetches of this length. A fetch that takes no time is none.
pub(super) fn is_coarse(summary: &Summary, latency: &Latency) -> bool {
    let span = summary.granularity.0;
    let length = shortest(latency).filter(|length| length.0 > 0);
    summary.last > summary.first && length.is_some_and(|length| length.0 < span.saturating_mul(FEW))
}

/// The length of the shortest fetch, or of a usual one; none where every request tells its own.
fn shortest(latency: &Latency) -> Option<Nanos> {
    match latency {
        Latency::Constant(latency) | Latency::LogNormal { median: latency, .. } => Some(*latency),
        Latency::Origins(origins) => origins.iter().copied().min(),
        Latency::Trace => None,
    }
}

/// Warning if the timestamps of a trace are too coarse for the shortest of `latencies`.
pub(super) fn of_times(trace: &Trace, summary: &Summary, latencies: &[Latency]) -> Option<String> {
    let coarse = latencies.iter().filter(|latency| is_coarse(summary, latency)).filter_map(shortest);
    let (shortest, span) = (coarse.min()?, summary.granularity);
    if trace.guesses_time_unit() && looks_like_steps(summary) {
        return Some(format!(
            "Beware: the times of {} look like steps, 0, 1, 2, and so on, and are taken for seconds. If they are steps, give latencies in steps, such as --latency 1000steps; if they are times, name their unit with --time-unit.",
            trace.name()
        ));
    }
    let effect = if shortest <= span {
        format!(
            "all requests of one such span count as simultaneous, and a fetch of {shortest} keeps all of them waiting"
        )
    } else {
        format!(
            "a fetch of {shortest} takes only a few of these: what a request waits can be wrong by {span}"
        )
    };
    Some(format!(
        "Beware: the timestamps are multiples of {span}, so {effect}. Log finer times, or study the trace with --time slotted."
    ))
}

/// Whether times are whole seconds that begin near zero and count on by one.
fn looks_like_steps(summary: &Summary) -> bool {
    let second = Nanos(1_000_000_000);
    let gaps = summary.requests.saturating_sub(1);
    let span = summary.last.since(summary.first).0;
    summary.granularity == second
        && summary.simultaneous == 0
        && gaps >= 2
        && summary.first <= LATEST_FIRST_STEP
        && span == gaps.saturating_mul(second.0)
}

/// Warning if sizes matter and many requests have none.
pub(super) fn of_sizes(trace: &Trace, summary: &Summary) -> Option<String> {
    // One in a hundred changes no result that one can see.
    let are_many = summary.sizeless > summary.requests / 100;
    (trace.fields().size && are_many).then(|| {
        format!(
            "Beware: {} of {} requests have no size, and count as 1B each. --size-change largest takes it from the other requests for the object, where they tell one.",
            summary.sizeless, summary.requests
        )
    })
}

/// Warning if fetch times matter and many requests have none.
pub(super) fn of_fetches(summary: &Summary, latencies: &[Latency]) -> Option<String> {
    let are_many = summary.fetchless > summary.requests / 100;
    (latencies.contains(&Latency::Trace) && are_many).then(|| {
        format!(
            "Beware: {} of {} requests have no fetch time, as those that a cache answered: if they miss in the simulation, their fetch takes no time.",
            summary.fetchless, summary.requests
        )
    })
}

#[cfg(test)]
mod tests {
    use trueplane_trace::{Clock, TraceOptions};

    use super::*;

    /// Warning about the times of this trace.
    fn said(rows: &str, latency: &str, options: &TraceOptions) -> Option<String> {
        let trace = Trace::from_bytes("t.csv", rows.into(), options).unwrap();
        let (summary, _) = crate::scan::scan(&trace, Clock::Timestamps, &(), |_| Ok(())).unwrap();
        of_times(&trace, &summary, &[Latency::Constant(latency.parse().unwrap())])
    }

    #[test]
    fn whole_seconds_are_too_coarse_for_less_than_some_seconds() {
        let rows = "1728568536,1\n1728568536,2\n1728568540,1\n";
        let said = |latency| said(rows, latency, &TraceOptions::default());
        let within = said("100ms").unwrap();
        assert!(
            within.starts_with("Beware: the timestamps are multiples of 1s, so all requests"),
            "{within}"
        );
        let few = said("2s").unwrap();
        assert!(
            few.contains("a fetch of 2s takes only a few of these") && few.contains("wrong by 1s"),
            "{few}"
        );
        assert_eq!((said("5s"), said("0s")), (None, None));
    }

    #[test]
    fn steps_are_not_taken_for_seconds_without_a_word() {
        let usual = TraceOptions::default();
        let steps = "0;1\n1;2\n2;1\n3;1\n";
        assert!(said(steps, "10ms", &usual).unwrap().contains("look like steps"));
        let seconds = TraceOptions { time_unit: "s".parse().ok(), ..TraceOptions::default() };
        for (rows, options) in [
            (steps, &seconds),
            ("time_s,key\n0,1\n1,2\n2,1\n", &usual),
            ("0;1\n0;2\n1;1\n", &usual),
            ("0;1\n1;2\n2;1\n4;1\n", &usual),
            ("0;1\n60;2\n120;1\n", &usual),
            ("1728568536;1\n1728568537;2\n1728568538;1\n", &usual),
        ] {
            let said = said(rows, "10ms", options).unwrap();
            assert!(said.contains("multiples of 1s"), "{rows} {said}");
        }
        assert_eq!(said("0.5;1\n1;2\n2;1\n", "10s", &usual), None);
    }
}
