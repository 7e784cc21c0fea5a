//! Hashes of bytes, the same on every machine and in every release.

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

/// A second hash of `bytes`, which knows nothing of the first: SipHash-2-4 under another key.
pub(super) fn second_hash(bytes: &[u8]) -> u64 {
    // The first digits of pi, which nobody has chosen.
    SipHasher24::new_with_keys(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344).hash(bytes)
}
