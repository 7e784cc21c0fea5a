//! The time of day, which alone tells how old a response is.

use std::time::SystemTime;

use trueplane_units::Nanos;

/// Time since 1970.
#[expect(clippy::disallowed_methods, reason = "a server reads the clock; rules take time as an argument")]
pub(crate) fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
