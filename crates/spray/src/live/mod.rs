//! Network functions on many cores.
//!
//! 1. [`io`]: packets from interfaces, shared out to cores by a program in the kernel.
//! 2. [`run`]: a function between two interfaces; [`rings`]: where its threads meet; [`busy`]: work that only passes the time.
//! 3. [`report`](mod@report): what such functions do, as a report.
//! 4. [`steer`]: the commands that would let a card choose the cores.

pub mod busy;
pub mod io;
pub mod report;
pub mod rings;
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
