//! The start of a trace that a warm-up leaves uncounted.

use trueplane_trace::Request;
use trueplane_units::{Nanos, Warmup};

use crate::scan::Summary;

/// Counts the requests at the start of a trace that do not count, as far as that takes the requests and not only their number.
///
/// Cost: O(1) per request until the warm-up is over, O(1) per batch from then on.
pub(crate) struct Start {
    warmup: Warmup,
    /// Time from which on requests count; none before the first request.
    end: Option<Nanos>,
    is_over: bool,
    requests: u64,
}

impl Start {
    /// A start of which nothing is seen.
    pub(crate) fn new(warmup: Warmup) -> Self {
        Self { warmup, end: None, is_over: !matches!(warmup, Warmup::Time(_)), requests: 0 }
    }

    /// Takes the next requests of the trace.
    pub(crate) fn push(&mut self, requests: &[Request]) {
        let Warmup::Time(time) = self.warmup else { return };
        let Some(first) = requests.first().filter(|_| !self.is_over) else { return };
        let end = *self.end.get_or_insert_with(|| first.time.after(time));
        let before = requests.iter().take_while(|request| request.time < end).count();
        self.requests += before as u64;
        self.is_over = before < requests.len();
    }

    /// The number of requests at the start of a trace that do not count, once all of it was taken.
    pub(crate) fn requests(self, summary: &Summary) -> u64 {
        self.warmup.of(summary.requests, |_| self.requests)
    }

    /// The number of requests at the start of these that do not count.
    pub(crate) fn of(warmup: Warmup, requests: &[Request], summary: &Summary) -> u64 {
        let mut start = Self::new(warmup);
        start.push(requests);
        start.requests(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scan;

    #[test]
    fn a_time_ends_with_the_first_request_behind_it_whatever_the_batches() {
        let times = [100, 100, 104, 105, 110, 110, 111, 200];
        let at = |&time: &u64| Request { time: Nanos(time), key: time, size: 1, fetch: Nanos(0) };
        let requests: Vec<Request> = times.iter().map(at).collect();
        let mut scan = Scan::new();
        scan.push(&requests);
        let summary = scan.finish();
        for (warmup, expected) in [
            (Warmup::Time(Nanos(0)), 0),
            (Warmup::Time(Nanos(1)), 2),
            (Warmup::Time(Nanos(10)), 4),
            (Warmup::Time(Nanos(11)), 6),
            (Warmup::Time(Nanos(u64::MAX)), 8),
            (Warmup::Count(3), 3),
            (Warmup::Count(9), 9),
            (Warmup::Share(250_000), 2),
        ] {
            assert_eq!(Start::of(warmup, &requests, &summary), expected, "{warmup}");
            for batch in 1..=3 {
                let mut start = Start::new(warmup);
                requests.chunks(batch).for_each(|requests| start.push(requests));
                assert_eq!(start.requests(&summary), expected, "{warmup} by {batch}");
            }
        }
    }
}
