//! What a connection does: whether it is idle, whether its client reads on, and what goes on without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Requests on one connection of HTTP/2 at once, at most; and as many that go on though their streams are gone.
pub(crate) const STREAMS: u32 = 256;
/// Periods that are told apart: this one, the one before, and older ones.
const PERIODS: usize = 4;

/// The requests of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Requests that are not yet answered.
    on_their_way: AtomicUsize,
    /// All requests so far.
    requests: AtomicU64,
    /// Requests that go on whether their client waits or not.
    detached: AtomicUsize,
    /// Number of the period. Each is as long as a client may take to read on.
    period: AtomicU64,
    /// Answers that wait for their client to read on, by the period in which the wait began.
    unread: [AtomicUsize; PERIODS],
}

impl Counts {
    fn unread(&self, period: u64) -> &AtomicUsize {
        &self.unread[(period % PERIODS as u64) as usize]
    }
}

/// A request that is not yet answered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    counts: Arc<Counts>,
    /// The period since which its client has to read on, if it has to.
    unread_since: Option<u64>,
}

/// A request that goes on whether its client waits or not, until this is dropped.
#[derive(Debug)]
pub(crate) struct Detached(Arc<Counts>);

impl Activity {
    /// A request begins.
    pub(crate) fn begin(&self) -> Busy {
        self.0.on_their_way.fetch_add(1, Relaxed);
        self.0.requests.fetch_add(1, Relaxed);
        Busy { counts: Arc::clone(&self.0), unread_since: None }
    }

    /// A request goes on whether its client waits or not; none if [`STREAMS`] of them do already. Otherwise a client that gives its requests up at once could have any
    /// number of them at the origin.
    pub(crate) fn detach(&self) -> Option<Detached> {
        let most = STREAMS as usize;
        let count = |detached| (detached < most).then_some(detached + 1);
        self.0.detached.fetch_update(Relaxed, Relaxed, count).ok().map(|_| Detached(Arc::clone(&self.0)))
    }

    /// Ends when there was no request, or the client did not read on, for `patience` or up to twice as long. Call it at most twice: periods are told apart for
    /// so long.
    pub(crate) async fn idle(&self, patience: Duration) {
        let mut before = None;
        loop {
            let requests = self.0.requests.load(Relaxed);
            let is_idle = self.0.on_their_way.load(Relaxed) == 0;
            if is_idle && before == Some(requests) {
                return;
            }
            before = is_idle.then_some(requests);
            tokio::time::sleep(patience).await;
            let period = self.0.period.fetch_add(1, Relaxed) + 1;
            let older = [2, 3].map(|age| period.wrapping_sub(age));
            if older.iter().any(|period| self.0.unread(*period).load(Relaxed) > 0) {
                return;
            }
        }
    }
}

impl Busy {
    /// A part of the answer is here, and its client has to read on.
    pub(crate) fn wait_for_client(&mut self) {
        let now = self.counts.period.load(Relaxed);
        if self.unread_since != Some(now) {
            self.wait_for_origin();
            self.counts.unread(now).fetch_add(1, Relaxed);
            self.unread_since = Some(now);
        }
    }

    /// The client wants more than is here.
    pub(crate) fn wait_for_origin(&mut self) {
        if let Some(since) = self.unread_since.take() {
            self.counts.unread(since).fetch_sub(1, Relaxed);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.wait_for_origin();
        self.counts.on_their_way.fetch_sub(1, Relaxed);
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        self.0.detached.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    /// Whether it is found to be idle within so many seconds.
    async fn is_idle(activity: &Activity, seconds: u64) -> bool {
        tokio::time::timeout(Duration::from_secs(seconds), activity.idle(PATIENCE)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_after_its_last_answer() {
        let activity = Activity::default();
        let busy = activity.begin();
        assert!(!is_idle(&activity, 10).await);
        drop(busy);
        assert!(is_idle(&activity, 2).await);
    }

    /// The same while another answer is read steadily.
    async fn is_idle_beside_a_reader(activity: &Activity, seconds: u64) -> bool {
        let mut read = activity.begin();
        let reading = async {
            loop {
                read.wait_for_client();
                tokio::time::sleep(PATIENCE / 10).await;
            }
        };
        tokio::select! {
            () = reading => false,
            is_idle = is_idle(activity, seconds) => is_idle,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_if_one_of_its_answers_is_not_read() {
        let activity = Activity::default();
        let mut stalled = activity.begin();
        stalled.wait_for_client();
        assert!(is_idle_beside_a_reader(&activity, 3).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_not_idle_while_it_waits_for_the_origin_or_reads_on() {
        let activity = Activity::default();
        let mut waiting = activity.begin();
        waiting.wait_for_client();
        waiting.wait_for_origin();
        assert!(!is_idle_beside_a_reader(&activity, 20).await);
    }

    #[test]
    fn no_more_requests_go_on_by_themselves_than_there_may_be_at_once() {
        let activity = Activity::default();
        let mut all: Vec<_> = (0..STREAMS).map_while(|_| activity.detach()).collect();
        assert_eq!((all.len(), activity.detach().is_some()), (STREAMS as usize, false));
        all.pop();
        assert!(activity.detach().is_some());
    }
}
