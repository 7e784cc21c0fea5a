//! The network of hosts, links and switches.

mod calendar;
mod runs;
mod topology;
mod workload;
