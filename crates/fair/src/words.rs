//! Times as people write them.

use trueplane_units::{LongTime, Nanos};

/// A time that may be hours or days.
pub(crate) fn long(time: Nanos) -> LongTime {
    LongTime(time.0 as f64)
}
