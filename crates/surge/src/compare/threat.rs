//! What a policy is attacked by.

use super::run::Sent;
use crate::names::PolicyName;
use crate::theory::Prediction;
use crate::workload::source::PacketOf;

/// A policy under attack.
#[derive(Clone, Debug)]
pub(super) struct Threat<P> {
    /// The policy.
    pub policy: PolicyName,
    /// The number of the users' rate.
    pub innocent: usize,
    /// What the attacker sends, and how fast.
    pub sent: Sent<P>,
    /// What theory expects of it; none where it has no say.
    pub prediction: Option<Prediction>,
    /// What nothing that the attacker can send displaces more than.
    pub bound: Option<f64>,
    /// Bits of users per second with the attack that a search began with, in the run of the first seed.
    pub planned: Option<f64>,
}

/// The threats to a source.
pub(super) type Threats<S> = Vec<Threat<PacketOf<S>>>;
