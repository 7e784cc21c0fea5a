//! Connections that do nothing for too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The requests of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Requests that are not yet answered.
    on_their_way: AtomicUsize,
    /// All requests so far.
    requests: AtomicU64,
}

/// A request that is not yet answered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Counts>);

impl Activity {
    /// A request begins.
    pub(crate) fn begin(&self) -> Busy {
        self.0.on_their_way.fetch_add(1, Ordering::Relaxed);
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&self.0))
    }

    /// Ends when there was no request for so long, or up to twice as long.
    pub(crate) async fn idle(&self, patience: Duration) {
        let mut before = None;
        loop {
            let requests = self.0.requests.load(Ordering::Relaxed);
            let is_idle = self.0.on_their_way.load(Ordering::Relaxed) == 0;
            if is_idle && before == Some(requests) {
                return;
            }
            before = is_idle.then_some(requests);
            tokio::time::sleep(patience).await;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.on_their_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_after_its_last_answer() {
        let activity = Activity::default();
        let patience = Duration::from_secs(1);
        let is_idle = async |seconds| {
            tokio::time::timeout(Duration::from_secs(seconds), activity.idle(patience)).await.is_ok()
        };
        let busy = activity.begin();
        assert!(!is_idle(10).await);
        drop(busy);
        assert!(is_idle(2).await);
    }
}
