//! Hashing, until a core drowns while others idle.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch, Load};
use crate::Steering;
use crate::steering::BUCKETS;

/// Parts of a bucket, which its packets are in by the low byte of their checksum.
pub const WAYS: usize = 256;

/// A core drowns if it worked for this share of a period,
const DROWNS: f64 = 0.95;
/// or so many packets wait for it: half of the 512 descriptors that rings of cards have by default.
const WAIT: u32 = 256;
/// A core has room if it worked for this share of a period at most. Then it handles no fewer packets than before even if what is added drowns it and
/// costs twice as much there as at home.
const ROOM: f64 = 0.5;
/// A bucket goes home if its core would then work for this share of a period at most,
const FITS: f64 = 0.7;
/// and this was so for as many periods in a row.
const CALM: u32 = 8;

/// Symmetric [`Rss`](super::Rss), but for buckets that are too much for their core while others have room: packets of TCP in these are sprayed by
/// their checksum over that core and those others.
///
/// Each bucket has [`WAYS`] ways, all of which lead to its *home*, the core of its hash, at first. In every period:
///
/// 1. A core *drowns* if it worked for 95% of it, or 256 packets wait; it *has room* if it worked for half of it at most, and room is the rest.
/// 2. If some drown, each may use the same share of all the room, r cores. It sheds r/(1 + r) of its packets, so that it and the room given to it are
///    filled alike: first ways of buckets that are sprayed already, then of the heaviest others, dealt out to the cores with room in
///    proportion to that.
/// 3. A bucket goes home when for eight periods in a row none drowned and its home would have worked for 70% at most with the whole bucket: below
///    95%, so that it does not turn to and fro.
///
/// So it hashes as long as that is enough, keeps its hands off cores that are busy themselves, and reorders none but the flows that drown a core.
/// It needs no more than a hash that is balanced where all cores drown, and as much as [`Spray`](super::Spray) gives to a single flow a period later.
/// What is not TCP always goes home. O(1) for a packet; O(ways × buckets) in a period at most.
///
/// Source: ours; buckets that have counters and move by load are RSS++'s (see [`RssPlusPlus`](super::RssPlusPlus)).
#[derive(Clone, Debug)]
pub struct Adaptive {
    steering: Steering,
    ways: Box<[[u8; WAYS]; BUCKETS]>,
    /// Packets of each bucket in this period, by whether they can be sprayed.
    counts: [Counts; BUCKETS],
    /// Whether a bucket is sprayed, and for how many periods it would have fitted its home.
    sprayed: [Option<u32>; BUCKETS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sprayable: u64,
    fixed: u64,
}

impl Adaptive {
    /// Adaptive spraying over `cores` cores.
    pub fn new(cores: usize) -> Self {
        let steering = Steering::new(cores);
        let ways = std::array::from_fn(|bucket| [steering.core_of_bucket(bucket) as u8; WAYS]);
        Self {
            steering,
            ways: Box::new(ways),
            counts: [Counts::default(); BUCKETS],
            sprayed: [None; BUCKETS],
        }
    }

    /// The core of every way of every bucket, for a program that dispatches in its place. What is not TCP goes to the home of its bucket, that of
    /// [`Steering`].
    pub fn ways(&self) -> &[[u8; WAYS]; BUCKETS] {
        &self.ways
    }

    /// Tells that so many packets of a bucket were dispatched by these ways elsewhere, and so many that are not TCP.
    pub fn sent(&mut self, bucket: usize, tcp: u64, others: u64) {
        let counts = &mut self.counts[bucket % BUCKETS];
        counts.sprayable += tcp;
        counts.fixed += others;
    }

    /// Number of buckets that are sprayed.
    pub fn sprayed(&self) -> usize {
        self.sprayed.iter().flatten().count()
    }

    fn home(&self, bucket: usize) -> usize {
        self.steering.core_of_bucket(bucket)
    }

    /// Ways of a bucket that lead to `core`.
    fn ways_to(&self, bucket: usize, core: usize) -> usize {
        self.ways[bucket].iter().filter(|&&way| usize::from(way) == core).count()
    }

    /// Packets of a bucket that went to `core`, as its ways have it.
    fn packets(&self, bucket: usize, core: usize) -> f64 {
        let Counts { sprayable, fixed } = self.counts[bucket];
        let fixed = if self.home(bucket) == core { fixed as f64 } else { 0.0 };
        let sprayed = match (sprayable, self.sprayed[bucket]) {
            (0, _) => 0.0,
            (all, None) if self.home(bucket) == core => all as f64,
            (_, None) => 0.0,
            (all, Some(_)) => all as f64 * self.ways_to(bucket, core) as f64 / WAYS as f64,
        };
        sprayed + fixed
    }

    /// Sheds from `core` its share `shed` of packets to `helpers`, each with its weight.
    fn relieve(&mut self, core: usize, shed: f64, helpers: &[(usize, f64)]) {
        let mut there: Vec<(usize, f64)> = (0..BUCKETS)
            .map(|bucket| (bucket, self.packets(bucket, core)))
            .filter(|&(bucket, packets)| packets > 0.0 && self.counts[bucket].sprayable > 0)
            .collect();
        let sprayed = |bucket: usize| self.sprayed[bucket].is_some();
        there.sort_by(|a, b| sprayed(b.0).cmp(&sprayed(a.0)).then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0)));
        let mut left = shed * (0..BUCKETS).map(|bucket| self.packets(bucket, core)).sum::<f64>();
        let mut deal = Deal::new(helpers);
        for (bucket, _) in there {
            let of_a_way = self.counts[bucket].sprayable as f64 / WAYS as f64;
            let ways = ((left / of_a_way).round() as usize).min(self.ways_to(bucket, core));
            if ways == 0 {
                break;
            }
            self.sprayed[bucket].get_or_insert(0);
            let leading = self.ways[bucket].iter_mut().filter(|way| usize::from(**way) == core);
            leading.take(ways).for_each(|way| *way = deal.next() as u8);
            left -= ways as f64 * of_a_way;
        }
    }

    /// Sends buckets home that fit there again.
    fn calm(&mut self, loads: &[Load]) {
        let totals: Vec<f64> = (0..loads.len())
            .map(|core| (0..BUCKETS).map(|bucket| self.packets(bucket, core)).sum())
            .collect();
        let share = |this: &Self, bucket, core: usize| match totals[core] {
            0.0 => 0.0,
            total => loads[core].busy * this.packets(bucket, core) / total,
        };
        let mut busy: Vec<f64> = loads.iter().map(|load| load.busy).collect();
        for bucket in 0..BUCKETS {
            let Some(calm) = self.sprayed[bucket] else { continue };
            let home = self.home(bucket);
            let elsewhere: f64 =
                (0..loads.len()).filter(|&core| core != home).map(|core| share(self, bucket, core)).sum();
            if busy[home] + elsewhere > FITS {
                self.sprayed[bucket] = Some(0);
            } else if calm + 1 < CALM {
                self.sprayed[bucket] = Some(calm + 1);
            } else {
                busy[home] += elsewhere;
                self.sprayed[bucket] = None;
                self.ways[bucket] = [home as u8; WAYS];
            }
        }
    }
}

/// Deals out ways in proportion to weights: the next one to whom the most is owed.
struct Deal {
    /// Core, its share, and what it is owed.
    helpers: Vec<(usize, f64, f64)>,
}

impl Deal {
    fn new(helpers: &[(usize, f64)]) -> Self {
        let total: f64 = helpers.iter().map(|(_, weight)| weight).sum();
        Self { helpers: helpers.iter().map(|&(core, weight)| (core, weight / total, 0.0)).collect() }
    }

    fn next(&mut self) -> usize {
        let mut most = 0;
        for at in 0..self.helpers.len() {
            self.helpers[at].2 += self.helpers[at].1;
            if self.helpers[at].2 > self.helpers[most].2 {
                most = at;
            }
        }
        self.helpers[most].2 -= 1.0;
        self.helpers[most].0
    }
}

impl Dispatch for Adaptive {
    fn core(&mut self, packet: &Arrival, _now: Nanos) -> usize {
        let bucket = packet.bucket();
        match packet.checksum {
            Some(checksum) => {
                self.counts[bucket].sprayable += 1;
                usize::from(self.ways[bucket][usize::from(checksum) % WAYS])
            }
            None => {
                self.counts[bucket].fixed += 1;
                self.home(bucket)
            }
        }
    }

    fn observe(&mut self, loads: &[Load], _now: Nanos) {
        if loads.len() == self.steering.cores() {
            let drowns = |load: &Load| load.busy >= DROWNS || load.queued >= WAIT;
            let drowning: Vec<usize> = (0..loads.len()).filter(|&core| drowns(&loads[core])).collect();
            let roomy: Vec<(usize, f64)> = (0..loads.len())
                .filter(|&core| loads[core].busy <= ROOM && !drowns(&loads[core]))
                .map(|core| (core, 1.0 - loads[core].busy))
                .collect();
            if drowning.is_empty() {
                self.calm(loads);
            } else {
                self.sprayed.iter_mut().flatten().for_each(|calm| *calm = 0);
                let room = roomy.iter().map(|(_, room)| room).sum::<f64>() / drowning.len() as f64;
                for core in drowning.into_iter().filter(|_| room > 0.0) {
                    self.relieve(core, room / (1.0 + room), &roomy);
                }
            }
        }
        self.counts = [Counts::default(); BUCKETS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::tcp;

    fn period(adaptive: &mut Adaptive, flows: &[u32], busy: &[f64]) -> Vec<Vec<usize>> {
        let mut received = vec![vec![0; busy.len()]; flows.len()];
        for (&flow, received) in flows.iter().zip(&mut received) {
            (0..1024).for_each(|checksum| received[adaptive.core(&tcp(flow, checksum), Nanos(0))] += 1);
        }
        let loads: Vec<_> = busy.iter().map(|&busy| Load { queued: 0, busy }).collect();
        adaptive.observe(&loads, Nanos(0));
        received
    }

    fn at(core: usize, busy: f64) -> [f64; 4] {
        std::array::from_fn(|at| if at == core { busy } else { 0.0 })
    }

    #[test]
    fn a_flow_that_drowns_its_core_is_sprayed_and_goes_home_when_it_fits() {
        let mut adaptive = Adaptive::new(4);
        let home = Steering::new(4).designated(&tcp(1, 0).flow.unwrap());
        assert_eq!(period(&mut adaptive, &[1], &at(home, 0.94))[0][home], 1024);
        assert_eq!(period(&mut adaptive, &[1], &at(home, 0.95))[0][home], 1024);
        assert_eq!(adaptive.sprayed(), 1);
        // As much as its core can do was not known: evenly over all.
        assert_eq!(period(&mut adaptive, &[1], &[0.2; 4])[0], [256; 4]);
        // 0.8 of its home: above what fits.
        (0..50).for_each(|_| _ = period(&mut adaptive, &[1], &[0.2; 4]));
        assert_eq!(adaptive.sprayed(), 1);
        (0..7).for_each(|_| _ = period(&mut adaptive, &[1], &[0.17; 4]));
        assert_eq!(adaptive.sprayed(), 1);
        period(&mut adaptive, &[1], &[0.17; 4]);
        assert_eq!(adaptive.sprayed(), 0);
        assert_eq!(period(&mut adaptive, &[1], &at(home, 0.68))[0][home], 1024);
    }

    #[test]
    fn cores_without_room_are_left_alone() {
        let mut adaptive = Adaptive::new(4);
        let home = Steering::new(4).designated(&tcp(1, 0).flow.unwrap());
        let (busy, free) = ((home + 1) % 4, (home + 2) % 4);
        let mut loads = [0.6; 4];
        loads[home] = 1.0;
        period(&mut adaptive, &[1], &loads);
        assert_eq!(adaptive.sprayed(), 0);
        loads[free] = 0.0;
        period(&mut adaptive, &[1], &loads);
        let received = period(&mut adaptive, &[1], &loads);
        assert_eq!((received[0][home], received[0][free], received[0][busy]), (512, 512, 0));
        // All drown: nothing to be gained.
        let before = adaptive.ways.clone();
        period(&mut adaptive, &[1], &[1.0; 4]);
        assert_eq!(adaptive.ways, before);
    }

    #[test]
    fn what_is_not_tcp_stays_at_home() {
        let mut adaptive = Adaptive::new(4);
        let packet = Arrival { checksum: None, ..tcp(1, 0) };
        let home = Steering::new(4).designated(&packet.flow.unwrap());
        for _ in 0..100 {
            assert_eq!(adaptive.core(&packet, Nanos(0)), home);
        }
        adaptive.observe(&at(home, 1.0).map(|busy| Load { queued: 0, busy }), Nanos(0));
        assert_eq!(adaptive.sprayed(), 0);
    }
}
