//! Network functions over threads, with packets that are made and kept in memory: generator → dispatch → cores → sink.
//!
//! 1. [`source`]: where packets come from and go back to; [`script`]: connections as they are, each a `connection`; [`steady`]: few flows,
//!    as fast as can be; [`flood`]: SYNs from everywhere.
//! 2. [`packets`]: how they are written. [`dispatcher`], [`mod@run`]: the threads.
//!
//! Every packet is made once, by the dispatcher's thread, which is also the sink: packets come back to it with their verdicts, and their
//! memory is used again. With fewer cores than threads it takes some of the cores' time, which is measured.

#[path = "../../../tests/spray/functions/packets.rs"]
#[expect(dead_code, reason = "tests of functions use more of it")]
pub(crate) mod packets;

mod connection;
mod dispatcher;
pub(crate) mod flood;
pub(crate) mod run;
pub(crate) mod script;
pub(crate) mod source;
pub(crate) mod steady;
