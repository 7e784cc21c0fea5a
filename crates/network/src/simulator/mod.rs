//! A network of hosts, links and switches, packet by packet.
//!
//! In the order in which to read it:
//!
//! 1. [`topology`]: hosts, switches, links, and the ways through them; [`shapes`]: fat trees, and networks out of a table; [`workload`]: flows
//!    that start by chance; [`recorded`]: flows out of a table.
//! 2. [`port`]: the queue of an output port, which may be any scheduler of `trueplane-sched`; [`skipped`]: one that is used only
//!    while the line is busy.
//! 3. [`calendar`]: events in the order of time; [`packets`]: packets on their way; [`flow`]: flows and what became of them;
//!    [`fork`]: packets with several ways.
//! 4. [`run`]: the network, event by event, and the identities that hold at its end; [`found`]: completion times by size; [`least`]: the least
//!    time that a flow can take.

pub mod calendar;
pub mod flow;
pub mod fork;
pub mod found;
pub mod least;
mod line;
pub mod packets;
pub mod port;
pub mod recorded;
pub mod run;
pub mod shapes;
pub mod skipped;
pub mod topology;
pub mod workload;

pub use flow::{Completed, Counts, FlowSpec};
pub use fork::{Chooser, Fork};
pub use found::{SizeClass, Times};
pub use least::{Packing, least_time};
pub use port::{DropTail, PortQueue, Ranked};
pub use recorded::{BadFlows, read_flows};
pub use run::{Network, Outcome, Unbalanced};
pub use shapes::{BadTable, Named, fat_tree, read_links};
pub use skipped::SkippedWhenIdle;
pub use topology::{BadTopology, Link, Topology};
pub use workload::{BadSizes, Pattern, Poisson, Sizes};
