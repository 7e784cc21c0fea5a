//! The hash that turns text keys into numbers.

use siphasher::sip::SipHasher24;

/// The 64-bit SipHash-2-4 of `bytes` under the all-zero key. O(length).
///
/// The standard library's hashers may change from one release to the next; keys must not, since results that are
/// compared across machines depend on them (a set-associative cache places objects by key).
///
/// Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.
pub(super) fn sip_hash(bytes: &[u8]) -> u64 {
    SipHasher24::new().hash(bytes)
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
