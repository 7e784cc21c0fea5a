//! A cache that many threads and tasks share, around the policies of this crate.
//!
//! From the bottom up: `places` are a directory under any policy; `expiry` knows when entries end; `flight` is a fetch with
//! all who wait for it; `shard` is a part of the cache with a lock of its own, `hits` are requests for what is in it, and `renewal` are fetches that renew that; `shared` is all of them, and lets fetches end; `asking` lets them begin, `detached` as tasks;
//! `waiting` waits for one; `forecast` tells what other policies would do; [`Cache`] is what programs use, `many` included, and [`Builder`] makes it.

mod arriving;
mod asking;
mod builder;
mod cache;
mod detached;
mod error;
#[cfg(all(test, loom))]
mod every_order;
mod expiry;
mod flight;
mod forecast;
mod gone;
mod hits;
mod many;
mod nested;
mod parts;
mod places;
mod priors;
mod renewal;
mod shard;
mod shared;
mod stats;
mod sync;
mod waiting;

pub use builder::Builder;
pub use cache::Cache;
pub use error::FetchError;
pub use forecast::Forecast;
pub use gone::Cause;
pub use parts::{Parts, Reader, Sink};
pub use stats::{Advice, Stats};
