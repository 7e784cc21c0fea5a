//! Wakes a thread that sleeps until packets come.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

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
        // SAFETY: the call takes numbers only.
        let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
        Ok(Self { event: unsafe { OwnedFd::from_raw_fd(event) }, sleeps: AtomicBool::new(false) })
    }

    /// Wakes the thread if it sleeps, or is about to. What the caller did before, the thread sees.
    pub(super) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            let one = 1u64.to_ne_bytes();
            // SAFETY: eight bytes that live meanwhile. It fails only if the thread has been woken 2^64 times without noticing.
            unsafe { libc::write(self.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
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
        let watched =
            |fd: BorrowedFd<'_>| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let own = std::iter::once(self.event.as_fd());
        let mut fds: Vec<_> = own.chain(sources.iter().copied()).map(watched).collect();
        // SAFETY: as many descriptors as it is told, which are open.
        let ready =
            unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, time.as_millis() as i32) };
        self.stay_awake();
        if fds[0].revents != 0 {
            let mut count = [0; 8];
            // SAFETY: eight bytes that live meanwhile.
            unsafe { libc::read(self.event.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
        }
        for (fd, &source) in fds[1..].iter().zip(sources) {
            if fd.revents & libc::POLLERR != 0 {
                forget_error(source);
            }
        }
        ready > 0
    }
}

/// An interface that went down tells every socket once; until it has been heard, the socket does not sleep.
fn forget_error(socket: BorrowedFd<'_>) {
    let (mut error, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
    let place = (&raw mut error).cast();
    // SAFETY: the kernel writes no more than the length that it is told, that of the value.
    unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, place, &raw mut length) };
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
