//! The payload that costs most per bit.
//!
//! 1. [`worst_payload`]: among those of a data set, as in §3.6.1.
//! 2. [`search()`]: among those that can be made for the rules.

mod frame;
mod recipe;
mod search;

pub use frame::{Frame, MINIMUM_BITS};
pub use search::{Search, Worst, search};

use trueplane_units::Nanos;

use super::costs::Costs;
use super::table::Table;

/// A packet of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Its number.
    pub index: u32,
    /// Its size on the wire in bits, not below that of the smallest frame.
    pub bits: u32,
    /// Steps that its trials take.
    pub steps: u64,
    /// Time that serving it takes.
    pub job: Nanos,
}

/// The packet of a data set with the most work per bit, where `bits` has the size of each on the wire; the first of
/// several. `None` if there is no packet. O(packets).
///
/// Departure from the source: §3.6.1 takes the largest job, whatever its size; what a bit does is what an attacker pays
/// for.
pub fn worst_payload(table: &Table, bits: impl IntoIterator<Item = u32>, costs: &Costs) -> Option<Worked> {
    let packets = table.entries().zip(bits).zip(0..).map(|((entry, bits), index)| {
        let steps = entry.steps();
        Worked { index, bits: bits.max(MINIMUM_BITS), steps, job: costs.job(entry.bytes, steps) }
    });
    packets.reduce(
        |worst, packet| {
            if exceeds((packet.job, packet.bits), (worst.job, worst.bits)) { packet } else { worst }
        },
    )
}

/// Whether the first of two packets, each with its job and its bits, has more work per bit.
fn exceeds((job, bits): (Nanos, u32), (other, others): (Nanos, u32)) -> bool {
    u128::from(job.0) * u128::from(others) > u128::from(other.0) * u128::from(bits)
}
