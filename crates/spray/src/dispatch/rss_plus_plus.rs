//! RSS++: buckets of the indirection table move to where there is room.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch, Load};
use crate::Steering;
use crate::steering::BUCKETS;

/// Load above the mean, as a share of a core, from which on a core gives away one of its buckets.
const TOLERANCE: f64 = 0.05;

/// Receive-side scaling by the symmetric hash, with buckets that move in every period so that all cores have as much to do.
///
/// What a bucket costs is its share of its core's packets times the share of the period in which that core worked. Greedily, from the most loaded
/// core the heaviest bucket moves to the least loaded one, if that then has clearly less to do than the first one had: few moves, no exchange
/// of one bucket for another. A core that no move relieves, such as one with a single elephant, is left as it is, and the next one has its
/// turn, until none is above the mean by more than the tolerance. A core that drowns looks as if it had exactly one core's work, so that among
/// cores which all drown nothing moves. O(buckets × (buckets + cores)) in a period at most, O(1) for a packet.
///
/// A flow keeps its core while its bucket stays; with the bucket it moves at once, and its packets may overtake those that wait for
/// the core it had. The state of flows is where the hash says, wherever the bucket is: a function that regular packets only read needs no
/// migration of it. One that writes it with every packet would, so that this policy is not said to keep flows whole.
///
/// Source: T. Barbette et al., *RSS++: load and state-aware receive side scaling*, CoNEXT 2019. Departures: a greedy choice from heaviest to
/// lightest in place of the paper's optimisation with its bounded number of rounds; no migration of state.
#[derive(Clone, Debug)]
pub struct RssPlusPlus {
    indirection: [u16; BUCKETS],
    cores: usize,
    /// Packets of every bucket in this period.
    counts: [u64; BUCKETS],
    moves: u64,
}

impl RssPlusPlus {
    /// For so many cores, which take turns in the buckets at first.
    pub fn new(cores: usize) -> Self {
        let steering = Steering::new(cores);
        let indirection = std::array::from_fn(|bucket| steering.core_of_bucket(bucket) as u16);
        Self { indirection, cores: steering.cores(), counts: [0; BUCKETS], moves: 0 }
    }

    /// The core of every bucket, for a card or a program that dispatches in its place.
    pub fn indirection(&self) -> &[u16; BUCKETS] {
        &self.indirection
    }

    /// Tells that so many packets of a bucket were dispatched by this table elsewhere.
    pub fn sent(&mut self, bucket: usize, packets: u64) {
        self.counts[bucket % BUCKETS] += packets;
    }

    /// Number of buckets that moved so far.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Load that every bucket puts on its core, in shares of a core.
    fn costs(&self, busy: &[f64]) -> [f64; BUCKETS] {
        let mut packets = vec![0; self.cores];
        for (&core, &count) in self.indirection.iter().zip(&self.counts) {
            packets[usize::from(core)] += count;
        }
        std::array::from_fn(|bucket| {
            let core = usize::from(self.indirection[bucket]);
            if packets[core] == 0 {
                return 0.0;
            }
            busy[core] * self.counts[bucket] as f64 / packets[core] as f64
        })
    }

    /// Moves the heaviest bucket that can relieve the most loaded core of those that are not `done`, or says that this one is; whether there was a
    /// core above the mean.
    fn relieve(&mut self, loads: &mut [f64], costs: &[f64; BUCKETS], done: &mut [bool]) -> bool {
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let by_load = |a: &usize, b: &usize| loads[*a].total_cmp(&loads[*b]);
        let over = (0..self.cores).filter(|&core| !done[core] && loads[core] > mean + TOLERANCE);
        let (Some(most), Some(least)) = (over.max_by(by_load), (0..self.cores).min_by(by_load)) else {
            return false;
        };
        let relieves = |cost: f64| cost > 0.0 && loads[least] + cost + TOLERANCE < loads[most];
        let heaviest = (0..BUCKETS)
            .filter(|&bucket| usize::from(self.indirection[bucket]) == most && relieves(costs[bucket]))
            .max_by(|&a, &b| costs[a].total_cmp(&costs[b]).then(b.cmp(&a)));
        let Some(bucket) = heaviest else {
            // Nor will one later: the least loaded core only has more to do from now on.
            done[most] = true;
            return true;
        };
        self.indirection[bucket] = least as u16;
        self.moves += 1;
        loads[most] -= costs[bucket];
        loads[least] += costs[bucket];
        true
    }
}

impl Dispatch for RssPlusPlus {
    fn core(&mut self, packet: &Arrival, _now: Nanos) -> usize {
        let bucket = packet.bucket();
        self.counts[bucket] += 1;
        usize::from(self.indirection[bucket])
    }

    fn observe(&mut self, loads: &[Load], _now: Nanos) {
        if loads.len() == self.cores {
            let mut loads: Vec<f64> = loads.iter().map(|load| load.busy).collect();
            let costs = self.costs(&loads);
            let mut done = vec![false; self.cores];
            // Each step moves a bucket or is the last for its core.
            for _ in 0..BUCKETS + self.cores {
                if !self.relieve(&mut loads, &costs, &mut done) {
                    break;
                }
            }
        }
        self.counts = [0; BUCKETS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::tcp;

    /// The first flows of different buckets that one core has at first.
    fn neighbours(cores: usize, core: u16, count: usize) -> Vec<u32> {
        let rss = RssPlusPlus::new(cores);
        let mut seen = Vec::new();
        let fresh = |flow: &u32| {
            let bucket = tcp(*flow, 0).bucket();
            let fresh = rss.indirection[bucket] == core && !seen.contains(&bucket);
            if fresh {
                seen.push(bucket);
            }
            fresh
        };
        (0..10_000).filter(fresh).take(count).collect()
    }

    #[test]
    fn flows_that_collide_part_and_then_stay() {
        let flows = neighbours(4, 2, 3);
        let mut rss = RssPlusPlus::new(4);
        let send = |rss: &mut RssPlusPlus| -> Vec<usize> {
            (0..30).for_each(|at| _ = rss.core(&tcp(flows[at % 3], 0), Nanos(0)));
            flows.iter().map(|&flow| usize::from(rss.indirection[tcp(flow, 0).bucket()])).collect()
        };
        assert_eq!(send(&mut rss), [2; 3]);
        let load = |busy| Load { queued: 0, busy };
        rss.observe(&[load(0.0), load(0.0), load(1.0), load(0.0)], Nanos(0));
        let mut parted = send(&mut rss);
        assert_eq!(rss.moves(), 2);
        parted.sort_unstable();
        parted.dedup();
        assert_eq!(parted.len(), 3);
        // Equal loads: nothing moves, nor does a flow that is alone on its core.
        rss.observe(&[load(0.9); 4], Nanos(0));
        let busy: Vec<_> = (0..4).map(|core| load(if parted.contains(&core) { 1.0 } else { 0.0 })).collect();
        send(&mut rss);
        rss.observe(&busy, Nanos(0));
        assert_eq!(rss.moves(), 2);
    }

    #[test]
    fn an_elephant_does_not_keep_others_from_relief() {
        let mut rss = RssPlusPlus::new(4);
        let of = |rss: &RssPlusPlus, core: u16| -> Vec<usize> {
            (0..BUCKETS).filter(|&bucket| rss.indirection[bucket] == core).collect()
        };
        let (crowd, elephant) = (of(&rss, 2), of(&rss, 3)[0]);
        let send = |rss: &mut RssPlusPlus| {
            rss.sent(elephant, 1000);
            crowd[..10].iter().for_each(|&bucket| rss.sent(bucket, 100));
        };
        send(&mut rss);
        let load = |busy| Load { queued: 0, busy };
        rss.observe(&[load(0.0), load(0.0), load(0.97), load(1.0)], Nanos(0));
        assert!(rss.moves() > 0);
        assert_eq!(rss.indirection[elephant], 3);
        // Ten equal buckets on three cores: none has more than half of them left.
        for core in 0..3 {
            let count = crowd[..10].iter().filter(|&&bucket| rss.indirection[bucket] == core).count();
            assert!((2..=5).contains(&count), "core {core}: {count}");
        }
        // None but the elephant's core is above the mean now: nothing moves again.
        let moves = rss.moves();
        send(&mut rss);
        let share = |core: u16| {
            0.097 * crowd[..10].iter().filter(|&&bucket| rss.indirection[bucket] == core).count() as f64
        };
        let loads = [load(share(0)), load(share(1)), load(share(2)), load(1.0)];
        rss.observe(&loads, Nanos(0));
        assert_eq!(rss.moves(), moves);
    }
}
