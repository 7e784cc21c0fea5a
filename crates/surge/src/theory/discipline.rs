//! The orders of service that theory knows.

use trueplane_units::Nanos;

use super::Attack;
use crate::policy::per_flow::drr::DEFAULT_QUANTUM;

/// An order of service, as far as an attack on it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// First come, first served.
    Fcfs,
    /// Fair queueing: equal work for all flows that wait.
    Fq,
    /// Deficit round robin.
    Drr,
    /// Shortest job first.
    Sjf,
    /// Least work per bit first.
    Wsjf,
    /// The flow whose first packet has the least work per bit.
    WsjfHoq,
    /// The flow with the least work per bit in all its queue.
    WsjfInorder,
    /// The flow with the least work per packet in all its queue.
    SjfInorder,
}

/// Flows are long if they have so many times the work of a packet of the attack, and of a turn.
///
/// Packets of the attack are flows of their own, and so are those of users whose flows are as short: they are served as soon. What a
/// flow has beyond that is what an attack holds up, so that a prediction is off by what the beginning of a flow is of all of it. With a
/// hundred it was off by less than a tenth of itself wherever it was measured.
const LONG: u64 = 100;

impl Discipline {
    /// How much work flows of users must have for a prediction to be worth something; `None` if it is for flows of any length.
    ///
    /// What treats flows alike serves short ones soon, whosever they are ([`usual_flow`](super::usual_flow)).
    pub fn least_flow(self, attack: Attack) -> Option<Nanos> {
        let turn = match self {
            Discipline::Fq => Nanos(0),
            Discipline::Drr => DEFAULT_QUANTUM,
            _ => return None,
        };
        Some(Nanos(attack.job.max(attack.estimate).max(turn).0.saturating_mul(LONG)))
    }
}
