//! Wakes a thread that sleeps until packets come.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::sockopt::socket_error;

/// Handle by which other threads wake the thread that owns it.
///
/// Waking costs a system call, so it is done only where the thread sleeps, once for a batch.
#[derive(Debug)]
pub(super) struct Waker {
    event: OwnedFd,
    sleeps: AtomicBool,
}

impl Waker {
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { event, sleeps: AtomicBool::new(false) })
    }

    /// Wakes the thread if it sleeps, or is about to. What the caller did before, the thread sees.
    pub(super) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            // It fails only if the thread has been woken 2^64 times without noticing.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    /// Announces sleep; then the thread has to look once more for what it waits for.
    pub(super) fn announce(&self) {
        self.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// There was something: it does not sleep.
    pub(super) fn stay_awake(&self) {
        self.sleeps.store(false, Ordering::Relaxed);
    }

    /// Sleeps, after [`announce`](Self::announce), until woken, until there is something to read from `sources`, or so long; returns whether
    /// something happened.
    pub(super) fn sleep(&self, sources: &[BorrowedFd<'_>], time: Duration) -> bool {
        let own = std::iter::once(self.event.as_fd());
        let watched = own.chain(sources.iter().copied());
        let mut fds: Vec<_> = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
        let ready = poll(&mut fds, Some(&time));
        self.stay_awake();
        if !fds[0].revents().is_empty() {
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
        }
        for (fd, &source) in fds[1..].iter().zip(sources) {
            if fd.revents().contains(PollFlags::ERR) {
                // An interface that went down tells every socket once; until it has been heard, the socket does not sleep.
                let _ = socket_error(source);
            }
        }
        ready.is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_sleeper_is_woken_and_a_wake_before_sleep_is_not_lost() {
        let (one, other) = UnixStream::pair().unwrap();
        let sources = [one.as_fd(), other.as_fd()];
        let waker = Arc::new(Waker::new().unwrap());
        // Nobody sleeps: nothing happens.
        waker.wake();
        waker.announce();
        assert!(!waker.sleep(&sources, Duration::ZERO));
        waker.announce();
        let other_thread = {
            let waker = Arc::clone(&waker);
            std::thread::spawn(move || waker.wake())
        };
        assert!(waker.sleep(&sources, Duration::from_secs(60)));
        other_thread.join().unwrap();
    }
}
