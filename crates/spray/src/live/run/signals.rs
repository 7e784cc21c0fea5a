//! Signals as events: the end, and another configuration.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;
use std::{io, mem, ptr};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trueplane_linux::error::Error;

/// Request that a signal makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT or SIGTERM.
    End,
    /// SIGHUP: read the configuration again.
    Reload,
}

/// Signals of this process, which do nothing any more but to be waited for here.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
}

impl Signals {
    /// Takes SIGINT, SIGTERM and SIGHUP; to be called before any other thread is started, for each thread has its own mask and inherits it.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn take() -> Result<Self, Error> {
        let refused = |()| Error::io("wait for signals")(io::Error::last_os_error());
        // SAFETY: a set of signals is plain bits, and the calls fill it.
        let mut set: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: the set is valid, and so are the numbers.
        unsafe {
            libc::sigemptyset(&raw mut set);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&raw mut set, signal);
            }
        }
        // SAFETY: it concerns this thread alone; the old mask is not asked for.
        if unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) } != 0 {
            return Err(refused(()));
        }
        // SAFETY: the set is valid, and a new descriptor is asked for.
        let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(refused(()));
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// The next signal, if there is one within this time.
    pub fn wait(&self, time: Duration) -> Option<Signal> {
        let time = Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
        if !poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0) {
            return None;
        }
        // SAFETY: integers and arrays of them, for which zeros are fine.
        let mut told: libc::signalfd_siginfo = unsafe { mem::zeroed() };
        let length = size_of_val(&told);
        // SAFETY: the kernel writes as many bytes as the structure has at most.
        let read = unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut told).cast(), length) };
        (read == length as isize).then_some(match told.ssi_signo as i32 {
            libc::SIGHUP => Signal::Reload,
            _ => Signal::End,
        })
    }
}
