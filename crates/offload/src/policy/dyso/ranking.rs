//! The keys of every row, the hottest first.

use crate::Key;

/// Bucket b holds counters of b binary digits: 0, 1, 2–3, 4–7, … 512–1023.
const BUCKETS: usize = 11;
/// A counter stops here.
const MOST: u16 = (1 << (BUCKETS - 1)) - 1;

/// Frequency counters of keys, a bounded number for each row, in the order in which they deserve an entry: by buckets of powers of two, and
/// within one the most recently counted first (§III-B1).
///
/// The keys of a row lie in that order in an array, with a mark where each bucket begins, instead of in linked lists: the first
/// k are the k hottest, the last one makes way when the row is full, and the keys that are counted most are found soonest. A count
/// moves a key to the front of its bucket.
///
/// Ageing (all counters halved) is counting to one for all rows together. A row catches up when it is next looked at: its buckets move down
/// by one, and the keys that come to zero are put before those that have been there. Counters stop at 1023.
///
/// Costs: a count O(m) for m keys a row, as fast as memory of a few cache lines can be searched and moved; ageing O(1).
/// Memory: 10 B a key and 16 B a row.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Keys that are counted for a row at most.
    tracked: usize,
    keys: Vec<Key>,
    counts: Vec<u16>,
    rows: Vec<Row>,
    /// Halvings of all counters so far.
    age: u32,
}

/// Buckets of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Halvings that the row has caught up with.
    age: u32,
    len: u8,
    /// Index at which each bucket begins: the number of keys in higher buckets.
    starts: [u8; BUCKETS],
}

impl Ranking {
    /// The most keys that can be counted for a row.
    pub const MOST_TRACKED: usize = 255;

    /// Counts up to `tracked` keys for each of `rows` rows, 1 to [`MOST_TRACKED`](Self::MOST_TRACKED).
    pub fn new(rows: u32, tracked: usize) -> Self {
        let tracked = tracked.clamp(1, Self::MOST_TRACKED);
        let all = rows as usize * tracked;
        let rows = vec![Row::default(); rows as usize];
        Self { tracked, keys: vec![Key(0); all], counts: vec![0; all], rows, age: 0 }
    }

    /// The rankings of every `stride`-th row.
    pub fn sample(&self, stride: usize) -> Self {
        fn pick<T: Copy>(all: &[T], len: usize, stride: usize) -> Vec<T> {
            all.chunks(len).step_by(stride).flatten().copied().collect()
        }
        Self {
            tracked: self.tracked,
            keys: pick(&self.keys, self.tracked, stride),
            counts: pick(&self.counts, self.tracked, stride),
            rows: pick(&self.rows, 1, stride),
            age: self.age,
        }
    }

    /// Halves all counters so many times. O(1).
    pub fn age_by(&mut self, times: u64) {
        // More often than counters have bits is as often.
        self.age = self.age.wrapping_add(times.min(BUCKETS as u64) as u32);
    }

    /// The `most` hottest keys of a row, or as many as there are.
    pub fn top(&self, row: u32, most: usize) -> &[Key] {
        let len = usize::from(self.rows[row as usize].len);
        &self.keys[row as usize * self.tracked..][..len.min(most)]
    }

    /// Counts one more for `key`; at which place of its row it is from now on.
    ///
    /// The row's last key makes way for a new one if there is no room.
    pub fn count(&mut self, row: u32, key: Key) -> usize {
        let start = row as usize * self.tracked;
        let row = &mut self.rows[row as usize];
        let keys = &mut self.keys[start..start + self.tracked];
        let counts = &mut self.counts[start..start + self.tracked];
        row.catch_up(self.age, counts);
        let len = usize::from(row.len);
        let found = keys[..len].iter().position(|&other| other == key);
        let (place, before) = match found {
            Some(place) => (place, counts[place]),
            None if len < keys.len() => {
                row.len += 1;
                (len, 0)
            }
            None => {
                row.leave(bucket(counts[len - 1]));
                (len - 1, 0)
            }
        };
        let count = (before + 1).min(MOST);
        let target = row.rise(bucket(before), bucket(count));
        if target < place {
            keys.copy_within(target..place, target + 1);
            counts.copy_within(target..place, target + 1);
        }
        (keys[target], counts[target]) = (key, count);
        target
    }
}

fn bucket(count: u16) -> usize {
    (u16::BITS - count.leading_zeros()) as usize
}

impl Row {
    /// Halves the counters as often as those of the other rows have been.
    fn catch_up(&mut self, age: u32, counts: &mut [u16]) {
        let missed = age.wrapping_sub(self.age) as usize;
        if missed == 0 {
            return;
        }
        self.age = age;
        let missed = missed.min(BUCKETS);
        counts[..usize::from(self.len)].iter_mut().for_each(|count| *count >>= missed);
        self.starts.copy_within(missed.., 0);
        self.starts[BUCKETS - missed..].fill(0);
    }

    /// The last key goes, from this bucket.
    fn leave(&mut self, bucket: usize) {
        self.starts[..bucket].iter_mut().for_each(|start| *start -= 1);
    }

    /// A key goes from one bucket to the front of another, not lower, one: the place there.
    fn rise(&mut self, from: usize, to: usize) -> usize {
        let place = self.starts[to];
        self.starts[from..to].iter_mut().for_each(|start| *start += 1);
        usize::from(place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_frequent_come_first_and_then_the_recent() {
        let mut ranking = Ranking::new(1, 8);
        for key in [1, 2, 3, 1, 2, 1, 4] {
            ranking.count(0, Key(key));
        }
        // 1 three times and 2 twice share a bucket, in which 1 is the more recent.
        assert_eq!(ranking.top(0, 9), [1, 2, 4, 3].map(Key));
        assert_eq!(ranking.top(0, 2), [1, 2].map(Key));
        ranking.age_by(2);
        // All at zero by now but for 5, and at 5's second count 1 and 2 still come before 4 and 3.
        ranking.count(0, Key(5));
        assert_eq!(ranking.top(0, 9), [5, 1, 2, 4, 3].map(Key));
        assert_eq!(ranking.count(0, Key(3)), 0);
    }

    /// The same with a list that is sorted anew after every event.
    #[derive(Default)]
    struct Naive(Vec<(u64, u16)>);

    impl Naive {
        fn count(&mut self, key: u64, tracked: usize) -> usize {
            let found = self.0.iter().position(|&(other, _)| other == key);
            let before = match found {
                Some(place) => self.0.remove(place).1,
                None => {
                    self.0.truncate(tracked - 1);
                    0
                }
            };
            self.0.insert(0, (key, (before + 1).min(MOST)));
            self.0.sort_by_key(|&(_, count)| std::cmp::Reverse(bucket(count)));
            self.0.iter().position(|&(other, _)| other == key).unwrap()
        }
    }

    proptest! {
        #[test]
        fn order_is_that_of_a_sort(
            tracked in 1..10usize,
            events in prop::collection::vec(
                prop_oneof![
                    20 => (0..12u64).prop_map(Ok),
                    1 => prop_oneof![Just(1), 0..40u64, any::<u64>()].prop_map(Err),
                ],
                0..400,
            ),
        ) {
            let (mut ranking, mut naive) = (Ranking::new(3, tracked), Naive::default());
            for event in events {
                match event {
                    Ok(key) => prop_assert_eq!(ranking.count(1, Key(key)), naive.count(key, tracked)),
                    Err(times) => {
                        ranking.age_by(times);
                        for _ in 0..times.min(100) {
                            naive.0.iter_mut().for_each(|(_, count)| *count /= 2);
                        }
                    }
                }
                let keys: Vec<Key> = naive.0.iter().map(|&(key, _)| Key(key)).collect();
                prop_assert_eq!(ranking.top(1, tracked), keys);
            }
            prop_assert!(ranking.top(0, 1).is_empty() && ranking.top(2, 1).is_empty());
        }
    }

    #[test]
    fn a_sample_of_rows_goes_on_like_the_rows() {
        let mut ranking = Ranking::new(7, 3);
        for n in 0..100u64 {
            ranking.count((n % 7) as u32, Key(n * n % 11));
        }
        ranking.age_by(1);
        let mut sample = ranking.sample(3);
        assert_eq!(sample.rows.len(), 3);
        for row in 0..3 {
            assert_eq!(sample.top(row, 3), ranking.top(3 * row, 3));
            assert_eq!(sample.count(row, Key(4)), ranking.count(3 * row, Key(4)));
        }
    }
}
