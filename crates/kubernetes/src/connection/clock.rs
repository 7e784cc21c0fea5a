//! The time since 1970, which never goes back while the process runs: whoever sets the clock changes it with the next process.

use std::time::{Instant, SystemTime};

use trueplane_fair::Nanos;

/// A clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    began: Instant,
    since_1970: Nanos,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "a controller reads the clock; what decides takes time as an argument"
    )]
    pub(super) fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), since_1970: Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)) }
    }

    /// Time since 1970.
    pub(super) fn now(&self) -> Nanos {
        let elapsed = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Nanos(self.since_1970.0.saturating_add(elapsed))
    }
}
