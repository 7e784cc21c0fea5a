//! What is said about a study of clusters, in plain sentences, the most important first.

mod simulate;
mod sweep;
mod words;

pub use simulate::on_simulation;
pub use sweep::on_sweep;
pub(super) use words::time;
