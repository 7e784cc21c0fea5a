//! Rate limits in the kernel: [`Nimble`](crate::policy::Nimble) as an eBPF program on a network device.
//!
//! XDP polices where packets come in, before anything else is done for them; tc (clsact) polices on the way in or out, and also
//! marks ECN. The programs are `bpf/limit.bpf.c`; here are
//!
//! 1. `program`: loading them with the tables of a set of classes;
//! 2. `hook`: where on a device they run;
//! 3. [`attach()`] and [`detach`]: putting them there and taking them away, whole or not at all;
//! 4. `pins`: what is kept of them, and on which devices they run;
//! 5. `about`: what is remembered of them; [`Attached`]: what runs there, its counters, and changing limits while it runs;
//! 6. [`report`]: what they do, as a report;
//! 7. [`Bench`]: running them on packets that never were on a wire, for vectors, fuzzing and timing.
//!
//! Everything that runs is pinned in a folder of its own under `/sys/fs/bpf/trueplane/limit`: no process has to stay.

mod about;
mod attach;
mod attached;
mod bench;
mod hook;
mod pins;
mod program;
pub mod report;
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
    include!(concat!(env!("OUT_DIR"), "/limit.skel.rs"));
}

use serde::{Deserialize, Serialize};

pub use crate::live::about::About;
pub use crate::live::attached::{Attached, Change, Counter};
pub use attach::{Attachment, Detached, all, attach, check, detach, devices, rehearse, survey};
pub use bench::{Bench, Subject};
pub use hook::{Direction, Mode};
pub use pins::Lost;

/// Times at which a core reads the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// A reading for every packet.
    #[default]
    Exact,
    /// For every so many packets, and when a jiffy has passed: a limiter may drain late by less than a jiffy, never too
    /// much.
    Amortised {
        /// Packets per reading, on each core.
        every: u32,
    },
    /// Never: a test says what time it is.
    Given,
}

/// Settings by which the programs trade exactness for speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// Times at which a core reads the clock.
    pub clock: Clock,
    /// Bytes that a core draws in advance from a limiter, so that cores do not wait for each other; 0 for none. See `crate::credit` for how
    /// much too much that may let through.
    pub draw_bytes: u32,
}
