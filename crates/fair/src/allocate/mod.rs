//! Who gets what of a cluster whose tasks can be divided: a demands document under several mechanisms, side by side.
//!
//! 1. [`demands`]: the document, which `read` reads and checks; `delta`: how fast it is forgotten.
//! 2. [`study`]: what every mechanism makes of it, stage by stage.
//! 3. `found`: what comes of it; `report` shows it, `verdict` says it in sentences.

pub mod demands;
mod found;
mod read;
mod report;
pub mod study;
mod verdict;

pub use crate::allocate::found::Allocate;
pub use crate::allocate::study::{Options, allocate};
pub use crate::delta::Delta;
pub use demands::Demands;
