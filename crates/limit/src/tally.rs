//! Counts of what became of packets, as a whole and over time.

use trueplane_units::Bytes;

use crate::Verdict;

/// Counts of packets and bytes: arrived = passed + marked + dropped, of either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All packets.
    pub arrived_packets: u64,
    /// Packets that were let through untouched.
    pub passed_packets: u64,
    /// Packets that were let through and marked.
    pub marked_packets: u64,
    /// Packets that were not let through.
    pub dropped_packets: u64,
    /// Bytes of all packets.
    pub arrived_bytes: u64,
    /// Bytes that were let through untouched.
    pub passed_bytes: u64,
    /// Bytes that were let through and marked.
    pub marked_bytes: u64,
    /// Bytes that were not let through.
    pub dropped_bytes: u64,
}

impl Counts {
    /// Counts a packet.
    #[inline]
    pub fn add(&mut self, verdict: Verdict, bytes: u32) {
        self.arrived_packets += 1;
        self.arrived_bytes += u64::from(bytes);
        let (packets, sum) = match verdict {
            Verdict::Pass => (&mut self.passed_packets, &mut self.passed_bytes),
            Verdict::Mark => (&mut self.marked_packets, &mut self.marked_bytes),
            Verdict::Drop => (&mut self.dropped_packets, &mut self.dropped_bytes),
        };
        *packets += 1;
        *sum += u64::from(bytes);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.arrived_packets += other.arrived_packets;
        self.passed_packets += other.passed_packets;
        self.marked_packets += other.marked_packets;
        self.dropped_packets += other.dropped_packets;
        self.arrived_bytes += other.arrived_bytes;
        self.passed_bytes += other.passed_bytes;
        self.marked_bytes += other.marked_bytes;
        self.dropped_bytes += other.dropped_bytes;
    }

    /// Bytes that were let through.
    pub fn admitted_bytes(&self) -> u64 {
        self.passed_bytes + self.marked_bytes
    }

    /// The share of its bytes that was dropped; zero of nothing.
    pub fn drop_share(&self) -> f64 {
        share(self.dropped_bytes, self.arrived_bytes)
    }
}

/// `part / whole`, zero of nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A stretch of time in which something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Number of the stretch, counted from zero.
    pub bin: u64,
    /// Packets of the stretch, by what became of them.
    pub counts: Counts,
    /// Highest occupancy of the class's fullest bucket, where the policy can tell.
    pub occupancy_max_bytes: u64,
}

/// Counts over time: the bins in which something happened, in order.
#[derive(Clone, Debug, Default)]
pub struct Series(Vec<Bin>);

impl Series {
    /// The bin with this number, which is not before that of an earlier call; whether it is new.
    pub fn at(&mut self, bin: u64) -> (&mut Bin, bool) {
        let is_new = self.0.last().is_none_or(|last| last.bin < bin);
        if is_new {
            self.0.push(Bin { bin, ..Bin::default() });
        }
        (self.0.last_mut().expect("one was just pushed if there was none"), is_new)
    }

    /// All bins in which something happened.
    pub fn bins(&self) -> &[Bin] {
        &self.0
    }

    /// The most bytes in one bin, of those that `of` takes from it.
    pub fn peak(&self, of: impl Fn(&Bin) -> u64) -> Bytes {
        Bytes(self.0.iter().map(of).max().unwrap_or(0))
    }

    /// Every `width` bins of the first `total` made into one: `add` puts a bin into what has come together.
    pub fn coarse(&self, total: u64, width: u64, add: impl Fn(u64, &Bin) -> u64) -> Vec<u64> {
        let mut coarse = vec![0; usize::try_from(total.div_ceil(width)).unwrap_or(0)];
        for bin in &self.0 {
            let index = usize::try_from(bin.bin / width).unwrap_or(usize::MAX);
            if let Some(sum) = coarse.get_mut(index) {
                *sum = add(*sum, bin);
            }
        }
        coarse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_passes_is_marked_or_dropped() {
        let mut counts = Counts::default();
        for (verdict, bytes) in
            [(Verdict::Pass, 100), (Verdict::Mark, 200), (Verdict::Drop, 300), (Verdict::Drop, 400)]
        {
            counts.add(verdict, bytes);
        }
        assert_eq!((counts.passed_packets, counts.marked_packets, counts.dropped_packets), (1, 1, 2));
        assert_eq!((counts.arrived_packets, counts.arrived_bytes, counts.admitted_bytes()), (4, 1_000, 300));
        assert_eq!(counts.drop_share(), 0.7);
        let mut twice = counts;
        twice.merge(&counts);
        assert_eq!((twice.arrived_bytes, twice.dropped_packets), (2_000, 4));
    }

    #[test]
    fn silent_bins_take_no_room_and_are_drawn_as_nothing() {
        let mut series = Series::default();
        for (bin, bytes) in [(0, 10), (0, 20), (3, 40), (1_000_000, 5)] {
            series.at(bin).0.counts.add(Verdict::Pass, bytes);
        }
        assert_eq!(series.bins().len(), 3);
        assert_eq!(series.peak(|bin| bin.counts.arrived_bytes), Bytes(40));
        let sum = |sum: u64, bin: &Bin| sum + bin.counts.arrived_bytes;
        assert_eq!(series.coarse(5, 2, sum), [30, 40, 0]);
    }
}
