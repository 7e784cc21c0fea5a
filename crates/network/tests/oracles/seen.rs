//! What was seen of a connection, ours or another's.

use crate::trace::Trace;

/// What a connection over a path did.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The window of the sender.
    pub(crate) window: Trace,
    /// Share of marked bytes that the sender estimates, with times in seconds; none if it estimates nothing.
    pub(crate) estimates: Vec<(f64, f64)>,
    /// Payload in bytes that the receiver has got, with times in seconds.
    pub(crate) received: Vec<(f64, f64)>,
    /// Packets that wait at the port, on average over the whole time.
    pub(crate) waiting: f64,
}

impl Seen {
    /// Mean of the estimate from a time on. Each value holds until the next.
    pub(crate) fn estimate(&self, start: f64) -> f64 {
        let pairs = || self.estimates.windows(2).filter(|pair| pair[0].0 >= start);
        let time: f64 = pairs().map(|pair| pair[1].0 - pair[0].0).sum();
        pairs().map(|pair| pair[0].1 * (pair[1].0 - pair[0].0)).sum::<f64>() / time
    }

    /// Megabits of payload per second between two times.
    pub(crate) fn throughput(&self, start: f64, end: f64) -> f64 {
        let until = |end: f64| {
            let count = self.received.partition_point(|(time, _)| *time <= end);
            count.checked_sub(1).map_or(0.0, |last| self.received[last].1)
        };
        (until(end) - until(start)) * 8.0 / (end - start) / 1e6
    }
}
