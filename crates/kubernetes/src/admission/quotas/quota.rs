//! A quota.

/// What a tenant or a cohort has of one resource, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The amount that is its own.
    pub nominal: u64,
    /// The most that it may borrow, if there is a limit.
    pub borrowing_limit: Option<u64>,
    /// The most that it lends to others, if there is a limit.
    pub lending_limit: Option<u64>,
}
