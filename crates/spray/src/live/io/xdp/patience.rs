//! Waits for the kernel to let go of what is closed.

use std::time::Duration;
use std::{io, thread};

/// Number of attempts at an operation that is refused as busy; with the gap between them, they last for a second.
const TRIES: usize = 100;

const GAP: Duration = Duration::from_millis(10);

/// Tries for a while what somebody who is just going still stands in the way of: the kernel lets go of sockets and programs a little after they are closed.
pub(super) fn patiently<T>(mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..TRIES {
        match what() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => thread::sleep(GAP),
            done => return done,
        }
    }
    what()
}
