//! Timers that are exact to about a tenth of a millisecond: those of tokio count whole milliseconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// The instant.
#[expect(clippy::disallowed_methods, reason = "an experiment reads the clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// A thread that wakes tasks.
pub(super) struct Alarm {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Tasks to wake, the earliest first.
    pending: BinaryHeap<Reverse<Sleeper>>,
    has_ended: bool,
}

struct Sleeper {
    due: Instant,
    wake: oneshot::Sender<()>,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.state();
        while !state.has_ended {
            let now = now();
            while let Some(Reverse(next)) = state.pending.peek()
                && next.due <= now
            {
                if let Some(Reverse(sleeper)) = state.pending.pop() {
                    // Who has gone need not be woken.
                    let _ = sleeper.wake.send(());
                }
            }
            let next = state.pending.peek().map(|Reverse(next)| next.due.saturating_duration_since(now));
            state = match next {
                Some(wait) => {
                    self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Alarm {
    /// Starts the thread.
    pub(super) fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let runs = Arc::clone(&shared);
        Self { shared, thread: Some(std::thread::spawn(move || runs.run())) }
    }

    /// Waits for so long from now on.
    pub(super) async fn sleep(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        let (wake, woken) = oneshot::channel();
        self.shared.state().pending.push(Reverse(Sleeper { due: now() + time, wake }));
        self.shared.changed.notify_one();
        // The alarm ends only when nobody waits for it.
        let _ = woken.await;
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
