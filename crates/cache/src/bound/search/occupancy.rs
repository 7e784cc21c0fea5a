//! How much is held at every gap, for quick changes and questions over stretches of gaps.

/// A segment tree of sums under a stretch and the maximum over a stretch, both O(log n).
///
/// The nodes lie in one array, the children of i at 2 i and 2 i + 1. What is added to all of a node's gaps stays at the node.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    leaves: usize,
    /// The maximum under each node, with what was added at the node and below, but not above.
    most: Vec<i64>,
    added: Vec<i64>,
}

impl Occupancy {
    /// Nothing is held at any of `gaps`.
    pub(super) fn new(gaps: usize) -> Self {
        // One leaf more at either end, so that every stretch lies between two leaves.
        let leaves = (gaps + 2).next_power_of_two();
        Self { leaves, most: vec![0; 2 * leaves], added: vec![0; leaves] }
    }

    /// Holds `amount` more at the gaps from `first` to `last`, both included.
    pub(super) fn add(&mut self, first: u32, last: u32, amount: i64) {
        let (mut left, mut right) = self.between(first, last);
        while left ^ right != 1 {
            if left & 1 == 0 {
                self.add_at(left ^ 1, amount);
            }
            if right & 1 == 1 {
                self.add_at(right ^ 1, amount);
            }
            (left, right) = (left >> 1, right >> 1);
            self.renew(left);
            self.renew(right);
        }
        while left > 1 {
            left >>= 1;
            self.renew(left);
        }
    }

    /// The most that is held at any gap from `first` to `last`, both included.
    pub(super) fn most(&self, first: u32, last: u32) -> i64 {
        let (mut left, mut right) = self.between(first, last);
        let (mut most_left, mut most_right) = (i64::MIN / 2, i64::MIN / 2);
        while left ^ right != 1 {
            if left & 1 == 0 {
                most_left = most_left.max(self.most[left ^ 1]);
            }
            if right & 1 == 1 {
                most_right = most_right.max(self.most[right ^ 1]);
            }
            (left, right) = (left >> 1, right >> 1);
            most_left += self.added[left];
            most_right += self.added[right];
        }
        let mut most = most_left.max(most_right);
        while left > 1 {
            left >>= 1;
            most += self.added[left];
        }
        most
    }

    /// The leaves on either side of a stretch.
    fn between(&self, first: u32, last: u32) -> (usize, usize) {
        (self.leaves + first as usize, self.leaves + last as usize + 2)
    }

    fn add_at(&mut self, node: usize, amount: i64) {
        self.most[node] += amount;
        if node < self.leaves {
            self.added[node] += amount;
        }
    }

    fn renew(&mut self, node: usize) {
        self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]) + self.added[node];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_an_array(gaps in 1u32..40, stretches in prop::collection::vec((0u32..40, 0u32..40, -5i64..9), 1..60)) {
            let mut tree = Occupancy::new(gaps as usize);
            let mut array = vec![0; gaps as usize];
            for (a, b, amount) in stretches {
                let (first, last) = (a.min(b) % gaps, a.max(b) % gaps);
                let (first, last) = (first.min(last), first.max(last));
                tree.add(first, last, amount);
                array[first as usize..=last as usize].iter_mut().for_each(|held| *held += amount);
                for (from, to) in [(first, last), (0, gaps - 1), (last, last)] {
                    let most = array[from as usize..=to as usize].iter().max().copied().unwrap();
                    prop_assert_eq!(tree.most(from, to), most);
                }
            }
        }
    }
}
