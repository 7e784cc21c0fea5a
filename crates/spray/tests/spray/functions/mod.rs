//! The network functions, each by what it is for and all by what holds for every one of them.

mod balancer;
mod dpi;
mod firewall;
mod flood;
mod hostile;
mod laden;
mod monitor;
mod nat;
mod outage;
mod packets;
mod redundancy;
mod team;
mod verdicts;
