//! The network of hosts, links and switches.

mod calendar;
mod capture;
mod faults;
mod least;
mod lengths;
mod port;
mod ranks;
mod runs;
mod spread;
mod tables;
mod topology;
mod workload;
