//! Shares of a few users over time: what figures 4.1 and 4.8 of the thesis draw.

use trueplane_units::Nanos;

use crate::cluster::WHOLE;

/// The mean weighted dominant share of some users in every of some bins of time, all of one length but for the last.
#[derive(Clone, Debug)]
pub struct SharesOverTime {
    /// User by user, the row of its own, if it has one.
    rows: Vec<Option<u32>>,
    /// Row by row and bin by bin, ∫ share dt in ns times 1/[`WHOLE`].
    held: Vec<u128>,
    start: Nanos,
    end: Nanos,
    bins: usize,
    width: u64,
}

impl SharesOverTime {
    /// For `tracked` of `users` users, from `start` to `end` in at most `bins` bins, at least one.
    pub fn new(tracked: &[u32], users: usize, start: Nanos, end: Nanos, bins: usize) -> Self {
        let mut rows = vec![None; users];
        for (row, &user) in (0u32..).zip(tracked) {
            rows[user as usize] = Some(row);
        }
        let span = end.since(start).0;
        let width = span.div_ceil(bins.max(1) as u64).max(1);
        let bins = span.div_ceil(width).max(1) as usize;
        Self { rows, held: vec![0; tracked.len() * bins], start, end, bins, width }
    }

    /// `user` held `share`, in 1/[`WHOLE`], from `from` to `until`. O(1), and O(1) more for every bin that lies between.
    pub(super) fn add(&mut self, user: u32, share: u64, from: Nanos, until: Nanos) {
        let Some(row) = self.rows[user as usize] else { return };
        let (mut at, end) = (from.since(self.start).0, until.min(self.end).since(self.start).0);
        if share == 0 {
            return;
        }
        let row = &mut self.held[row as usize * self.bins..][..self.bins];
        while at < end {
            let bin = at / self.width;
            let next = (bin + 1).saturating_mul(self.width).min(end);
            row[bin as usize] += u128::from(share) * u128::from(next - at);
            at = next;
        }
    }

    /// The mean share of every bin for the user in `row`, from 0 to 1: where the middle of the bin lies, in ns since the start, and it.
    pub fn points(&self, row: usize) -> Vec<(f64, f64)> {
        let span = self.end.since(self.start).0;
        let bins = self.held[row * self.bins..][..self.bins].iter().zip(0u64..);
        bins.map(|(&held, bin)| {
            let (from, until) = (bin * self.width, (bin + 1).saturating_mul(self.width).min(span.max(1)));
            let share = held as f64 / (until - from) as f64 / WHOLE as f64;
            ((from as f64 + until as f64) / 2.0, share)
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_divided_among_the_bins_in_which_they_were_held() {
        let mut shares = SharesOverTime::new(&[2], 3, Nanos(100), Nanos(125), 3);
        shares.add(2, WHOLE / 2, Nanos(105), Nanos(120));
        shares.add(2, WHOLE, Nanos(120), Nanos(999));
        shares.add(1, WHOLE, Nanos(100), Nanos(125));
        // Bins of 9, 9 and 7 ns.
        let points = shares.points(0);
        let expected = [(4.5, 2.0 / 9.0), (13.5, 0.5), (21.5, 6.0 / 7.0)];
        assert_eq!(points.len(), expected.len());
        for (point, expected) in points.iter().zip(expected) {
            assert_eq!(point.0, expected.0);
            assert!((point.1 - expected.1).abs() < 1e-12, "{points:?}");
        }
    }

    #[test]
    fn no_time_at_all_is_one_bin() {
        let shares = SharesOverTime::new(&[0], 1, Nanos(7), Nanos(7), 100);
        assert_eq!(shares.points(0), [(0.5, 0.0)]);
    }
}
