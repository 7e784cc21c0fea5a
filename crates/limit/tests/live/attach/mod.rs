//! Limits on real devices: attached and taken away whole or not at all, handed over, changed while they run, and what they do
//! to real packets.

mod change;
mod common;
mod failing;
mod frames;
mod life;
mod nth_call;
mod swap;
