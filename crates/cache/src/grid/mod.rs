//! A grid of policies, capacities and latencies over one trace.
//!
//! The trace is read twice and never held: a first pass sums it up (and tells the oracle the future, if an offline policy
//! is asked for), a second one feeds all cells batch by batch, on all cores, while the next batch is being read. Who holds
//! it anyway, all or its start, hands it over as it is ([`simulate_held`]).
//!
//! 1. `plan`: what to simulate; `resolve`: what its capacities come to on a trace.
//! 2. `run`: all cells, fed with the trace.
//! 3. `found`: the points of the grid with what every policy does there; `points` makes them of the cells' tallies.
//! 4. `ranking`: who is best by hit rate, and who by latency.

mod found;
mod plan;
mod points;
pub mod ranking;
mod resolve;
mod run;

pub use found::{Point, Points, PolicyRun};
pub use plan::Plan;
pub use points::{simulate, simulate_held};
pub use resolve::Resolved;
pub(crate) use resolve::{amount, capacities};
pub use run::Held;
