//! The time of day, which alone tells how old a response is; and one that never goes back.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime};

use trueplane_units::Nanos;

/// Time since 1970.
#[expect(clippy::disallowed_methods, reason = "a server reads the clock; rules take time as an argument")]
pub(crate) fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Time since somebody first asked for it. Whoever sets the clock does not change it.
#[expect(clippy::disallowed_methods, reason = "a server reads the clock; rules take time as an argument")]
pub(crate) fn monotonic() -> Nanos {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    Nanos(u64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
