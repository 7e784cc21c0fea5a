//! The rest of a body that is too large to be kept: those who read it already get it, through a window that moves on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::sync::Notify;

/// Bytes that are kept behind the reader that is furthest, and ahead of it.
const WINDOW: usize = 1 << 20;

/// A window on a body. Its writer waits for the reader that is furthest; a reader that falls behind the window loses the rest.
struct Tail {
    state: Mutex<State>,
    /// There is room, or nobody reads.
    moved: Notify,
}

struct State {
    /// Parts in the window, of which the first one has this number.
    parts: VecDeque<Bytes>,
    first: u64,
    bytes: usize,
    /// Number of the part that the reader that is furthest reads next, and bytes that it has not read yet.
    furthest: u64,
    ahead: usize,
    handles: usize,
    wakers: Vec<Waker>,
    end: Option<Result<(), Arc<str>>>,
}

impl Tail {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A handle on a window, by which it is read and written.
pub(crate) struct TailHandle(Arc<Tail>);

impl Clone for TailHandle {
    fn clone(&self) -> Self {
        self.0.lock().handles += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for TailHandle {
    fn drop(&mut self) {
        self.0.lock().handles -= 1;
        self.0.moved.notify_one();
    }
}

impl std::fmt::Debug for TailHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TailHandle")
    }
}

impl TailHandle {
    /// A window, with this one handle.
    pub(crate) fn new() -> Self {
        let state = State {
            parts: VecDeque::new(),
            first: 0,
            bytes: 0,
            furthest: 0,
            ahead: 0,
            handles: 1,
            wakers: Vec::new(),
            end: None,
        };
        Self(Arc::new(Tail { state: Mutex::new(state), moved: Notify::new() }))
    }

    /// Adds a part, as soon as the reader that is furthest has come near. Returns whether anybody but the writer has a handle.
    pub(crate) async fn push(&self, part: &Bytes) -> bool {
        loop {
            let moved = self.0.moved.notified();
            {
                let state = self.0.lock();
                if state.handles <= 1 {
                    return false;
                }
                if state.ahead < WINDOW {
                    break;
                }
            }
            moved.await;
        }
        self.0.change(|state| {
            state.ahead += part.len();
            state.bytes += part.len();
            state.parts.push_back(part.clone());
            // What lies further back than a window is lost to those who have not read it.
            while state.first < state.furthest && state.bytes > state.ahead + WINDOW {
                let Some(gone) = state.parts.pop_front() else { break };
                state.bytes -= gone.len();
                state.first += 1;
            }
        });
        true
    }

    /// Says that all has come, or why no more will.
    pub(crate) fn end(&self, end: Result<(), String>) {
        self.0.change(|state| state.end = Some(end.map_err(Into::into)));
    }

    /// Part number `place`, which is counted on; none after the last one.
    pub(crate) fn poll_next(
        &self,
        place: &mut u64,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, String>>> {
        let mut state = self.0.lock();
        let Some(offset) = place.checked_sub(state.first) else {
            return Poll::Ready(Some(Err(
                "the client reads too slowly for what is too large to keep".to_owned()
            )));
        };
        if let Some(part) = state.parts.get(offset as usize).cloned() {
            *place += 1;
            if *place > state.furthest {
                state.furthest = *place;
                state.ahead -= part.len();
                drop(state);
                self.0.moved.notify_one();
            }
            return Poll::Ready(Some(Ok(part)));
        }
        match &state.end {
            Some(Ok(())) => Poll::Ready(None),
            Some(Err(error)) => Poll::Ready(Some(Err(error.to_string()))),
            None => {
                let waker = context.waker();
                if !state.wakers.iter().any(|other| other.will_wake(waker)) {
                    state.wakers.push(waker.clone());
                }
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: &TailHandle, place: &mut u64) -> Poll<Option<Result<Bytes, String>>> {
        reader.poll_next(place, &mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn the_writer_waits_for_the_furthest_and_the_slow_lose_the_rest() {
        let writer = TailHandle::new();
        let part = Bytes::from(vec![7; WINDOW / 2]);
        assert!(!writer.push(&part).await, "nobody reads");
        let (fast, slow) = (writer.clone(), writer.clone());
        let (mut at, mut slow_at) = (0, 0);
        for _ in 0..6 {
            assert!(writer.push(&part).await);
            assert!(matches!(read(&fast, &mut at), Poll::Ready(Some(Ok(_)))));
        }
        assert!(matches!(read(&slow, &mut slow_at), Poll::Ready(Some(Err(_)))));
        assert!(writer.push(&part).await && writer.push(&part).await);
        let mut full = std::pin::pin!(writer.push(&part));
        assert!(full.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(matches!(read(&fast, &mut at), Poll::Ready(Some(Ok(_)))));
        assert!(full.await);
        drop(slow);
        for _ in 0..2 {
            assert!(matches!(read(&fast, &mut at), Poll::Ready(Some(Ok(_)))));
        }
        assert!(read(&fast, &mut at).is_pending());
        writer.end(Ok(()));
        assert!(matches!(read(&fast, &mut at), Poll::Ready(None)));
        drop(fast);
        assert!(!writer.push(&part).await);
    }
}
