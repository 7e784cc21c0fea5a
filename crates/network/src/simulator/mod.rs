//! A network of hosts, links and switches, packet by packet.
//!
//! In the order in which to read it:
//!
//! 1. [`topology`]: hosts, switches, links, and the ways through them; [`shapes`]: fat trees, and networks out of a table; [`workload`]: flows
//!    that start by chance; [`recorded`]: flows out of a table.
//! 2. [`port`]: the queue of an output port, which may be any scheduler of `trueplane-sched`; [`headers`]: what packets carry for ranks;
//!    [`skipped`]: a queue that is used only while the line is busy; [`marked`]: a queue whose port marks packets.
//! 3. [`calendar`]: events in the order of time; [`packets`]: packets on their way; [`flow`]: flows and what became of them;
//!    [`fork`]: packets with several ways; [`spread`]: rules for them; [`faults`]: links that are down, lose packets or delay them;
//!    [`fault_table`]: faults out of a table.
//! 4. [`run`]: the network, event by event; [`outcome`]: what became of a run, and the identities that hold at its end; [`found`]: completion times
//!    by size; [`least`]: the least time that a flow can take; [`lengths`]: lengths of queues; [`capture`]: the packets of a link as a file.

mod attached;
mod bitmap;
pub mod calendar;
pub mod capture;
mod equipped;
pub mod fault_table;
pub mod faults;
pub mod flow;
pub mod fork;
pub mod found;
pub mod headers;
pub mod least;
pub mod lengths;
mod line;
pub mod marked;
pub mod outcome;
pub mod packets;
pub mod port;
pub mod recorded;
pub mod run;
pub mod shapes;
pub mod skipped;
pub mod spread;
pub mod topology;
mod ways;
pub mod workload;

pub use capture::Capture;
pub use fault_table::read_faults;
pub use faults::{BadFaults, FaultKind, Faults, LinkFault};
pub use flow::{Completed, Counts, DropCause, FlowSpec};
pub use fork::{Chooser, Fork};
pub use found::{SizeClass, Times};
pub use headers::Headers;
pub use least::{Packing, least_time};
pub use lengths::Waited;
pub use marked::Marked;
pub use outcome::{Outcome, PortOutcome, Unbalanced};
pub use port::{DropTail, MarkingThreshold, PortQueue, Ranked};
pub use recorded::{BadFlows, read_flows};
pub use run::Network;
pub use shapes::{BadTable, Named, fat_tree, read_links};
pub use skipped::SkippedWhenIdle;
pub use spread::Spread;
pub use topology::{BadTopology, Link, Topology};
pub use workload::{BadSizes, Pattern, Poisson, Sizes};
