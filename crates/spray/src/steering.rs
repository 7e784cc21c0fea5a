//! Which core a flow belongs to: receive-side scaling's hash, in the form that both directions share.
//!
//! Toeplitz' hash of a card ([`Toeplitz`]) is linear over GF(2): the hash of a ⊕ b is hash(a) ⊕ hash(b). With the key 0x6d5a, 0x6d5a, … (Woo and
//! Park, 2012), which repeats itself every 16 bits, every word of 16 bits of addresses and ports counts alike, so that both directions
//! of a connection have one hash. It also means that the hash is one of the *sum* ⊕ of these words and has 16 bits, twice: since the
//! key has an odd number of ones, it is a permutation of that sum ([`folded`]). [`Steering`] is built on this, and so is the NAT's
//! choice of ports, which without a search finds one whose answers come back to its own core.

use crate::FlowId;

/// The key of Microsoft's specification of receive-side scaling, which most cards have from the factory.
pub const DEFAULT_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
    0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// Rows of a card's indirection table, and of ours.
pub const BUCKETS: usize = 128;

/// Toeplitz' hash with a key of 40 bytes.
#[derive(Clone, Debug)]
pub struct Toeplitz {
    /// Contribution of each value of each byte of the input to the hash.
    tables: Box<[[u32; 256]; 36]>,
}

impl Toeplitz {
    /// The hash under `key`; [`DEFAULT_KEY`], or 0x6d5a twenty times.
    pub fn new(key: &[u8; 40]) -> Self {
        let mut tables = Box::new([[0; 256]; 36]);
        for (byte, table) in tables.iter_mut().enumerate() {
            for (value, entry) in table.iter_mut().enumerate() {
                *entry = (0..8)
                    .filter(|bit| value >> (7 - bit) & 1 == 1)
                    .fold(0, |hash, bit| hash ^ window(key, byte * 8 + bit));
            }
        }
        Self { tables }
    }

    /// The hash of addresses, and of ports where `ports`, in the order of Microsoft's specification: source, destination, source port,
    /// destination port. O(36).
    pub fn hash(&self, flow: &FlowId, ports: bool) -> u32 {
        let words = flow.words();
        let address_words: &[u64] =
            if flow.is_v6() { &words[..4] } else { &[words[1] << 32 | words[3] & 0xffff_ffff] };
        let mut tables = self.tables.iter();
        let mut feed = |bytes: &[u8]| {
            bytes.iter().zip(tables.by_ref()).fold(0, |hash, (&byte, table)| hash ^ table[usize::from(byte)])
        };
        let mut hash = address_words.iter().fold(0, |hash, word| hash ^ feed(&word.to_be_bytes()));
        if ports {
            hash ^= feed(&words[4].to_be_bytes()[..4]);
        }
        hash
    }
}

/// The 32 bits of `key` from bit `start` on.
fn window(key: &[u8; 40], start: usize) -> u32 {
    (start..start + 32).fold(0, |bits, at| bits << 1 | u32::from(key[at / 8] >> (7 - at % 8) & 1))
}

/// The sum ⊕ of all words of 16 bits of a flow's addresses and ports: the same for both directions. O(1).
#[inline]
pub fn folded(flow: &FlowId) -> u16 {
    let words = flow.words();
    let mut sum = words[0] ^ words[1] ^ words[2] ^ words[3];
    sum ^= sum >> 32;
    sum ^= sum >> 16;
    sum as u16 ^ flow.source_port() ^ flow.destination_port()
}

/// Contribution of each value of each of two bytes to Toeplitz' hash under 0x6d5a, ….
const PERMUTATION: [[u16; 256]; 2] = {
    let mut tables = [[0; 256]; 2];
    let mut at = 0;
    while at < 512 {
        let (byte, value) = (at / 256, at % 256);
        let mut bit = 0;
        while bit < 8 {
            if value >> (7 - bit) & 1 == 1 {
                tables[byte][value] ^= 0x6d5a_u16.rotate_left((byte * 8 + bit) as u32);
            }
            bit += 1;
        }
        at += 1;
    }
    tables
};

/// Either half of Toeplitz' hash under 0x6d5a, … of anything whose words sum (⊕) to `folded`: a permutation, and linear. O(1).
#[inline]
pub fn symmetric(folded: u16) -> u16 {
    let [high, low] = folded.to_be_bytes();
    PERMUTATION[0][usize::from(high)] ^ PERMUTATION[1][usize::from(low)]
}

/// The row of the indirection table that a flow belongs to, the same for both directions: the lowest bits of the symmetric hash. O(1).
#[inline]
pub fn bucket(flow: &FlowId) -> usize {
    usize::from(symmetric(folded(flow))) % BUCKETS
}

/// The designated core of every flow: that of its [`bucket`] (§3.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    cores: usize,
    indirection: [u16; BUCKETS],
}

impl Steering {
    /// `cores` cores, one at least and [`BUCKETS`] at most, which take turns in the rows as a card's default table has them.
    pub fn new(cores: usize) -> Self {
        let cores = cores.clamp(1, BUCKETS);
        Self { cores, indirection: std::array::from_fn(|row| (row % cores) as u16) }
    }

    /// Number of cores.
    #[inline]
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// The core of a row.
    #[inline]
    pub fn core_of_bucket(&self, bucket: usize) -> usize {
        usize::from(self.indirection[bucket % BUCKETS])
    }

    /// The core that alone writes the state of `flow`, and of its other direction. O(1).
    #[inline]
    pub fn designated(&self, flow: &FlowId) -> usize {
        self.core_of_bucket(bucket(flow))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flow(source: [u8; 4], source_port: u16, destination: [u8; 4], destination_port: u16) -> FlowId {
        FlowId::new(6, (source.into(), source_port), (destination.into(), destination_port))
    }

    #[test]
    fn the_vectors_of_the_specification() {
        // Microsoft, "Verifying the RSS hash calculation".
        let toeplitz = Toeplitz::new(&DEFAULT_KEY);
        let first = flow([66, 9, 149, 187], 2794, [161, 142, 100, 80], 1766);
        assert_eq!((toeplitz.hash(&first, true), toeplitz.hash(&first, false)), (0x51cc_c178, 0x323e_8fc2));
        let second = flow([199, 92, 111, 2], 14230, [65, 69, 140, 83], 4739);
        assert_eq!((toeplitz.hash(&second, true), toeplitz.hash(&second, false)), (0xc626_b0ea, 0xd718_262a));
        let sixth = FlowId::new(
            6,
            ("3ffe:2501:200:1fff::7".parse().unwrap(), 2794),
            ("3ffe:2501:200:3::1".parse().unwrap(), 1766),
        );
        assert_eq!((toeplitz.hash(&sixth, true), toeplitz.hash(&sixth, false)), (0x4020_7d3d, 0x2cc1_8cd5));
    }

    #[test]
    fn the_symmetric_hash_is_a_permutation() {
        let mut seen = vec![false; 1 << 16];
        (0..=u16::MAX).for_each(|word| seen[usize::from(symmetric(word))] = true);
        assert!(seen.iter().all(|&seen| seen));
    }

    proptest! {
        #[test]
        fn the_symmetric_hash_is_the_cards(words: [u128; 2], ports: [u16; 2], v6: bool) {
            let address = |bits: u128| -> std::net::IpAddr {
                if v6 { std::net::Ipv6Addr::from_bits(bits).into() } else { std::net::Ipv4Addr::from_bits(bits as u32).into() }
            };
            let flow = FlowId::new(6, (address(words[0]), ports[0]), (address(words[1]), ports[1]));
            let key = std::array::from_fn(|at| if at % 2 == 0 { 0x6d } else { 0x5a });
            let half = u32::from(symmetric(folded(&flow)));
            prop_assert_eq!(Toeplitz::new(&key).hash(&flow, true), half << 16 | half);
            prop_assert_eq!(bucket(&flow), bucket(&flow.reversed()));
        }

        #[test]
        fn rows_are_linear(a: u16, b: u16) {
            prop_assert_eq!(symmetric(a ^ b), symmetric(a) ^ symmetric(b));
        }
    }
}
