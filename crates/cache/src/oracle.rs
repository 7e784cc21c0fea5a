//! What the offline policies know: the next request of every object, and what it would cost if it missed.

use hashbrown::HashMap;
use trueplane_study::{Error, Observer};
use trueplane_trace::{CHUNK, Request};
use trueplane_units::Nanos;

use crate::NextUse;
use crate::latency::Latency;

const NEVER: u32 = u32::MAX;

/// The trace is longer than an oracle can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offline policies take at most 4294967294 requests; leave out belady and belady-ad with --policies")]
pub struct TooLong;

/// Reads a trace once and becomes its [`Oracle`].
pub struct OracleBuilder {
    latencies: Vec<Latency>,
    times: Vec<u64>,
    next: Vec<u32>,
    /// The fetch time of every request under every latency; later its aggregate delay.
    delays: Vec<Vec<u64>>,
    latest: HashMap<u64, u32>,
}

impl OracleBuilder {
    /// An oracle that will know the aggregate delays under each of `latencies`.
    pub fn new(latencies: Vec<Latency>) -> Self {
        let delays = vec![Vec::new(); latencies.len()];
        Self { latencies, times: Vec::new(), next: Vec::new(), delays, latest: HashMap::new() }
    }

    /// Takes the trace's next requests.
    ///
    /// # Errors
    /// If the trace is longer than an oracle can index.
    pub fn push(&mut self, requests: &[Request]) -> Result<(), TooLong> {
        for request in requests {
            let index =
                u32::try_from(self.times.len()).ok().filter(|&index| index != NEVER).ok_or(TooLong)?;
            self.times.push(request.time.0);
            self.next.push(NEVER);
            if let Some(previous) = self.latest.insert(request.key, index) {
                self.next[previous as usize] = index;
            }
            for (latency, delays) in self.latencies.iter().zip(&mut self.delays) {
                delays.push(latency.of(request, u64::from(index)).0);
            }
        }
        Ok(())
    }

    /// Works out the aggregate delays: O(requests × log requests of one object) for each latency.
    ///
    /// # Errors
    /// If the observer interrupts.
    pub fn finish(mut self, observer: &dyn Observer) -> Result<Oracle, Error> {
        let mut is_first = vec![true; self.times.len()];
        for &next in self.next.iter().filter(|&&next| next != NEVER) {
            is_first[next as usize] = false;
        }
        let mut chain = Chain::default();
        let mut followed = 0;
        for first in (0..self.times.len()).filter(|&index| is_first[index]) {
            if followed >= CHUNK {
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
                followed = 0;
            }
            chain.follow(first as u32, &self.next, &self.times);
            for delays in &mut self.delays {
                chain.aggregate(delays);
            }
            followed += chain.indices.len();
        }
        Ok(Oracle { times: self.times, next: self.next, delays: self.delays })
    }
}

/// All requests of one object.
#[derive(Default)]
struct Chain {
    indices: Vec<u32>,
    times: Vec<u64>,
    /// `sums[i]` is the sum of the first i times.
    sums: Vec<u128>,
}

impl Chain {
    fn follow(&mut self, first: u32, next: &[u32], times: &[u64]) {
        self.indices.clear();
        self.times.clear();
        self.sums.clear();
        self.sums.push(0);
        let (mut index, mut sum) = (first, 0);
        while index != NEVER {
            self.indices.push(index);
            self.times.push(times[index as usize]);
            sum += u128::from(times[index as usize]);
            self.sums.push(sum);
            index = next[index as usize];
        }
    }

    /// Turns fetch times into aggregate delays (thesis eq. 2.13): the sum, over the requests that come before a fetch
    /// begun by the i-th would end, of what is left of it.
    fn aggregate(&self, delays: &mut [u64]) {
        for (i, &index) in self.indices.iter().enumerate() {
            let fetch = delays[index as usize];
            let end = self.times[i].saturating_add(fetch);
            let within = i + self.times[i..].partition_point(|&time| time < end);
            let count = (within - i) as u128;
            let delay = count * u128::from(end) - (self.sums[within] - self.sums[i]);
            delays[index as usize] = u64::try_from(delay).unwrap_or(u64::MAX);
        }
    }
}

/// The future of every request of a trace. Memory: 12 B a request, and 8 B more for every latency.
#[derive(Debug)]
pub struct Oracle {
    times: Vec<u64>,
    next: Vec<u32>,
    delays: Vec<Vec<u64>>,
}

impl Oracle {
    /// NextUse after the `index`-th request, with aggregate delays under the `latency`-th latency; without one every miss costs the same
    /// and nothing waits, as in the classical model.
    pub fn future(&self, index: u64, latency: Option<usize>) -> NextUse {
        let next = self.next[index as usize];
        if next == NEVER {
            return NextUse::UNKNOWN;
        }
        let delay = latency.map_or(1, |latency| self.delays[latency][next as usize]);
        NextUse { next: Nanos(self.times[next as usize]), delay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregate_delay_sums_what_is_left_of_the_fetch() {
        // The thesis's §2.1: requests at 3, 5 and 11 with Z = 10 wait 10, 8 and 2.
        let requests: Vec<Request> = [(0, 7), (3, 1), (5, 1), (11, 1), (13, 1)]
            .map(|(time, key)| Request { time: Nanos(time), key, size: 1, fetch: Nanos(0) })
            .to_vec();
        let mut builder = OracleBuilder::new(vec![Latency::Constant(Nanos(10)), Latency::Constant(Nanos(0))]);
        builder.push(&requests).expect("five requests are few");
        let oracle = builder.finish(&()).expect("nobody interrupts");
        assert_eq!(oracle.delays[0], [10, 10 + 8 + 2, 10 + 4 + 2, 10 + 8, 10]);
        assert_eq!(oracle.delays[1], [0; 5]);
        assert_eq!(oracle.future(0, Some(0)), NextUse::UNKNOWN);
        assert_eq!(oracle.future(3, Some(0)), NextUse { next: Nanos(13), delay: 10 });
        assert_eq!(oracle.future(3, None), NextUse { next: Nanos(13), delay: 1 });
    }
}
