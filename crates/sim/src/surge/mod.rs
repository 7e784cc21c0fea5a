//! What an attacker's bit costs the others: packets whose service takes unequal time, an attack among them, and one server.
//!
//! 1. [`traffic`]: innocent and attack packets, and when they come.
//! 2. [`application`]: what a packet costs the processor, and what it is thought to cost.
//! 3. [`server`]: the one server, event by event; [`tally`]: what is counted.
//! 4. [`segments`]: the TCP and UDP packets of a capture; [`jobs`]: packets with what serving them took;
//!    [`reassembly`]: TCP reassembly.
//! 5. [`workload`]: where users' packets come from; [`policy`]: the orders of service by name; [`options`]: what else can be chosen.
//! 6. [`search`]: the worst attack, without a formula; [`replay`]: what an earlier study found.
//! 7. [`mod@compare`]: the study; [`document`], [`verdict`], `report`: what comes of it.

pub mod application;
pub mod compare;
pub mod document;
pub mod guard;
pub mod jobs;
pub mod matching;
pub mod options;
pub mod policy;
pub mod reassembly;
pub mod replay;
mod report;
pub mod search;
pub mod segments;
pub mod server;
pub mod tally;
pub mod traffic;
pub mod verdict;
pub mod workload;
