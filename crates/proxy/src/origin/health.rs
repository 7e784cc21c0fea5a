//! What is known of a server: whether it failed of late, and whether it answers when it is asked for its health.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use trueplane_units::Nanos;

/// Time for which a server that failed gets no requests while another does not.
const AVOIDED: Nanos = Nanos(10_000_000_000);

/// The state of a server.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// When it failed last; 0 if it has answered since.
    failed: AtomicU64,
    /// Whether it has not answered when it was asked for its health.
    is_down: AtomicBool,
    /// Requests that wait for the head of an answer.
    waiting: AtomicUsize,
}

/// How much speaks against a server; the least is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reluctance {
    is_down: bool,
    /// Among those that failed of late, the one goes first of which that is longest ago.
    failed: Nanos,
    waiting: usize,
}

impl Health {
    /// The server failed.
    pub(super) fn fail(&self, now: Nanos) {
        self.failed.store(now.0.max(1), Ordering::Relaxed);
    }

    /// The server answered.
    pub(super) fn answer(&self) {
        // Most of the time there is nothing to change.
        if self.failed.load(Ordering::Relaxed) != 0 {
            self.failed.store(0, Ordering::Relaxed);
        }
    }

    /// The server was asked for its health.
    pub(super) fn check(&self, is_well: bool) {
        self.is_down.store(!is_well, Ordering::Relaxed);
    }

    /// What speaks against sending a request there now.
    pub(super) fn reluctance(&self, now: Nanos) -> Reluctance {
        let failed = Nanos(self.failed.load(Ordering::Relaxed));
        let is_avoided = failed != Nanos(0) && now.since(failed) < AVOIDED;
        Reluctance {
            is_down: self.is_down.load(Ordering::Relaxed),
            failed: if is_avoided { failed } else { Nanos(0) },
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// Whether it gets requests while others do.
    pub(super) fn is_well(&self, now: Nanos) -> bool {
        let Reluctance { is_down, failed, .. } = self.reluctance(now);
        !is_down && failed == Nanos(0)
    }

    /// Counts a request that waits, until this is dropped.
    pub(super) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(&self.waiting)
    }
}

/// A request that waits for the head of its answer.
pub(super) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_server_that_failed_is_avoided_for_ten_seconds() {
        let (first, second) = (Health::default(), Health::default());
        let at = |seconds: u64| Nanos(seconds * SECOND);
        let is_first = |seconds| first.reluctance(at(seconds)) <= second.reluctance(at(seconds));
        first.fail(at(100));
        assert!(!is_first(100) && !first.is_well(at(109)) && second.is_well(at(109)));
        // If both failed, the one is tried for which that is longer ago.
        second.fail(at(101));
        assert!(is_first(102));
        assert!(first.is_well(at(110)) && is_first(110));
        first.answer();
        assert!(first.is_well(at(100)));
    }

    #[test]
    fn fewer_wait_where_fewer_are_sent_and_what_is_down_comes_last() {
        let (first, second) = (Health::default(), Health::default());
        let waiting = first.wait();
        assert!(second.reluctance(Nanos(0)) < first.reluctance(Nanos(0)));
        second.check(false);
        assert!(first.reluctance(Nanos(0)) < second.reluctance(Nanos(0)));
        drop(waiting);
        second.check(true);
        assert_eq!(first.reluctance(Nanos(0)), second.reluctance(Nanos(0)));
    }
}
