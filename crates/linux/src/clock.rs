//! The one place of this crate that reads the clock.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use trueplane_units::Nanos;

/// Now, on the monotonic clock.
#[allow(clippy::disallowed_methods, reason = "drivers read the clock, and this is where")]
pub fn now() -> Instant {
    Instant::now()
}

/// Now, on the clock that the kernel's programs read.
pub fn monotonic() -> Nanos {
    read(ClockId::Monotonic)
}

/// Time that this thread has run on a core so far.
pub fn thread_time() -> Nanos {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
