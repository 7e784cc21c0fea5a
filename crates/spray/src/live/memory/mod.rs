//! Network functions over threads, with packets that are made and kept in memory: generator → dispatch → cores → sink.
//!
//! 1. [`source`]: where packets come from and go back to; [`script`]: connections as they are, each a `connection`; [`steady`]: few flows, as fast as can be;
//!    [`flood`]: SYNs from everywhere.
//! 2. `picker`: who chooses cores, for dispatch policies, and for one locked table, sharding and state-compute replication beside them.
//! 3. `frame`, `mark`: packets, and what they carry to be known by. `rings`, `dispatcher`, `seat`, [`run`](run()): the threads and what passes between them.
//! 4. [`tally`]: what was counted, and that nothing is missing.
//! 5. [`busy`]: work that only passes the time.
//!
//! The bench `memory` compares systems here, and the tests their verdicts.
//!
//! Every packet is made once, by the dispatcher's thread, which is also the sink: packets come back to it with their verdicts, and their
//! memory is used again. With fewer cores than threads it takes some of the cores' time, which is measured.

pub mod busy;
mod connection;
mod dispatcher;
pub mod flood;
mod frame;
mod mark;
mod picker;
pub(super) mod rings;
mod run;
pub mod script;
mod seat;
pub mod source;
pub mod steady;
pub mod tally;

pub use self::flood::Flood;
pub use self::run::{MOST_CORES, MOST_PLACES, Overload, Settings, run};
pub use self::script::Script;
pub use self::seat::Contents;
pub use self::source::{Next, Source};
pub use self::steady::Steady;
pub use self::tally::{Dispatched, Run};

/// Error of a run. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is invalid, or threads cannot be started.
    #[error(transparent)]
    Live(#[from] trueplane_linux::Error),
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The counts do not add up: a mistake in this program.
    #[error("packets are missing, or there are too many: {0}")]
    Lost(String),
}

impl Error {
    /// Error for an invalid request.
    pub(crate) fn request(problem: impl Into<String>) -> Self {
        Self::Live(trueplane_linux::Error::Request(problem.into()))
    }
}
