//! How long flows have to be for a prediction to be worth something.

use trueplane_units::Nanos;

use super::Attack;
use crate::policy::PolicyName;
use crate::policy::per_flow::drr::DEFAULT_QUANTUM;

/// Flows are long if they have so many times the work of a packet of the attack, and of a turn.
///
/// Packets of the attack are flows of their own, and so are those of users whose flows are as short: they are served as soon. What a
/// flow has beyond that is what an attack holds up, so that a prediction is off by what the beginning of a flow is of all of it. With a
/// hundred it was off by less than a tenth of itself wherever it was measured.
const LONG: u64 = 100;

impl PolicyName {
    /// Least work of users' flows with which a prediction is valid; `None` if it is valid for flows of any length.
    ///
    /// What treats flows alike serves short ones soon, whosever they are ([`usual_flow`](super::usual_flow)).
    pub fn least_flow(self, attack: Attack) -> Option<Nanos> {
        let turn = match self {
            PolicyName::Fq => Nanos(0),
            PolicyName::Drr => DEFAULT_QUANTUM,
            _ => return None,
        };
        Some(Nanos(attack.job.max(attack.estimate).max(turn).0.saturating_mul(LONG)))
    }
}
