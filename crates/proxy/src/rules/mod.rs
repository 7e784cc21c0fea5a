//! What caches may do, as HTTP says it: functions of requests, responses and the time, which is always an argument.
//!
//! From the bottom up: `fields` reads lists, numbers and dates; [`control`] is what a response says of its caching; [`freshness`] how old it is and may
//! be; [`storable`](mod@storable) whether it may be kept and shared; [`vary`] which requests it answers; [`conditional`] whether something has changed;
//! [`range`] are parts of it; [`hop`] is what ends at each server; [`status`] tells clients what the cache did.

pub mod conditional;
pub mod control;
pub(crate) mod fields;
pub mod freshness;
pub mod hop;
pub mod range;
pub mod status;
pub mod storable;
pub mod vary;
