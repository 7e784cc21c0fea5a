//! Generator, scheduler and worker over threads, with everything counted.
//!
//! 1. [`traffic`]: what users and attacker send, and when.
//! 2. [`scheduler`]: a receive ring, a bounded buffer in any order of service, and the next packet for the worker.
//! 3. [`handover`]: where scheduler and worker meet.
//! 4. [`service`]: the worker, and what it does with a packet: jobs that only pass the time, or real work as a closure.
//! 5. [`run`](run()): both on threads, for a given time.
//! 6. [`tally`]: arrived = served + dropped + lost + left.
//!
//! The thesis has a network card and three cores: scheduler, worker, profiler. Here two are enough. The scheduler's thread does the
//! card's work as well: packets have times, and it puts into the ring what has come since it last looked, which takes a few ns a packet;
//! the profiler is each thread's own counting. Nothing is copied: a packet is a ticket, and its content, if it has any, is the
//! worker's to know.

pub mod handover;
mod run;
pub mod scheduler;
pub mod service;
pub mod tally;
pub mod traffic;

pub use run::{Effort, Run, Settings, run};
