//! The problem: who is asked for when, what a miss costs, and when the object is back.

use std::ops::Range;

/// A request of the trace.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time of the request, in ns or steps; never before that of the request before it.
    pub time: u64,
    /// Object of the request: objects are numbered from 0 in any order, without gaps.
    pub object: u32,
    /// The object's size, at least 1: the same at each of its requests.
    pub size: u64,
    /// Latency of a fetch that begins with this request, in the unit of `time`.
    pub fetch: u64,
}

impl Arrival {
    /// End of a fetch that begins with this request.
    fn end(&self) -> Result<u64, InstanceError> {
        self.time.checked_add(self.fetch).ok_or(InstanceError::TooLarge)
    }
}

/// The rules by which latency is counted and the cache may be used.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The total size of what the cache holds, in the unit of the objects' sizes.
    pub capacity: u64,
    /// Latency of a hit.
    pub hit_latency: u64,
    /// Number of requests at the start that are served but not counted.
    pub warmup: u64,
    /// Whether a fetched object may pass the cache by. If not, the next request of the trace finds it in the cache, unless it is
    /// larger than the cache; a request for the object itself is then a hit. No two fetches may end between two requests: the
    /// second could send away the first at once.
    pub bypass: bool,
}

/// Reason why an instance is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstanceError {
    /// Positions are 32 bits wide.
    #[error("a bound takes at most 4294967294 requests")]
    TooLong,
    /// The model has one size for each object.
    #[error(
        "object {object} is asked for with sizes {first} and {later}, and the model has one size for each"
    )]
    Resized {
        /// The object.
        object: u32,
        /// Its size at first.
        first: u64,
        /// Another one.
        later: u64,
    },
    /// Without bypass it must be known who comes in at a gap.
    #[error(
        "the fetches of requests {0} and {1} can both end right before request {2}, and without bypass the model does not say which of the two then stays"
    )]
    Crowded(u32, u32, u32),
    /// Totals would not fit.
    #[error("latencies add up to more than 2^62")]
    TooLarge,
}

/// A request as one object sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Its index in the trace.
    pub position: u32,
    /// If it misses, the first request of the trace (of any object) that finds the object fetched: the trace's length if
    /// there is none.
    pub ready: u32,
    /// If it misses, the object's first visit at `ready` or later, counted among the object's own: their number if there
    /// is none. Those between are delayed hits.
    pub back: u32,
    /// If it misses, the counted latency of this request and its delayed hits (thesis eq. 2.13).
    pub delay: u64,
}

/// A trace under a cache's terms. Memory: 28 B a request and 12 B an object.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The rules.
    pub terms: Terms,
    requests: u32,
    /// Start of each object's visits among all, and the end of the last one's.
    starts: Vec<u32>,
    sizes: Vec<u64>,
    visits: Vec<Visit>,
}

impl Instance {
    /// The problem that `arrivals`, in the order of time, pose. O(n) if all fetches take equally long; otherwise O(n log d), where d
    /// is by how many requests the ends of two fetches differ that begin one after the other.
    ///
    /// # Errors
    /// If the trace is too long, an object changes its size, two fetches can end at one gap without bypass (requests counted from 1), or
    /// latencies add up to too much.
    pub fn new(arrivals: &[Arrival], terms: Terms) -> Result<Self, InstanceError> {
        let requests =
            u32::try_from(arrivals.len()).ok().filter(|&n| n < u32::MAX).ok_or(InstanceError::TooLong)?;
        let (starts, sizes) = count(arrivals)?;
        let mut next = starts.clone();
        let mut visits = vec![Visit { position: 0, ready: 0, back: 0, delay: 0 }; arrivals.len()];
        let mut ready = 0;
        for (position, arrival) in (0..requests).zip(arrivals) {
            let end = arrival.end()?;
            ready = boundary_near(arrivals, ready, |later| later.time < end);
            let place = &mut next[arrival.object as usize];
            // What takes no time is there before the next request, even one at the same instant.
            visits[*place as usize] =
                Visit { position, ready: (ready as u32).max(position + 1), back: 0, delay: 0 };
            *place += 1;
        }
        let mut instance = Self { terms, requests, starts, sizes, visits };
        let (mut total, mut sums) = (0, Vec::new());
        for object in 0..instance.objects() {
            let range = instance.range(object);
            total += follow(&mut instance.visits[range], arrivals, terms.warmup, &mut sums)?;
        }
        if !terms.bypass {
            instance.one_at_a_time()?;
        }
        // Nobody waits longer than the longest fetch, and no more can miss than all.
        let longest = arrivals.iter().map(|arrival| arrival.fetch).max().unwrap_or(0);
        let most = total.min(u128::from(requests) * u128::from(longest));
        let hits = u128::from(requests) * u128::from(terms.hit_latency);
        if most + hits > 1 << 62 { Err(InstanceError::TooLarge) } else { Ok(instance) }
    }

    /// Checks that no two fetches can end at one gap.
    fn one_at_a_time(&self) -> Result<(), InstanceError> {
        let mut landing = vec![None; self.requests()];
        for object in 0..self.objects() {
            for visit in self.visits(object).iter().filter(|visit| self.forced(object, visit)) {
                if let Some(other) = landing[visit.ready as usize].replace(visit.position) {
                    let (first, second) = (visit.position.min(other), visit.position.max(other));
                    return Err(InstanceError::Crowded(first + 1, second + 1, visit.ready + 1));
                }
            }
        }
        Ok(())
    }

    /// The number of requests, which is one more than that of the gaps that matter: gap g is the instant right before
    /// request g.
    pub fn requests(&self) -> usize {
        self.requests as usize
    }

    /// The number of objects.
    pub fn objects(&self) -> usize {
        self.sizes.len()
    }

    /// Range of an object's visits among all.
    pub fn range(&self, object: usize) -> Range<usize> {
        self.starts[object] as usize..self.starts[object + 1] as usize
    }

    /// The visits of an object, in the order of time.
    pub fn visits(&self, object: usize) -> &[Visit] {
        &self.visits[self.range(object)]
    }

    /// The size of an object.
    pub fn size(&self, object: usize) -> u64 {
        self.sizes[object]
    }

    /// Whether an object fits into the cache at all.
    pub fn fits(&self, object: usize) -> bool {
        self.sizes[object] <= self.terms.capacity
    }

    /// Latency of a hit at a position, 0 in the warm-up.
    pub fn hit(&self, position: u32) -> u64 {
        if u64::from(position) < self.terms.warmup { 0 } else { self.terms.hit_latency }
    }

    /// Whether an object fetched at this visit takes its place at gap `ready` whatever happens.
    pub fn forced(&self, object: usize, visit: &Visit) -> bool {
        !self.terms.bypass && visit.ready < self.requests && self.fits(object)
    }

    /// Whether the object's next request after the fetch is a hit whatever happens: the object is forced to be there right before
    /// a request for itself.
    pub fn hits_next(&self, object: usize, visit: &Visit) -> bool {
        let next = self.visits(object).get(visit.back as usize);
        self.forced(object, visit) && next.is_some_and(|next| next.position == visit.ready)
    }
}

/// Start of every object's visits, and the objects' sizes.
fn count(arrivals: &[Arrival]) -> Result<(Vec<u32>, Vec<u64>), InstanceError> {
    let objects = arrivals.iter().map(|arrival| arrival.object as usize + 1).max().unwrap_or(0);
    let mut starts = vec![0u32; objects + 1];
    let mut sizes = vec![0; objects];
    for arrival in arrivals {
        let object = arrival.object as usize;
        starts[object + 1] += 1;
        let size = &mut sizes[object];
        if *size == 0 {
            *size = arrival.size;
        } else if *size != arrival.size {
            let (first, later) = (*size, arrival.size);
            return Err(InstanceError::Resized { object: arrival.object, first, later });
        }
    }
    for object in 0..objects {
        starts[object + 1] += starts[object];
    }
    Ok((starts, sizes))
}

/// Number of `items` at the front of which `comes_first` holds; it holds of none after them. The search starts at `hint`, in steps that
/// double: O(log d), where d is the distance of the result from the hint.
fn boundary_near<T>(items: &[T], hint: usize, comes_first: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    if items.get(hint).is_some_and(&comes_first) {
        let mut low = hint + 1;
        while items.get(low + step).is_some_and(&comes_first) {
            low += step + 1;
            step *= 2;
        }
        let high = items.len().min(low + step);
        return low + items[low..high].partition_point(comes_first);
    }
    let mut high = hint.min(items.len());
    while high >= step && !comes_first(&items[high - step]) {
        high -= step;
        step *= 2;
    }
    let low = high.saturating_sub(step);
    low + items[low..high].partition_point(comes_first)
}

/// Fills in the visits of one object, whose positions and ends of fetches are known; returns what they would all cost as misses.
fn follow(
    visits: &mut [Visit],
    arrivals: &[Arrival],
    warmup: u64,
    sums: &mut Vec<u128>,
) -> Result<u128, InstanceError> {
    // The sum of the times of the first i visits, as far as they count, so that a fetch costs O(log n) however many wait.
    let mut sum = 0;
    sums.clear();
    sums.push(0);
    for visit in visits.iter() {
        let counts = u64::from(visit.position) >= warmup;
        sum += if counts { u128::from(arrivals[visit.position as usize].time) } else { 0 };
        sums.push(sum);
    }
    let counted = visits.partition_point(|visit| u64::from(visit.position) < warmup);
    let (mut total, mut back) = (0, 0);
    for index in 0..visits.len() {
        let Visit { position, ready, .. } = visits[index];
        let end = arrivals[position as usize].end()?;
        back = boundary_near(visits, back, |later| later.position < ready).max(index + 1);
        let waiting = back.saturating_sub(index.max(counted)) as u128;
        let delay = waiting * u128::from(end) - (sums[back] - sums[index]);
        total += delay;
        let visit = &mut visits[index];
        visit.back = back as u32;
        visit.delay = u64::try_from(delay).map_err(|_| InstanceError::TooLarge)?;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_boundary_is_that_of_a_binary_search(
            mut items in prop::collection::vec(0u32..60, 0..200),
            hint in 0usize..210,
            limit in 0u32..62,
        ) {
            items.sort_unstable();
            let found = boundary_near(&items, hint, |item| *item < limit);
            prop_assert_eq!(found, items.partition_point(|item| *item < limit));
        }
    }

    #[test]
    fn visits_know_what_a_miss_costs_and_when_the_object_is_back() {
        // The thesis's §2.1: requests at 3, 5 and 11 with Z = 10 wait 10, 8 and 2.
        let arrivals = [(0, 1), (3, 0), (5, 0), (11, 0), (13, 0)].map(|(time, object)| Arrival {
            time,
            object,
            size: 1,
            fetch: 10,
        });
        let terms = Terms { capacity: 1, hit_latency: 0, warmup: 0, bypass: true };
        let instance = Instance::new(&arrivals, terms).unwrap();
        let visit = |position, ready, back, delay| Visit { position, ready, back, delay };
        let expected = [visit(1, 4, 3, 20), visit(2, 5, 4, 16), visit(3, 5, 4, 18), visit(4, 5, 4, 10)];
        assert_eq!(instance.visits(0), expected);
        assert_eq!(instance.visits(1), [visit(0, 3, 1, 10)]);
        let late = Instance::new(&arrivals, Terms { warmup: 3, ..terms }).unwrap();
        assert_eq!(late.visits(0)[0].delay, 2, "only the third waits and counts");
        assert_eq!(late.visits(1)[0].delay, 0);
    }

    #[test]
    fn what_takes_no_time_is_there_at_once() {
        let arrivals = [0, 0, 0].map(|time| Arrival { time, object: 0, size: 1, fetch: 0 });
        let terms = Terms { capacity: 1, hit_latency: 0, warmup: 0, bypass: true };
        let instance = Instance::new(&arrivals, terms).unwrap();
        assert_eq!(instance.visits(0)[0], Visit { position: 0, ready: 1, back: 1, delay: 0 });
    }

    #[test]
    fn what_does_not_fit_the_model_is_refused() {
        let terms = Terms { capacity: 1, hit_latency: 0, warmup: 0, bypass: true };
        let resized = [1, 2].map(|size| Arrival { time: 0, object: 0, size, fetch: 0 });
        let refused = Instance::new(&resized, terms).unwrap_err();
        assert_eq!(refused, InstanceError::Resized { object: 0, first: 1, later: 2 });
        let terms = Terms { bypass: false, ..terms };
        let crowd =
            [(0, 0), (1, 1), (100, 0)].map(|(time, object)| Arrival { time, object, size: 1, fetch: 10 });
        assert_eq!(Instance::new(&crowd, terms).unwrap_err(), InstanceError::Crowded(1, 2, 3));
        let terms = Terms { bypass: true, ..terms };
        let burst: Vec<Arrival> =
            (0..3_000).map(|time| Arrival { time, object: 0, size: 1, fetch: 1 << 50 }).collect();
        assert!(Instance::new(&burst, terms).is_ok(), "only one of them can miss and wait for all");
        let endless = [Arrival { time: 0, object: 0, size: 1, fetch: u64::MAX }; 2];
        assert_eq!(Instance::new(&endless, terms).unwrap_err(), InstanceError::TooLarge);
    }
}
