//! What an attacker's bit costs the others: packets whose service takes unequal time, an attack among them, and one server.
//!
//! 1. [`traffic`]: innocent and attack packets, and when they come.
//! 2. [`application`]: what a packet costs the processor, and what it is thought to cost.
//! 3. [`server`]: the one server, event by event; [`tally`]: what is counted.

pub mod application;
pub mod server;
pub mod tally;
pub mod traffic;
