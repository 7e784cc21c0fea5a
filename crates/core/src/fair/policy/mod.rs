//! The orders of users, one in a file.

mod fifo;
mod sdrf;

pub use fifo::Fifo;
pub use sdrf::Sdrf;
