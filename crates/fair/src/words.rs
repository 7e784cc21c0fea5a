//! Times and changes as people write them.

use trueplane_study::report::Cell;
use trueplane_units::{LongTime, Nanos};

/// A time that may be hours or days.
pub(crate) fn long(time: Nanos) -> LongTime {
    LongTime(time.0 as f64)
}

/// A change against the baseline, if there is one.
pub(crate) fn change(part: Option<f64>) -> Cell {
    part.map_or(Cell::Missing, Cell::Change)
}
