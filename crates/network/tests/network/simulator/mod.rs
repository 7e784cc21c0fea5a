//! The network of hosts, links and switches.

mod calendar;
mod port;
mod runs;
mod topology;
mod workload;
