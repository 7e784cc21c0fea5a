//! The network of hosts, links and switches.

mod calendar;
mod least;
mod port;
mod runs;
mod tables;
mod topology;
mod workload;
