//! The Internet checksum, brought up to date without looking at what did not change (RFC 1624).

/// The checksum after words of what it covers changed: equation 3 of RFC 1624 §3, HC′ = ~(~HC + ~m + m′), for all words at once.
///
/// `before` and `after` are the same bytes before and after the change. They begin at an even distance from where the sum
/// begins; an odd last byte counts as the upper half of a word. O(length).
///
/// The result is the one that a full computation has, but for data that sum to zero, where ones' complement has two zeros:
/// of these, equation 3 keeps the one that a receiver accepts (§5).
#[inline]
pub fn updated(checksum: u16, before: &[u8], after: &[u8]) -> u16 {
    !fold(u64::from(!checksum) + sum(before, true) + sum(after, false))
}

/// The checksum after one word of 16 bits changed.
#[inline]
pub fn updated_word(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!before) + u64::from(after))
}

/// Sum of the words of 16 bits, big-endian; of their complements, if asked for.
#[inline]
fn sum(bytes: &[u8], complement: bool) -> u64 {
    let flip = if complement { 0xffff } else { 0 };
    let mut pairs = bytes.chunks_exact(2);
    let whole: u64 =
        pairs.by_ref().map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]) ^ flip)).sum();
    let odd = pairs.remainder().first().map_or(0, |&last| u64::from((u16::from(last) << 8) ^ flip));
    whole + odd
}

/// Folds the carries back in.
#[inline]
fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn full(bytes: &[u8]) -> u16 {
        !fold(sum(bytes, false))
    }

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 1624 §4: HC = 0xDD2F, m = 0x5555, m' = 0x3285; HC' = 0x0000.
        assert_eq!(updated_word(0xdd2f, 0x5555, 0x3285), 0);
        assert_eq!(updated(0xdd2f, &[0x55, 0x55], &[0x32, 0x85]), 0);
    }

    proptest! {
        #[test]
        fn an_update_is_the_full_sum(
            mut bytes in prop::collection::vec(any::<u8>(), 2..64),
            change in prop::collection::vec(any::<u8>(), 1..32),
            at in 0usize..32,
        ) {
            let before = full(&bytes);
            let at = (at * 2) % bytes.len() / 2 * 2;
            let length = change.len().min(bytes.len() - at);
            let old = bytes[at..at + length].to_vec();
            bytes[at..at + length].copy_from_slice(&change[..length]);
            // An odd change that is not at the end is not whole words: then its last word is given whole.
            let end = (at + length).next_multiple_of(2).min(bytes.len());
            let mut old = old;
            old.extend_from_slice(&bytes[at + length..end]);
            let (new, expected) = (bytes[at..end].to_vec(), full(&bytes));
            let got = updated(before, &old, &new);
            // Both zeros of ones' complement.
            let same = got == expected || (got ^ expected) == 0xffff && (got == 0 || expected == 0);
            prop_assert!(same, "{got:#06x} {expected:#06x}");
        }
    }
}
