#![doc = include_str!("../README.md")]
//!
//! ## The modules
//!
//! From the bytes up:
//!
//! 1. [`packet`]: a packet, its headers, what can be changed of it; [`flow`]: the five-tuple.
//! 2. [`steering`]: which core a flow belongs to.
//! 3. [`table`]: a core's flows: one writer, many readers, no locks; [`flows`]: what functions may do with them.
//! 4. [`function`]: what a network function is; [`nf`]: the functions.
//! 5. [`worker`]: a core at work.
//! 6. [`dispatch`]: which core a packet goes to; [`system`]: these, and other ways to keep state, by name.
//!
//! With the feature `study`, network functions on many cores in simulated time:
//!
//! 1. `machine`: cores and what work costs them; `traffic`: what comes; `sizes`: how long flows are;
//!    `function_files`: rules and backends.
//! 2. `source`: where packets come from: `generated` flows, or a capture (`captured`), whose `silence`s of hours are
//!    none of the traffic; `linked`: either behind a link with faults.
//! 3. `engine`: cores as servers, which drive `team`, the workers; `tally`: what is counted.
//! 4. `belief`: what is believed of hashing, and what is to be expected of it.
//! 5. `compare`: the study of several ways to share packets out.
//! 6. `concurrency`: how many flows a capture has at a time.
//!
//! With the feature `live`, `live` has the same on real cores, between interfaces.
#![cfg_attr(not(feature = "live"), forbid(unsafe_code))]

/// Belief of the classical model.
pub const BELIEF: &str = "Hashing spreads flows evenly, so that m cores do m times as much as one.";

pub mod dispatch;
pub mod flow;
pub mod flows;
pub mod function;
pub mod nf;
pub mod packet;
pub mod steering;
pub mod system;
pub mod table;
pub mod worker;

#[cfg(feature = "study")]
pub mod belief;
#[cfg(feature = "study")]
pub mod captured;
#[cfg(feature = "study")]
pub mod compare;
#[cfg(feature = "study")]
pub mod concurrency;
#[cfg(feature = "study")]
mod engine;
#[cfg(feature = "study")]
mod function_files;
#[cfg(feature = "study")]
pub mod generated;
#[cfg(feature = "study")]
pub mod linked;
#[cfg(feature = "study")]
pub mod machine;
#[cfg(feature = "study")]
pub mod silence;
#[cfg(feature = "study")]
pub mod sizes;
#[cfg(feature = "study")]
pub mod source;
#[cfg(feature = "study")]
mod tally;
#[cfg(feature = "study")]
mod team;
#[cfg(feature = "study")]
pub mod traffic;

#[cfg(all(feature = "live", target_os = "linux"))]
pub mod live;

pub use self::dispatch::Dispatch;
pub use self::flow::FlowId;
pub use self::flows::{Flows, Found, LocalFlow, LocalFlows, MAX_BATCH};
pub use self::function::{Fit, NetworkFunction};
pub use self::packet::{Kind, Packet, Reason, Verdict};
pub use self::steering::Steering;
pub use self::table::{FlowState, Full, Limits, Phase, Removed, Table, Tick, Timeouts, Writer};
pub use self::worker::{Counts, Outlet, Worker};
pub use trueplane_units::Nanos;

/// The guide's function is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/network-function.md")]
struct Guide;
