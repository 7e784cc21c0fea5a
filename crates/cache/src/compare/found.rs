//! What `cache compare` finds.

use crate::bound::Limits;
use crate::grid::Points;

/// Every policy at every point of the grid.
#[derive(Clone, Debug)]
pub struct Found {
    /// All points of the grid.
    pub grid: Points,
    /// Objects in a set; none: fully associative.
    pub ways: Option<u64>,
    /// Limits of each search for a bound, if there was any.
    pub limits: Option<Limits>,
}
