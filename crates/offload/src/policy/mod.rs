//! One system a file, or a folder.
//!
//! [`recency`], [`frequency`], [`netcache`] and [`tea`] are policies of [`Batched`](super::batched::Batched):
//!
//! | policy | who comes in | who goes | told by | table |
//! |---|---|---|---|---|
//! | [`recency`] | the last to miss | looked up longest ago | every lookup | exact |
//! | [`frequency`] | the most frequent to miss | least frequent | every lookup, ageing | exact |
//! | [`netcache`] | over a threshold in a sketch | fewest hits of a sample | reports, counters read | cuckoo |
//! | [`tea`] | over a threshold in the server's flow state | idle longest of a sample | misses, time stamps read | cuckoo |
//!
//! [`name`]: all systems by name, those without a policy too.

mod coldest;
mod counters;
pub mod dyso;
pub mod frequency;
pub mod name;
pub mod netcache;
pub mod recency;
mod sketch;
pub mod tea;

pub use frequency::Frequency;
pub use name::{Control, SystemName, Tuning};
pub use netcache::{NetCache, NetCacheOptions};
pub use recency::Recency;
pub use tea::{Tea, TeaOptions};
