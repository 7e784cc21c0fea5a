//! What is counted of the packets that come out.

use trueplane_study::metrics::{Distribution, ratio};

/// Packets with so many later ones right before them make a sender of TCP believe in a loss: three duplicate acknowledgements (RFC 5681 §3.2).
const DUPLICATES: usize = 3;

/// Delivery of a flow so far.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Offered and delivered in the time that counts.
    offered: u64,
    delivered: u64,
    /// One more than the largest number that came out (NextExp of RFC 4737 §3.3).
    next: u32,
    /// The numbers that came out last, each with one added.
    last: [u32; DUPLICATES],
}

/// Counts what comes out, as long as it counts.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    flows: Vec<Flow>,
    /// Start and end of the time in which it counts, in picoseconds.
    from: u64,
    to: u64,
    /// Delivered packets that are no copies.
    judged: u64,
    reordered: u64,
    late: u64,
    latency: Distribution,
    /// Jain's index, once nothing more comes.
    closed: Option<f64>,
}

impl Tally {
    /// Counts from one time to another, in picoseconds.
    pub(super) fn new(from: u64, to: u64) -> Self {
        Self {
            flows: Vec::new(),
            from,
            to,
            judged: 0,
            reordered: 0,
            late: 0,
            latency: Distribution::default(),
            closed: None,
        }
    }

    fn flow(&mut self, flow: u32) -> &mut Flow {
        let flow = flow as usize;
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, Flow::default());
        }
        &mut self.flows[flow]
    }

    /// A packet came.
    pub(super) fn offered(&mut self, flow: u32, at: u64) {
        let counts = (self.from..self.to).contains(&at);
        self.flow(flow).offered += u64::from(counts);
    }

    /// A packet went, `at`, that had come at `came`. O(1).
    pub(super) fn delivered(&mut self, flow: u32, sequence: u32, came: u64, at: u64) {
        let counts = (self.from..self.to).contains(&at);
        let of = self.flow(flow);
        let number = sequence + 1;
        let is_reordered = number <= of.next;
        let is_late = of.last.iter().all(|&last| last > number);
        of.next = of.next.max(number);
        of.last.rotate_left(1);
        of.last[DUPLICATES - 1] = number;
        if counts {
            of.delivered += 1;
            self.judged += 1;
            self.reordered += u64::from(is_reordered);
            self.late += u64::from(is_late);
            self.latency.record((at - came) / 1000);
        }
    }

    /// A copy of a packet went, `at`, that had come at `came`. It is no part of the order of its flow. O(1).
    pub(super) fn delivered_copy(&mut self, flow: u32, came: u64, at: u64) {
        if (self.from..self.to).contains(&at) {
            self.flow(flow).delivered += 1;
            self.latency.record((at - came) / 1000);
        }
    }

    /// Nothing more comes: forgets the flows, since the tallies of all runs are kept.
    pub(super) fn close(&mut self) {
        self.closed = Some(self.jain());
        self.flows = Vec::new();
    }

    /// The share of packets that come out after a later one of their flow: Type-P-Reordered-Ratio (RFC 4737 §4.1).
    pub(super) fn reordered(&self) -> f64 {
        ratio(self.reordered.into(), self.judged)
    }

    /// The share of those that come out right after three later ones: 3-reordering (RFC 4737 §5.4).
    pub(super) fn late(&self) -> f64 {
        ratio(self.late.into(), self.judged)
    }

    /// Nanoseconds from in to out that one in a hundred packets exceeds.
    pub(super) fn p99(&self) -> u64 {
        self.latency.quantile(0.99)
    }

    /// The mean of all nanoseconds.
    #[cfg(test)]
    pub(super) fn mean(&self) -> f64 {
        self.latency.mean()
    }

    /// Nanoseconds that half of the packets exceed.
    pub(super) fn median(&self) -> u64 {
        self.latency.quantile(0.5)
    }

    /// Jain's index over the shares of their packets that flows get through; 1 without any.
    pub(super) fn jain(&self) -> f64 {
        if let Some(closed) = self.closed {
            return closed;
        }
        let offered = self.flows.iter().filter(|flow| flow.offered > 0);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for flow in offered {
            let share = flow.delivered as f64 / flow.offered as f64;
            sum += share;
            squares += share * share;
            count += 1.0;
        }
        if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: &[u32]) -> Tally {
        let mut tally = Tally::new(0, 1000);
        for (at, &sequence) in order.iter().enumerate() {
            tally.offered(0, at as u64);
            tally.delivered(0, sequence, at as u64, at as u64);
        }
        tally
    }

    #[test]
    fn reordering_is_that_of_the_rfc() {
        assert_eq!((of(&[0, 1, 2, 3]).reordered(), of(&[]).reordered()), (0.0, 0.0));
        // RFC 4737 §7.1: packet 4 of ten after packet 5: one reordered. §7.3: 5, 6 and 7 behind 8, 9 and 10.
        let one = of(&[0, 1, 2, 4, 3, 5, 6, 7, 8, 9]);
        assert_eq!((one.reordered, one.late), (1, 0));
        let three = of(&[0, 1, 2, 3, 7, 8, 9, 4, 5, 6]);
        // Of these, only the first has three later ones right before it.
        assert_eq!((three.reordered, three.late), (3, 1));
        assert_eq!(three.late(), 0.1);
        // A loss is none.
        assert_eq!(of(&[0, 5, 6, 9]).reordered(), 0.0);
        // Nor is a copy.
        let mut doubled = of(&[0, 1, 2, 3]);
        doubled.delivered_copy(0, 9, 10);
        assert_eq!((doubled.judged, doubled.reordered, doubled.late), (4, 0, 0));
        assert_eq!(doubled.flows[0].delivered, 5);
    }

    #[test]
    fn jains_index_is_of_shares() {
        let mut tally = Tally::new(0, 1000);
        for flow in 0..4 {
            (0..2 * (flow + 1)).for_each(|at| tally.offered(flow, at.into()));
            (0..flow + 1).for_each(|at| tally.delivered(flow, at, 0, 1));
        }
        assert!((tally.jain() - 1.0).abs() < 1e-12);
        tally.flows[0].delivered = 0;
        assert!((tally.jain() - 0.75).abs() < 1e-12);
        tally.close();
        assert!((tally.jain() - 0.75).abs() < 1e-12 && tally.flows.is_empty());
        assert_eq!(Tally::new(0, 1).jain(), 1.0);
    }
}
