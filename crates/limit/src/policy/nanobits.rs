//! The unit in which the reference limiters count.

use trueplane_units::{BitsPerSec, Bytes, Nanos};

/// An amount of data in billionths of a bit.
///
/// A rate in bits per second times a span in nanoseconds is a whole number of them, and so is a byte (8 × 10⁹), so that
/// nothing is ever rounded. 128 bits hold the product of any rate and any span; sums beyond that saturate.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Nanobits(#[serde(with = "crate::wide")] pub u128);

impl Nanobits {
    /// Nanobits that pass at `rate` in `span`.
    #[inline]
    pub fn earned(rate: BitsPerSec, span: Nanos) -> Self {
        Self(u128::from(rate.0) * u128::from(span.0))
    }

    /// The sum, saturating.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, `None` if `other` is more.
    #[inline]
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Whole bytes in this amount.
    #[inline]
    pub fn bytes(self) -> u128 {
        self.0 / PER_BYTE
    }
}

const PER_BYTE: u128 = 8_000_000_000;

impl From<Bytes> for Nanobits {
    #[inline]
    fn from(bytes: Bytes) -> Self {
        Self(u128::from(bytes.0) * PER_BYTE)
    }
}

impl From<u32> for Nanobits {
    /// The amount of so many bytes.
    #[inline]
    fn from(bytes: u32) -> Self {
        Bytes(bytes.into()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded_and_nothing_overflows() {
        let second = Nanobits::earned(BitsPerSec(12_000), Nanos(1_000_000_000));
        assert_eq!(second, Nanobits::from(1_500u32));
        assert_eq!(Nanobits::earned(BitsPerSec(1), Nanos(1)), Nanobits(1));
        let most = Nanobits::earned(BitsPerSec(u64::MAX), Nanos::MAX);
        assert!(most.plus(Bytes(u64::MAX).into()).0 > most.0);
        assert_eq!(Nanobits(u128::MAX).plus(most), Nanobits(u128::MAX));
        assert_eq!(Nanobits(1).minus(Nanobits(2)), None);
        assert_eq!(Nanobits(PER_BYTE - 1).bytes(), 0);
    }
}
