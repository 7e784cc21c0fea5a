//! Network functions that use every core for one flow.
//!
//! Cards hash flows to cores, so that a flow has one core, and what few flows there are at a time collide. *Spraying* sends every packet to
//! any core. What stands against it is the state of flows; but most functions change it only when a connection begins or ends. So each flow
//! has a *designated core*, which alone writes its state and to which connection packets (SYN, FIN, RST) are handed over; all other packets
//! are handled where they arrive, and only read. Source: H. Sadok, *Improving Software Middleboxes and Datacenter Task Schedulers*, 2018,
//! chapter 3 (Sprayer).
//!
//! From the bytes up:
//!
//! 1. [`packet`]: a packet, its headers, what can be changed of it; [`flow`]: the five-tuple.
//! 2. [`steering`]: which core a flow belongs to.
//! 3. [`table`]: a core's flows: one writer, many readers, no locks; [`flows`]: what functions may do with them.
//! 4. [`function`]: what a network function is; [`nf`]: the functions.
//! 5. [`worker`]: a core at work.
//! 6. [`dispatch`]: which core a packet goes to.

pub mod dispatch;
pub mod flow;
pub mod flows;
pub mod function;
pub mod nf;
pub mod packet;
pub mod steering;
pub mod table;
pub mod worker;

pub use self::dispatch::Dispatch;
pub use self::flow::FlowId;
pub use self::flows::{Flows, Found, LocalFlow, LocalFlows, MAX_BATCH};
pub use self::function::{Fit, NetworkFunction};
pub use self::packet::{Kind, Packet, Reason, Verdict};
pub use self::steering::Steering;
pub use self::table::{FlowState, Full, Limits, Phase, Removed, Table, Tick, Timeouts, Writer};
pub use self::worker::{Counts, Outlet, Worker};

/// The guide's function is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guides/network-function.md")]
struct Guide;
