//! The hash that turns text keys into numbers.

use siphasher::sip::SipHasher24;

use super::cell;
use super::census::{Census, KeyCensus};

/// The 64-bit SipHash-2-4 of `bytes` under the all-zero key. O(length).
///
/// The standard library's hashers may change from one release to the next; keys must not, since results that are
/// compared across machines depend on them (a set-associative cache places objects by key).
///
/// Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.
pub(super) fn sip_hash(bytes: &[u8]) -> u64 {
    SipHasher24::new().hash(bytes)
}

/// A second hash of `bytes`, which knows nothing of the first: SipHash-2-4 under another key.
pub(super) fn second_hash(bytes: &[u8]) -> u64 {
    // The first digits of pi, which nobody has chosen.
    SipHasher24::new_with_keys(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344).hash(bytes)
}

/// Makes keys, and counts them if somebody wants to know.
#[derive(Default)]
pub(super) struct Hashing(Option<Box<Census>>);

impl Hashing {
    /// With a census or without.
    pub(super) fn new(census: bool) -> Self {
        Self(census.then(Box::default))
    }

    /// The key that a cell stands for: [`cell::key`].
    #[inline]
    pub(super) fn text(&mut self, cell: &[u8]) -> u64 {
        self.counted(cell::key(cell), cell)
    }

    /// The key of bytes that are no text: [`sip_hash`].
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> u64 {
        self.counted(sip_hash(bytes), bytes)
    }

    #[inline]
    fn counted(&mut self, key: u64, bytes: &[u8]) -> u64 {
        if let Some(census) = &mut self.0 {
            census.count(key, bytes);
        }
        key
    }

    /// What has been counted so far.
    pub(super) fn census(&self) -> Option<KeyCensus> {
        self.0.as_deref().map(Census::result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded results depend on these: they must never change.
    #[test]
    fn is_the_same_for_ever() {
        assert_eq!(sip_hash(b""), 0x1e92_4b9d_7377_00d7);
        assert_eq!(sip_hash(b"photo.jpg"), 0x2f8d_4663_f833_1c11);
    }
}
