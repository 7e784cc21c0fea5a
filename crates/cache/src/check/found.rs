//! What a certificate was found to prove.

use super::format::{Header, Terms};
use super::upper::Served;
use crate::bounds::Bounds;

/// A certificate that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedCertificate {
    /// Name of the certificate.
    pub certificate: String,
    /// Name of the trace.
    pub trace: String,
    /// Requests of the trace that were used.
    pub requests: u64,
    /// Objects among them.
    pub objects: u64,
    /// The cache and its backing store.
    pub terms: Terms,
    /// Bounds on the total latency; the upper one is the schedule's.
    pub bounds: Bounds,
    /// Counted requests for objects in the cache, under the schedule.
    pub hits: u64,
    /// Counted requests for objects on their way.
    pub delayed_hits: u64,
    /// Counted requests that began a fetch.
    pub misses: u64,
    /// The largest total size of what the schedule has in the cache at once.
    pub fullest: u64,
}

impl CheckedCertificate {
    pub(super) fn new(
        certificate: &str,
        trace: &str,
        header: &Header,
        terms: Terms,
        served: &Served,
    ) -> Self {
        Self {
            certificate: certificate.to_owned(),
            trace: trace.to_owned(),
            requests: header.trace.requests,
            objects: header.trace.objects,
            terms,
            bounds: Bounds { lower: header.claims.lower, upper: header.claims.upper },
            hits: served.hits,
            delayed_hits: served.delayed_hits,
            misses: served.misses,
            // It fits the capacity.
            fullest: served.fullest as u64,
        }
    }
}
