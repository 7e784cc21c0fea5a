//! TCP reassembly: segments in any order to a stream of bytes, and what an attacker can make that cost.
//!
//! An intrusion detector looks for what spans packets, so it has to put the segments of every flow in order. Pigasus keeps what
//! came early in a linked list, one node for every stretch without a gap, and walks it from the head. Real flows have lists of a
//! node or two. Whoever sends one byte at every second sequence number makes it one node longer with every packet, and the next
//! packet walks past them all.
//!
//! 1. [`ranges`]: what came early, with what finding a place in it takes; [`List`], [`Tree`]: two ways to keep it.
//! 2. [`reassembler`]: flows, sequence numbers, windows, and who has to go when the memory is full.
//! 3. [`application`]: the same as a processor that the server of this crate can drive.
//! 4. [`generate`]: innocent flows, and the attack.
//!
//! Source: Atre 2025 §3.2, §3.5.1, §3.5.2, §3.6.1; Zhao et al., *Pigasus*, OSDI 2020.

pub mod application;
mod chains;
mod flows;
pub mod generate;
mod list;
mod memory;
pub mod ranges;
pub mod reassembler;
mod slab;
mod tree;

pub use application::{Heuristic, Reassembly, ReassemblyCosts, profile};
pub use chains::Piece;
pub use generate::{Attack, Innocent};
pub use list::List;
pub use memory::Memory;
pub use ranges::{Ranges, Steps};
pub use reassembler::{Counts, Limits, Reassembler};
pub use tree::Tree;

use trueplane_units::choices;

choices! {
    /// Data structure for segments that arrived early, by name.
    pub enum Design {
        /// A linked list, as in Pigasus.
        List = "list",
        /// A balanced tree.
        Tree = "tree",
    }
}
