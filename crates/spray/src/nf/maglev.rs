//! Maglev's consistent hashing: a table of which every server has its share, and which changes little when servers come and go.
//!
//! Every server has an order of its own in which it prefers the rows of the table, a permutation; they take turns, and each takes the first row
//! of its order that is free, until none is. Source: D. Eisenbud et al., *Maglev: A Fast and Reliable Software Network Load Balancer*,
//! NSDI 2016, §3.4. Weights change how often a server has its turn (as §3.4 says they may): it gathers its weight every round, and has a
//! turn for every time that this makes the largest weight.

use crate::FlowId;

/// A row of no server.
const NONE: u16 = u16::MAX;
/// Servers at most.
pub const MAX_SERVERS: usize = NONE as usize;
/// Rows at most.
pub const MAX_ROWS: u32 = 1 << 24;
/// The largest prime of that.
const LARGEST: u32 = MAX_ROWS - 3;

/// The table: rows, each of one server.
#[derive(Clone, PartialEq, Eq)]
pub struct Maglev {
    rows: Vec<u16>,
    seed: u64,
}

impl std::fmt::Debug for Maglev {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maglev").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Maglev {
    /// A table for servers with a name, that decides the order of preference, and a weight, 0 for those that get nothing; [`MAX_SERVERS`] at most,
    /// all others get nothing. It has as many rows as the first prime from `size` on, or the largest one of [`MAX_ROWS`] at most, if that comes
    /// first: only with a prime does every order lead to all rows. O(size × log size) expected for equal weights,
    /// O(size × servers) for the most unequal ones.
    pub fn new(servers: &[(u64, u32)], size: u32, seed: u64) -> Self {
        let size = (size..LARGEST).find(|&size| is_prime(size)).unwrap_or(LARGEST);
        let mut rows = vec![NONE; size as usize];
        let mut orders: Vec<Order> = servers
            .iter()
            .take(MAX_SERVERS)
            .enumerate()
            .filter(|(_, (_, weight))| *weight > 0)
            .map(|(server, &(name, weight))| Order::new(server as u16, name, weight, size, seed))
            .collect();
        let largest = orders.iter().map(|order| order.weight).max().unwrap_or(0);
        let mut free = if orders.is_empty() { 0 } else { rows.len() };
        while free > 0 {
            for order in &mut orders {
                order.gathered += u64::from(order.weight);
                if order.gathered < u64::from(largest) || free == 0 {
                    continue;
                }
                order.gathered -= u64::from(largest);
                order.take(&mut rows);
                free -= 1;
            }
        }
        Self { rows, seed }
    }

    /// The server of a flow, by its place in the list; `None`, if no server has weight. O(1).
    #[inline]
    pub fn server(&self, flow: &FlowId) -> Option<usize> {
        let hash = flow.words().iter().fold(self.seed, |hash, &word| mix(hash ^ word));
        let row = (u128::from(hash) * self.rows.len() as u128) >> 64;
        self.rows.get(row as usize).filter(|&&server| server != NONE).map(|&server| usize::from(server))
    }

    /// The servers of all rows, by their place in the list.
    pub fn rows(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.rows.iter().map(|&server| (server != NONE).then_some(usize::from(server)))
    }
}

/// The order in which a server prefers rows: from an offset on, with a step that leads to all of them, as their number is a prime.
struct Order {
    server: u16,
    weight: u32,
    gathered: u64,
    next: u32,
    step: u32,
    size: u32,
}

impl Order {
    fn new(server: u16, name: u64, weight: u32, size: u32, seed: u64) -> Self {
        let (first, second) = (mix(seed ^ name), mix(mix(seed ^ name)));
        let below = |hash: u64, limit: u32| ((u128::from(hash) * u128::from(limit)) >> 64) as u32;
        Self {
            server,
            weight,
            gathered: 0,
            next: below(first, size),
            step: 1 + below(second, size - 1),
            size,
        }
    }

    fn take(&mut self, rows: &mut [u16]) {
        while rows[self.next as usize] != NONE {
            self.advance();
        }
        rows[self.next as usize] = self.server;
        self.advance();
    }

    fn advance(&mut self) {
        let next = self.next + self.step;
        self.next = if next >= self.size { next - self.size } else { next };
    }
}

/// Mixes a word: every bit of it counts in every bit of the result. Source: D. Stafford's variant 13 of the finalizer of MurmurHash3, as in
/// SplitMix64 (Steele et al., 2014).
#[inline]
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A number of 64 bits for a text, such as a server's name.
pub(super) fn name_of(text: &str) -> u64 {
    text.bytes().fold(mix(text.len() as u64), |hash, byte| mix(hash ^ u64::from(byte)))
}

/// Whether a number is a prime. O(√number).
pub(super) fn is_prime(number: u32) -> bool {
    let number = u64::from(number);
    number >= 2 && (2..).take_while(|at| at * at <= number).all(|at| !number.is_multiple_of(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 65537;

    fn servers(count: u64) -> Vec<(u64, u32)> {
        (0..count).map(|server| (name_of(&format!("10.0.0.{server}:80")), 1)).collect()
    }

    fn shares(table: &Maglev, count: usize) -> Vec<usize> {
        let mut shares = vec![0; count];
        table.rows().flatten().for_each(|server| shares[server] += 1);
        shares
    }

    #[test]
    fn rows_are_shared_out_evenly() {
        // In turns: no server has more than one row more than another (§3.4).
        for count in [1, 2, 3, 10, 100, 655] {
            let shares = shares(&Maglev::new(&servers(count), SIZE, 1), count as usize);
            let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
            assert!(most - least <= 1, "{count}: {least} to {most}");
            assert_eq!(shares.iter().sum::<usize>(), SIZE as usize);
        }
    }

    #[test]
    fn weights_are_shares() {
        let mut servers = servers(4);
        for (server, weight) in servers.iter_mut().zip([0, 1, 2, 7]) {
            server.1 = weight;
        }
        let shares = shares(&Maglev::new(&servers, SIZE, 1), 4);
        assert_eq!(shares[0], 0);
        for (share, weight) in shares.iter().zip([0, 1, 2, 7]) {
            assert!(share.abs_diff(SIZE as usize * weight / 10) <= 2, "{shares:?}");
        }
    }

    #[test]
    fn one_server_less_moves_little_more_than_its_rows() {
        for count in [2, 5, 10, 50, 100] {
            let before = Maglev::new(&servers(count), SIZE, 1);
            for gone in [0, count as usize / 2, count as usize - 1] {
                let mut left = servers(count);
                left[gone].1 = 0;
                let after = Maglev::new(&left, SIZE, 1);
                let others = before
                    .rows()
                    .zip(after.rows())
                    .filter(|(before, after)| before != after && *before != Some(gone))
                    .count();
                let own = before.rows().filter(|server| *server == Some(gone)).count();
                assert!(after.rows().all(|server| server.is_some_and(|server| server != gone)));
                // Every row of the server that is gone moves; of the others few do (§5.3).
                assert_eq!(
                    own,
                    before
                        .rows()
                        .zip(after.rows())
                        .filter(|(before, after)| *before == Some(gone) && before != after)
                        .count()
                );
                assert!(others as f64 <= 0.05 * f64::from(SIZE), "{count}: {others}");
            }
        }
    }

    #[test]
    fn without_servers_there_is_none() {
        let flow = FlowId::new(6, ([10, 0, 0, 1].into(), 1), ([10, 0, 0, 2].into(), 2));
        assert_eq!(Maglev::new(&[], SIZE, 1).server(&flow), None);
        assert_eq!(Maglev::new(&[(7, 0)], SIZE, 1).server(&flow), None);
        assert_eq!(Maglev::new(&[(7, 0), (8, 3)], SIZE, 1).server(&flow), Some(1));
    }

    #[test]
    fn a_size_that_is_no_prime_becomes_one() {
        for (asked, rows) in [(0, 2), (1, 2), (2, 2), (4, 5), (6, 7), (7, 7), (65_536, 65_537)] {
            let table = Maglev::new(&servers(3), asked, 1);
            assert_eq!((table.rows().count(), table.rows().all(|row| row.is_some())), (rows, true));
        }
        assert!(is_prime(LARGEST) && !(LARGEST + 1..=MAX_ROWS).any(is_prime));
        for asked in [LARGEST, MAX_ROWS, u32::MAX] {
            assert_eq!(Maglev::new(&[], asked, 1).rows().count(), LARGEST as usize);
        }
    }

    #[test]
    fn primes() {
        let primes: Vec<u32> = (0..30).filter(|&number| is_prime(number)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert!(is_prime(65537) && !is_prime(65536) && !is_prime(65539 * 3));
    }
}
