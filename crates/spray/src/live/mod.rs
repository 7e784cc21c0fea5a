//! Network functions on many cores.
//!
//! 1. [`memory`]: over threads, with packets that are made and kept in memory. Needs no rights.
//! 2. [`io`]: packets from interfaces, shared out to cores by a program in the kernel.
//! 3. [`run`]: a function between two interfaces.
//! 4. [`report`](mod@report): what such functions do, as a report.
//! 5. [`steer`]: the commands that would let a card choose the cores.

pub mod io;
pub mod memory;
pub mod report;
pub mod run;
pub mod steer;

mod skeleton {
    // libbpf-cargo's code, not ours.
    #![allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::needless_pass_by_value,
        missing_docs,
        unused_imports,
        unused_qualifications,
        unreachable_pub
    )]
    include!(concat!(env!("OUT_DIR"), "/spray.skel.rs"));
}
