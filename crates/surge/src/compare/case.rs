//! One run of a comparison, and all that runs share.

use super::options::Options;
use super::prepare::Prepared;
use super::sent::Threats;
use crate::workload::source::Source;

/// A run, by what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Number of the policy.
    pub(super) policy: usize,
    /// Number of the users' rate.
    pub(super) innocent: usize,
    /// Number of the seed.
    pub(super) seed: usize,
    /// Number of the threat; none: nobody attacks.
    pub(super) threat: Option<usize>,
    /// True if ranks are exact.
    pub(super) exact: bool,
}

/// The source, the options and the attacks of a study.
pub(super) struct Studied<'a, S: Source> {
    pub(super) source: &'a S,
    pub(super) options: &'a Options,
    pub(super) prepared: &'a Prepared<S>,
    pub(super) threats: &'a Threats<S>,
}
