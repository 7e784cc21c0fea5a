//! The orders of users, one in a file.

mod fifo;

pub use fifo::Fifo;
