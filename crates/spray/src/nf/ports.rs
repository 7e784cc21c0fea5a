//! The ports of public addresses, one core's share of them.
//!
//! A connection that leaves from a public address and port has to be answered to its own core, so that both directions are written by one. The
//! hash is linear (see [`steering`](crate::steering)): the row of an answer is the row of its addresses and the port of who answers, ⊕
//! the *class* of the public port, which is that port's own row. So for a given *rest* (the row without the public port), a core may use
//! exactly those ports whose class leads from there to one of its rows, and no other core may: ports need not be dealt out, and no search is
//! needed, only a list for each class.
//!
//! A port may serve several connections of one public address at a time if these have different rests, hence different servers: an answer tells
//! them apart by its sender. To one server, a public address has as many connections as it has ports, on all cores together; in
//! all, as many as it has ports for each of the [`BUCKETS`] rests.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::steering::{BUCKETS, bucket, symmetric};
use crate::{FlowId, Steering};

/// The ports of a range by class, each class in an order drawn from a seed: ports that are handed out one after the other are no neighbours.
#[derive(Debug, PartialEq, Eq)]
pub struct Classes {
    ports: Vec<Vec<u16>>,
}

impl Classes {
    /// Sorts these ports into classes. O(ports).
    pub fn new(ports: RangeInclusive<u16>, seed: u64) -> Self {
        let mut classes = vec![Vec::new(); BUCKETS];
        ports.for_each(|port| classes[class(port)].push(port));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for class in &mut classes {
            for last in (1..class.len()).rev() {
                let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
                class.swap(last, other as usize);
            }
        }
        Self { ports: classes }
    }
}

/// The row of a port, by itself.
fn class(port: u16) -> usize {
    usize::from(symmetric(port)) % BUCKETS
}

/// A core's ports of a pool of addresses.
#[derive(Debug)]
pub struct Ports {
    classes: Arc<Classes>,
    /// The rows that belong to the core.
    rows: Vec<usize>,
    pools: Vec<Pool>,
    taken: usize,
}

#[derive(Debug)]
struct Pool {
    address: Ipv4Addr,
    /// For each rest; nothing, before its first port is taken.
    shares: Vec<Option<Share>>,
}

/// The ports of an address for one rest.
#[derive(Debug)]
struct Share {
    free: usize,
    /// Index of the row that is asked next.
    turn: usize,
    /// Free ports of each of the core's rows.
    lists: Box<[List]>,
}

#[derive(Clone, Debug, Default)]
struct List {
    /// Number of ports of the class that were ever taken.
    fresh: usize,
    /// Those that came back, the one that has rested longest first.
    returned: VecDeque<u16>,
}

impl Ports {
    /// The share of `core` in the ports of `addresses`. O(addresses); the memory for a rest, 5 KiB ÷ cores and 2 bytes for every port that ever
    /// came back, is taken with the first port for it.
    pub fn new(core: usize, steering: &Steering, addresses: &[Ipv4Addr], classes: &Arc<Classes>) -> Self {
        let pool = |&address| Pool { address, shares: (0..BUCKETS).map(|_| None).collect() };
        Self {
            classes: Arc::clone(classes),
            rows: (0..BUCKETS).filter(|&row| steering.core_of_bucket(row) == core).collect(),
            pools: addresses.iter().map(pool).collect(),
            taken: 0,
        }
    }

    /// Takes a port for a flow that is to leave from one of the addresses: the answer to `flow.with_source(address, port)` belongs to this core
    /// and to no other connection of it. Asks the addresses in turn from the `first` on (of a number beyond the last, the rest of a division). `None`, if
    /// none is left.
    ///
    /// O(1) while the first address has ports for such a flow in all classes; at most rows of the core × addresses.
    pub fn take(&mut self, flow: &FlowId, first: usize) -> Option<(Ipv4Addr, u16)> {
        let pools = self.pools.len();
        for at in 0..pools {
            let pool = &mut self.pools[(first % pools + at) % pools];
            let rest = rest(flow, pool.address);
            let share = pool.shares[rest].get_or_insert_with(|| Share::new(rest, &self.rows, &self.classes));
            if let Some(port) = share.take(rest, &self.rows, &self.classes) {
                self.taken += 1;
                return Some((pool.address, port));
            }
        }
        None
    }

    /// Gives back what was [taken](Self::take) for `flow`; it is the last of its class to be taken again. Once for each time that it was
    /// taken, by the core that took it. O(addresses + rows of the core).
    pub fn give_back(&mut self, flow: &FlowId, address: Ipv4Addr, port: u16) {
        let Some(pool) = self.pools.iter_mut().find(|pool| pool.address == address) else { return };
        let rest = rest(flow, address);
        let Some(share) = &mut pool.shares[rest] else { return };
        let Some(row) = self.rows.iter().position(|&row| row == rest ^ class(port)) else { return };
        share.lists[row].returned.push_back(port);
        share.free += 1;
        self.taken = self.taken.saturating_sub(1);
    }

    /// Ports that are taken.
    pub fn taken(&self) -> usize {
        self.taken
    }
}

/// The row of what answers a flow from `address`, but for the port there.
fn rest(flow: &FlowId, address: Ipv4Addr) -> usize {
    bucket(&flow.with_source(address.into(), 0))
}

impl Share {
    fn new(rest: usize, rows: &[usize], classes: &Classes) -> Self {
        let free = rows.iter().map(|row| classes.ports[rest ^ row].len()).sum();
        Self { free, turn: 0, lists: vec![List::default(); rows.len()].into() }
    }

    fn take(&mut self, rest: usize, rows: &[usize], classes: &Classes) -> Option<u16> {
        if self.free == 0 {
            return None;
        }
        for _ in 0..rows.len() {
            let row = self.turn;
            self.turn = if row + 1 == rows.len() { 0 } else { row + 1 };
            let list = &mut self.lists[row];
            // Ports that were never used first, so that the others rest as long as they can.
            let port = match classes.ports[rest ^ rows[row]].get(list.fresh) {
                Some(&port) => {
                    list.fresh += 1;
                    Some(port)
                }
                None => list.returned.pop_front(),
            };
            if port.is_some() {
                self.free -= 1;
                return port;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);

    fn flow(client: u16, server: u32, port: u16) -> FlowId {
        FlowId::new(
            6,
            (Ipv4Addr::from_bits(0x0a00_0000 | u32::from(client)).into(), 40_000),
            (Ipv4Addr::from_bits(server).into(), port),
        )
    }

    fn answer(flow: &FlowId, (address, port): (Ipv4Addr, u16)) -> FlowId {
        flow.with_source(address.into(), port).reversed()
    }

    #[test]
    fn to_one_server_all_ports_can_be_taken_on_all_cores_together() {
        for cores in [1, 2, 3, 7, 16, 128] {
            let steering = Steering::new(cores);
            let classes = Arc::new(Classes::new(1024..=65535, 1));
            let mut seen = HashSet::new();
            for core in 0..cores {
                let mut ports = Ports::new(core, &steering, &[PUBLIC], &classes);
                let flow = flow(1, 0xc633_6401, 443);
                while let Some(taken) = ports.take(&flow, 0) {
                    assert_eq!(steering.designated(&answer(&flow, taken)), core);
                    assert!(seen.insert(taken.1), "twice");
                }
                assert_eq!(ports.take(&flow, 0), None);
            }
            assert_eq!(seen.len(), 64512, "{cores} cores");
        }
    }

    #[test]
    fn a_port_rests_until_all_others_of_its_core_were_used() {
        let classes = Arc::new(Classes::new(1024..=2047, 1));
        let mut ports = Ports::new(0, &Steering::new(1), &[PUBLIC], &classes);
        let flow = flow(1, 0xc633_6401, 443);
        let first = ports.take(&flow, 0).unwrap();
        ports.give_back(&flow, first.0, first.1);
        let until = (0..2048).position(|_| {
            let next = ports.take(&flow, 0).unwrap();
            ports.give_back(&flow, next.0, next.1);
            next == first
        });
        // Classes take turns and each has eight ports, so that it is the last.
        assert_eq!(until, Some(1023));
    }

    proptest! {
        #[test]
        fn answers_are_told_apart_and_come_to_their_core(
            cores in 1usize..=16,
            addresses in 1usize..4,
            seed: u64,
            steps in prop::collection::vec((any::<u16>(), 0u32..6, 0u16..3, any::<bool>()), 1..400),
        ) {
            let steering = Steering::new(cores);
            let pool: Vec<Ipv4Addr> = (0..addresses as u32).map(|at| Ipv4Addr::from_bits(PUBLIC.to_bits() + at)).collect();
            // Few ports, so that they run out.
            let classes = Arc::new(Classes::new(2000..=2255, seed));
            let mut all: Vec<_> = (0..cores).map(|core| Ports::new(core, &steering, &pool, &classes)).collect();
            let mut held: Vec<(usize, FlowId, (Ipv4Addr, u16))> = Vec::new();
            let mut answers = HashMap::new();
            for (client, server, port, release) in steps {
                if release && !held.is_empty() {
                    let (core, flow, taken) = held.swap_remove(usize::from(client) % held.len());
                    answers.remove(&answer(&flow, taken));
                    all[core].give_back(&flow, taken.0, taken.1);
                    continue;
                }
                let flow = flow(client, 0xc633_6400 + server, port);
                let core = steering.designated(&flow);
                let Some(taken) = all[core].take(&flow, usize::from(client)) else { continue };
                prop_assert_eq!(steering.designated(&answer(&flow, taken)), core);
                prop_assert_eq!(answers.insert(answer(&flow, taken), flow), None);
                held.push((core, flow, taken));
            }
            prop_assert_eq!(all.iter().map(Ports::taken).sum::<usize>(), held.len());
            for (core, flow, taken) in held {
                all[core].give_back(&flow, taken.0, taken.1);
            }
            prop_assert!(all.iter().all(|ports| ports.taken() == 0));
        }
    }
}
