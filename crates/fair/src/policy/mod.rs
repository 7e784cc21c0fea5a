//! The orders of users, one in a file, and their names.

mod fifo;
pub mod half_life;
mod karma;
mod name;
mod periodic;
mod sdrf;

pub use fifo::Fifo;
pub use half_life::{DecayedUsage, HalfLife, HalfLifeError, KueueOptions, SlurmOptions};
pub use karma::{Credits, Karma, KarmaError, KarmaOptions};
pub use name::{PolicyName, Properties};
pub use periodic::{Ledger, Periodic};
pub use sdrf::Sdrf;
