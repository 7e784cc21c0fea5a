//! What happens to packets, counted by rank.

use trueplane_study::metrics::ratio;
use trueplane_units::{BitsPerSec, Nanos};

use crate::Packet;
use crate::batch_means::{BatchMeans, Sums};
use crate::bounds::{Moved, MovingBounds};
use crate::port::Tally;
use crate::scheduler::Examined;

/// Ranks are put together in so many bins at most, of one width.
pub const MOST_BINS: u64 = 200;

/// Counts of packets: arrivals = departures + drops once the port has drained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped, as they came or later.
    pub drops: u64,
    /// Departures while a packet of lower rank waited.
    pub inversions: u64,
    /// The weight of the inversions: rank of the leaving packet − smallest waiting rank.
    pub unpifoness: u128,
    /// Times from arrival to the start of the transmission.
    pub delay_ns: u128,
}

impl Counts {
    /// Adds what was counted for another rank.
    pub fn add(&mut self, other: &Self) {
        self.arrivals += other.arrivals;
        self.departures += other.departures;
        self.drops += other.drops;
        self.inversions += other.inversions;
        self.unpifoness += other.unpifoness;
        self.delay_ns += other.delay_ns;
    }

    /// The mean delay of what left; zero if nothing did.
    pub fn mean_delay_ns(&self) -> f64 {
        ratio(self.delay_ns, self.departures)
    }
}

/// The standard errors of what was measured, by batch means ([`BatchMeans`]); none for fewer than 512 packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Standard error of the inversions per departure.
    pub inversion_share: Option<f64>,
    /// Standard error of the unpifoness per departure.
    pub unpifoness_mean: Option<f64>,
    /// Standard error of the unpifoness per arrival that eq. 5 expects.
    pub expected_unpifoness: Option<f64>,
}

/// Counts of the packets of some neighbouring ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct RankRun {
    /// The smallest of the ranks.
    pub rank: u64,
    /// Number of these ranks.
    pub ranks: u64,
    /// Packets that came.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Departures while a packet of lower rank waited.
    pub inversions: u64,
    /// The weight of these inversions.
    pub unpifoness: u128,
    /// Mean time from arrival to the start of the transmission; none if nothing left.
    pub mean_delay_ns: Option<f64>,
}

/// Counts by rank, and of what came.
///
/// Of ranks below a known span every one has a place of its own. Where the span is not known beforehand places hold 2ᵏ neighbouring
/// ranks each: whenever a rank is beyond the last place, k grows by one and places are put together in pairs. What comes of it depends
/// on the largest rank alone, and is the same for all schedulers. Ranks that grow with time share one place.
pub struct ByRank {
    places: Box<[Counts]>,
    /// The logarithm k of the number of ranks in a place.
    shift: u32,
    folds: bool,
    model: Option<Model>,
    sums: Sums,
    batches: BatchMeans,
    /// Bytes that arrived, and the time of the last arrival.
    bytes: u64,
    last: Nanos,
}

/// The expected unpifoness (eq. 5) under the bounds that a scheduler has over time.
struct Model {
    /// Number of packets in the distribution.
    packets: u64,
    moving: MovingBounds,
    /// Whether the scheduler has bounds, as far as that was seen.
    has_bounds: bool,
    /// Arrivals under the bounds as they are that are not in the sums yet.
    arrivals: u64,
}

impl ByRank {
    /// For ranks that come as often as `counts` says; without it for ranks that grow with time, which are counted together.
    pub fn new(counts: Option<&[u64]>) -> Self {
        let model = counts.map(|counts| Model {
            packets: counts.iter().sum(),
            moving: MovingBounds::new(counts),
            has_bounds: false,
            arrivals: 0,
        });
        // Halves of all there is, which one place takes: the larger is beyond the last.
        let (places, shift) = counts.map_or((1, u64::BITS - 1), |counts| (counts.len().max(1), 0));
        Self::with_places(places, shift, model)
    }

    /// Makes counters for ranks that have an end, but not one that is known.
    pub fn folding() -> Self {
        Self { folds: true, ..Self::with_places(MOST_BINS as usize, 0, None) }
    }

    fn with_places(places: usize, shift: u32, model: Option<Model>) -> Self {
        Self {
            places: vec![Counts::default(); places].into(),
            shift,
            folds: false,
            model,
            sums: Sums::default(),
            batches: BatchMeans::default(),
            bytes: 0,
            last: Nanos(0),
        }
    }

    /// All ranks together.
    pub fn total(&self) -> Counts {
        sum(&self.places)
    }

    /// Load that arrived until the last arrival, as a share of what a line of `rate` could have sent by then; none if that is no time at
    /// all.
    pub fn offered_load(&self, rate: BitsPerSec) -> Option<f64> {
        let could = self.last.0 as f64 * rate.0 as f64;
        (could > 0.0).then(|| self.bytes as f64 * 8e9 / could)
    }

    /// The unpifoness that eq. 5 expects of a packet under the bounds after each arrival, averaged over all arrivals. Exact.
    pub fn expected_unpifoness(&self) -> Option<f64> {
        let model = self.seen()?;
        let arrivals = self.sums.arrivals;
        let mut sums = self.sums;
        model.add_to(&mut sums);
        (arrivals > 0).then(|| model.per_pair(sums.expected as f64 / arrivals as f64))
    }

    /// Standard errors of the measurements.
    pub fn errors(&self) -> Errors {
        let per_departure = |what: fn(&Sums) -> f64| self.batches.error(what, |sums| sums.departures as f64);
        let expected = |model: &Model| {
            self.batches.error(|sums| model.per_pair(sums.expected as f64), |sums| sums.arrivals as f64)
        };
        Errors {
            inversion_share: per_departure(|sums| sums.inversions as f64),
            unpifoness_mean: per_departure(|sums| sums.unpifoness as f64),
            expected_unpifoness: self.seen().and_then(expected),
        }
    }

    /// Closes a batch.
    #[cold]
    fn close(&mut self) {
        if let Some(model) = &mut self.model {
            model.add_to(&mut self.sums);
            model.arrivals = 0;
        }
        self.batches.close(&self.sums);
    }

    /// The model, if the scheduler has bounds.
    fn seen(&self) -> Option<&Model> {
        self.model.as_ref().filter(|model| model.has_bounds)
    }

    /// The counts in at most [`MOST_BINS`] bins of equally many ranks, up to the last of the span or the last that came; empty for
    /// ranks that grow with time.
    pub fn bins(&self) -> Vec<RankRun> {
        let used = match &self.model {
            Some(_) => self.places.len(),
            None if self.folds => {
                self.places.iter().rposition(|place| place.arrivals > 0).map_or(0, |last| last + 1)
            }
            None => 0,
        };
        let width = used.div_ceil(MOST_BINS as usize).max(1);
        let bin = |(number, places): (u64, &[Counts])| {
            let sum = sum(places);
            RankRun {
                rank: (number * width as u64) << self.shift,
                ranks: (places.len() as u64) << self.shift,
                arrivals: sum.arrivals,
                departures: sum.departures,
                drops: sum.drops,
                inversions: sum.inversions,
                unpifoness: sum.unpifoness,
                mean_delay_ns: (sum.departures > 0).then(|| sum.mean_delay_ns()),
            }
        };
        (0..).zip(self.places[..used].chunks(width)).map(bin).collect()
    }

    #[inline]
    fn at(&mut self, packet: &Packet) -> &mut Counts {
        let place = packet.rank.0 >> self.shift;
        if place < self.places.len() as u64 {
            return &mut self.places[place as usize];
        }
        self.beyond(packet.rank.0)
    }

    /// Beyond the last place.
    #[cold]
    fn beyond(&mut self, rank: u64) -> &mut Counts {
        while self.folds && rank >> self.shift >= self.places.len() as u64 {
            for place in 0..self.places.len() {
                self.places[place] =
                    sum(self.places.get(2 * place..).map_or(&[], |pair| &pair[..pair.len().min(2)]));
            }
            self.shift += 1;
        }
        let last = self.places.len() - 1;
        &mut self.places[((rank >> self.shift) as usize).min(last)]
    }
}

fn sum(counts: &[Counts]) -> Counts {
    let mut sum = Counts::default();
    counts.iter().for_each(|counts| sum.add(counts));
    sum
}

impl<S: Examined> Tally<S> for ByRank {
    #[inline]
    fn arrives(&mut self, packet: &Packet) {
        self.at(packet).arrivals += 1;
        self.sums.arrivals += 1;
        self.bytes += u64::from(packet.bytes);
        self.last = packet.arrival;
    }

    #[inline]
    fn drops(&mut self, packet: &Packet) {
        self.at(packet).drops += 1;
    }

    #[inline]
    fn departs(&mut self, packet: &Packet, start: Nanos, smallest: Option<u64>) {
        let rank = packet.rank.0;
        let counts = self.at(packet);
        counts.departures += 1;
        counts.delay_ns += u128::from(start.since(packet.arrival).0);
        if let Some(smallest) = smallest.filter(|&smallest| smallest < rank) {
            let weight = u128::from(rank - smallest);
            counts.inversions += 1;
            counts.unpifoness += weight;
            self.sums.inversions += 1;
            self.sums.unpifoness += weight;
        }
        self.sums.departures += 1;
    }

    #[inline]
    fn looks(&mut self, scheduler: &S) {
        if let Some(model) = &mut self.model {
            model.look(scheduler, &mut self.sums);
        }
        if self.batches.arrived() {
            self.close();
        }
    }
}

impl Model {
    /// Counts an arrival under the bounds as they are after it.
    #[inline]
    fn look<S: Examined>(&mut self, scheduler: &S, sums: &mut Sums) {
        let moved = if self.has_bounds { scheduler.moved() } else { Moved::All };
        if moved != Moved::Nothing
            && let Some(bounds) = scheduler.bounds()
        {
            self.add_to(sums);
            self.arrivals = 0;
            self.has_bounds = true;
            match moved {
                Moved::Bound(queue) => self.moving.move_one(queue, bounds[queue]),
                Moved::Nothing | Moved::All => self.moving.set(bounds),
            };
        }
        self.arrivals += 1;
    }

    /// Adds what is expected of the arrivals that are not in the sums yet.
    #[inline]
    fn add_to(&self, sums: &mut Sums) {
        sums.expected += self.moving.unpifoness() * u128::from(self.arrivals);
    }

    /// Unpifoness per pair of packets that are drawn from the distribution.
    fn per_pair(&self, unpifoness: f64) -> f64 {
        unpifoness / (self.packets.max(1) as f64).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_units::Rank;

    use super::*;
    use crate::policy::Pifo;

    fn packet(rank: u64, arrival: u64) -> Packet {
        Packet { rank: Rank(rank), flow: 0, bytes: 1000, handle: 0, arrival: Nanos(arrival) }
    }

    fn arrives(tally: &mut ByRank, packet: &Packet) {
        Tally::<Pifo>::arrives(tally, packet);
    }

    proptest! {
        /// Whatever comes first, places are in the end as wide as the largest rank needs, and nothing is lost on the way.
        #[test]
        fn folded_places_are_bins_of_the_largest_rank(
            ranks in prop::collection::vec(prop_oneof![0..300u64, 0..100_000u64, Just(u64::MAX)], 1..60),
        ) {
            let mut tally = ByRank::folding();
            for &rank in &ranks {
                arrives(&mut tally, &packet(rank, 0));
                Tally::<Pifo>::departs(&mut tally, &packet(rank, 0), Nanos(7), rank.checked_sub(1));
            }
            let most = ranks.iter().copied().max().unwrap();
            let shift = (0..u64::BITS).find(|shift| most >> shift < MOST_BINS).unwrap();
            let bins = tally.bins();
            prop_assert_eq!(bins.len() as u64, (most >> shift) + 1);
            for (number, bin) in (0..).zip(&bins) {
                let inside = ranks.iter().filter(|&&rank| rank >> shift == number);
                let inversions = inside.clone().filter(|&&rank| rank > 0).count() as u64;
                prop_assert_eq!((bin.rank, bin.ranks), (number << shift, 1 << shift));
                prop_assert_eq!((bin.arrivals, bin.departures), (inside.clone().count() as u64, bin.arrivals));
                prop_assert_eq!((bin.inversions, bin.unpifoness), (inversions, inversions.into()));
                prop_assert_eq!(bin.mean_delay_ns, (bin.departures > 0).then_some(7.0));
            }
        }
    }

    #[test]
    fn growing_ranks_are_counted_together() {
        let mut tally = ByRank::new(None);
        [0, 1 << 40, u64::MAX].into_iter().for_each(|rank| arrives(&mut tally, &packet(rank, 1000)));
        assert_eq!((tally.total().arrivals, tally.bins()), (3, Vec::new()));
        // 24,000 bits in a microsecond.
        assert_eq!(tally.offered_load(BitsPerSec(48_000_000_000)), Some(0.5));
        assert_eq!(ByRank::folding().offered_load(BitsPerSec(1)), None);
        assert!(ByRank::folding().bins().is_empty());
    }
}
