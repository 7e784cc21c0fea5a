//! Why a certificate is refused.

/// Reason why a certificate is refused, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub(super) String);

impl Refusal {
    /// A refusal that says this, on one line whatever it quotes.
    pub(super) fn new(message: impl Into<String>) -> Self {
        let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        Self(message.into().chars().map(visible).collect())
    }
}

/// Sums that leave 128 bits.
pub(super) fn too_large() -> Refusal {
    Refusal::new("the numbers add up to more than 127 bits")
}
