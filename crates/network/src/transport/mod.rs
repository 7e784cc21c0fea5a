//! Transport protocols as state machines, without a network.
//!
//! A [`Sender`] takes segments and the time, and gives segments and the time at which it wants to be woken; a [`Receiver`] does the same.
//! Neither has a clock, a socket, a thread or a random number, so that the same calls give the same answers everywhere.
//!
//! ```text
//!   write, close ─▶ ┌────────┐ ─▶ data segments ─▶ ┌──────────┐ ─▶ bytes in order
//!                   │ Sender │                     │ Receiver │
//!        wake-up ◀─ └────────┘ ◀─ acknowledgements ◀ └──────────┘ ─▶ wake-up
//! ```
//!
//! A connection carries bytes in one direction. A sender is put together from two parts that know nothing of each other:
//!
//! 1. [`recovery`]: what is lost and sent again: NewReno, SACK, RACK-TLP, the timer alone.
//! 2. [`control`]: how much may be on its way: Reno, CUBIC, DCTCP.
//!
//! What all share, in the order in which to read it:
//!
//! 1. [`segment`]: what travels; [`span`]: stretches of sequence numbers.
//! 2. [`receiver`]: reassembly, SACK blocks, the advertised window; [`acknowledge`]: when to acknowledge and how marks are echoed.
//! 3. [`scoreboard`]: what was sent and what became of it; [`round_trip`]: round-trip time and time-out; [`pacing`]: gaps between segments.
//! 4. [`sender`]: handshake, windows, timers, end; [`stream`]: what was written; [`offered`]: the receiver's window; [`persist`]: probes of a closed one; [`flight`]: what counts
//!    when a segment is lost; [`marks`]: reactions to echoed marks; [`reduction`]: the window in a recovery; [`settings`]: what can be set.
//! 5. [`preset`]: senders as the literature has them, ready to use; [`connection`]: the two ends as a network of hosts uses them.
//! 6. [`simplified`]: the two ends as a published simulator has them, apart from all others.

pub mod acknowledge;
pub mod connection;
pub mod control;
pub mod flight;
pub mod marks;
pub mod offered;
pub mod pacing;
pub mod persist;
pub mod preset;
pub mod receiver;
pub mod recovery;
pub mod reduction;
pub mod round_trip;
pub mod scoreboard;
pub mod segment;
pub mod sender;
pub mod settings;
pub mod simplified;
pub mod span;
pub mod stream;

pub use connection::{End, SendingEnd, Transport};
pub use control::{CongestionControl, Control, Cubic, Dctcp, Reno, WindowSettings};
pub use receiver::Receiver;
pub use recovery::{LossRecovery, NewReno, RackTlp, Recovery, Sack, TimeoutOnly};
pub use reduction::Reduction;
pub use round_trip::{RoundTrip, TimeoutSettings};
pub use segment::{Ecn, Flags, SackBlocks, Segment};
pub use sender::Sender;
pub use settings::{BadSettings, ReceiverSettings, SenderSettings};
pub use simplified::Simplified;
pub use span::Span;
