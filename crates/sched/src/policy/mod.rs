//! The schedulers: one policy, one file.
//!
//! On FIFOs in strict priority, each a [`Mapper`](super::Mapper) on a [`Banked`](super::Banked), from the least to the most that
//! they know:
//!
//! - [`Fifo`]: one queue, no order; [`Fixed`]: bounds that stay; [`SpPifo`]: bounds that follow every packet that is taken in;
//!   [`Gradient`]: bounds that follow the distribution of ranks, window by window.
//! - [`Aifo`]: one queue, and a gate before it; [`Packs`]: the gate and the queues in one.
//!
//! Schedulers of their own: [`Afq`], a calendar of rounds that shares fairly without ranks; [`Pifo`], the exact order.

mod afq;
mod aifo;
mod fifo;
mod fixed;
mod gradient;
mod name;
mod packs;
mod pifo;
mod quantile;
mod sp_pifo;

pub use afq::{Afq, AfqRule};
pub use aifo::{Aifo, AifoRule};
pub use fifo::Fifo;
pub use fixed::Fixed;
pub use gradient::{Adaptation, AdaptationName, Gradient};
pub use name::{Order, Properties, SchedulerName};
pub use packs::{Packs, PacksRule};
pub use pifo::Pifo;
pub use sp_pifo::{Adapts, PushDown, SpPifo};
