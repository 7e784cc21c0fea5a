//! What a payload is thought to take, by what its candidates took before (§3.5.2).

use super::matcher::Trial;

/// Steps per byte of payload, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Number of steps.
    pub steps: u64,
    /// Number of bytes in which they occur; above zero.
    pub bytes: u32,
}

impl Default for Ratio {
    /// Two steps a byte: what an expression takes that fails at every place at once.
    fn default() -> Self {
        Self { steps: 2, bytes: 1 }
    }
}

impl Ratio {
    /// Whether it is more than `other`.
    fn exceeds(self, other: Self) -> bool {
        u128::from(self.steps) * u128::from(other.bytes) > u128::from(other.steps) * u128::from(self.bytes)
    }

    /// The steps for so many bytes, rounded up; saturates.
    fn of(self, bytes: u32) -> u64 {
        let steps = (u128::from(self.steps) * u128::from(bytes)).div_ceil(u128::from(self.bytes.max(1)));
        u64::try_from(steps).unwrap_or(u64::MAX)
    }
}

/// Learns how much every rule may take: Σ z(k) × p over the candidates k of a payload of p bytes, where z(k) is the
/// largest ratio of steps to bytes of payload that was seen for rule k so far.
///
/// So a rule that once was slow is expensive for ever, and payloads that do not touch it are not. An estimate is an
/// upper bound for payloads no worse per byte than what was seen, and exceeds it where a match ends the search before
/// the last candidate. What has no measure yet is at the mercy of the prior: the first slow payloads of an attack are
/// thought to be cheap.
///
/// State: one fraction a rule. Departure from the source: it counts in steps, of which time is a multiple.
#[derive(Clone, Debug)]
pub struct Estimator {
    prior: Ratio,
    worst: Vec<Option<Ratio>>,
}

impl Estimator {
    /// One that has seen nothing of any of so many rules; a `prior` for no bytes is taken for one byte.
    pub fn new(rules: usize, prior: Ratio) -> Self {
        Self { prior: Ratio { bytes: prior.bytes.max(1), ..prior }, worst: vec![None; rules] }
    }

    /// The steps that a payload of so many bytes is thought to take; saturates.
    #[inline]
    pub fn steps(&self, candidates: &[u32], bytes: u32) -> u64 {
        candidates.iter().map(|rule| self.ratio(*rule).of(bytes)).fold(0, u64::saturating_add)
    }

    /// Learns what a trial took on a payload of so many bytes.
    #[inline]
    pub fn learn(&mut self, trial: Trial, bytes: u32) {
        let Some(worst) = self.worst.get_mut(trial.rule as usize).filter(|_| bytes > 0) else { return };
        let seen = Ratio { steps: trial.steps, bytes };
        if worst.is_none_or(|worst| seen.exceeds(worst)) {
            *worst = Some(seen);
        }
    }

    /// Estimated ratio of a rule: the largest that was seen, or the prior.
    pub fn ratio(&self, rule: u32) -> Ratio {
        self.worst.get(rule as usize).copied().flatten().unwrap_or(self.prior)
    }
}
