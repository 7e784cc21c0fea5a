//! The one place of this crate that reads the clock.

use std::time::Instant;

use trueplane_units::Nanos;

/// Now, on the monotonic clock.
#[allow(clippy::disallowed_methods, reason = "drivers read the clock, and this is where")]
pub fn now() -> Instant {
    Instant::now()
}

/// Now, on the clock that the kernel's programs read.
pub fn monotonic() -> Nanos {
    read(libc::CLOCK_MONOTONIC)
}

/// Time that this thread has run on a core so far.
pub fn thread_time() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is of the type that the call fills; both clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
