//! The hash that turns text keys into numbers.

use std::sync::{Arc, OnceLock};

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

/// Makes keys, and looks at their texts if somebody wants to know something about them.
#[derive(Default)]
pub(super) enum Hashing {
    /// Makes keys.
    #[default]
    Only,
    /// Counts them, too.
    Counting(Box<Census>),
    /// Remembers the text of the first cell that becomes this key, too.
    Finding(u64, Arc<OnceLock<Vec<u8>>>),
}

impl Hashing {
    /// With a census or without.
    pub(super) fn new(census: bool) -> Self {
        if census { Hashing::Counting(Box::default()) } else { Hashing::Only }
    }

    /// The key that a cell stands for: [`cell::key`].
    #[inline]
    pub(super) fn text(&mut self, cell: &[u8]) -> u64 {
        self.seen(cell::key(cell), cell)
    }

    /// The key of bytes that are no text: [`sip_hash`].
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let key = sip_hash(bytes);
        match self {
            // They say nothing to people.
            Hashing::Finding(..) => key,
            _ => self.seen(key, bytes),
        }
    }

    #[inline]
    fn seen(&mut self, key: u64, bytes: &[u8]) -> u64 {
        match self {
            Hashing::Only => {}
            Hashing::Counting(census) => census.count(key, bytes),
            Hashing::Finding(wanted, found) => {
                if key == *wanted {
                    found.get_or_init(|| bytes.to_vec());
                }
            }
        }
        key
    }

    /// What has been counted so far.
    pub(super) fn census(&self) -> Option<KeyCensus> {
        match self {
            Hashing::Counting(census) => Some(census.result()),
            _ => None,
        }
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
