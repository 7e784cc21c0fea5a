//! The lower bound: what the prices prove.
//!
//! Let every object pay its size × the price of each gap in which it is in the cache. The sum of all payments is at most
//! capacity × prices in any schedule that fits, so the objects' least costs (latency and payments, each object for
//! itself), less capacity × prices, are no more than the latency of any such schedule.
//!
//! An object's least cost is found here from its first request to its last: `hit[k]` and `miss[k]` are the least costs of
//! what came before its k-th request if that is a hit or a miss.

use super::format::{Claims, Terms};
use super::workload::Workload;
use crate::check::refusal::{Refusal, too_large};

/// Proves the bound that `prices` have, × 2^`bits`. O(n log n).
///
/// # Errors
/// If numbers get too large.
pub fn bound(workload: &Workload, terms: &Terms, prices: &[u64], bits: u32) -> Result<i128, Refusal> {
    let paid = Paid::new(prices).ok_or_else(too_large)?;
    let unit = 1i128.checked_shl(bits).ok_or_else(too_large)?;
    let ready = ready(workload);
    let coming = coming(workload, terms, &ready);
    let (ready, coming) = (&ready, &coming);
    let mut path =
        Path { workload, terms, paid: &paid, ready, coming, unit, hit: Vec::new(), miss: Vec::new() };
    let (starts, order) = by_object(workload);
    let mut sum = 0i128;
    for (object, range) in starts.windows(2).enumerate() {
        let requests = &order[range[0]..range[1]];
        let least = path.least(workload.sizes[object], requests);
        sum = least.and_then(|least| sum.checked_add(least)).ok_or_else(too_large)?;
    }
    let rent = i128::from(terms.capacity).checked_mul(paid.total());
    rent.and_then(|rent| sum.checked_sub(rent)).ok_or_else(too_large)
}

/// Holds what was proved against the claims.
///
/// # Errors
/// If they differ.
pub fn confirm(scaled: i128, claims: &Claims) -> Result<(), Refusal> {
    if scaled != claims.lower_scaled {
        let message = format!("lower: expected lower_scaled of {scaled}, got {}", claims.lower_scaled);
        return Err(Refusal::new(message));
    }
    // A total is a whole number, and not below zero.
    let unit = 1i128 << claims.price_bits;
    let least = scaled.max(0);
    let lower = least / unit + i128::from(least % unit > 0);
    if lower != i128::from(claims.lower) {
        return Err(Refusal::new(format!("lower: expected {lower}, got {}", claims.lower)));
    }
    Ok(())
}

/// The sums of the first so many prices.
struct Paid(Vec<i128>);

impl Paid {
    fn new(prices: &[u64]) -> Option<Self> {
        let mut sums = Vec::with_capacity(prices.len() + 1);
        let mut sum = 0i128;
        sums.push(sum);
        for &price in prices {
            sum = sum.checked_add(i128::from(price))?;
            sums.push(sum);
        }
        Some(Self(sums))
    }

    fn total(&self) -> i128 {
        self.0.last().copied().unwrap_or_default()
    }

    /// Rent that `size` pays for the gaps `from` to `to`, both included.
    fn rent(&self, size: u64, from: usize, to: usize) -> Option<i128> {
        (self.0[to + 1] - self.0[from]).checked_mul(i128::from(size))
    }
}

/// For each request the first one that finds its fetch ended; n if there is none.
fn ready(workload: &Workload) -> Vec<usize> {
    let times = &workload.times;
    let find = |index: usize| {
        let end = u128::from(times[index]) + u128::from(workload.fetches[index]);
        let (mut low, mut high) = (index + 1, times.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if u128::from(times[middle]) < end { low = middle + 1 } else { high = middle }
        }
        low
    };
    (0..times.len()).map(find).collect()
}

/// Number of requests for objects that fit whose fetches would end at each gap; zero if fetched objects may pass the cache by.
fn coming(workload: &Workload, terms: &Terms, ready: &[usize]) -> Vec<u32> {
    let mut coming = vec![0; workload.len() + 1];
    if !terms.bypass {
        let fits = |&index: &usize| workload.size_at(index) <= terms.capacity;
        (0..workload.len()).filter(fits).for_each(|index| coming[ready[index]] += 1);
    }
    coming
}

/// The requests of each object in the order of time, one object after the other, and where each one's begin.
fn by_object(workload: &Workload) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..workload.len()).collect();
    order.sort_by_key(|&index| workload.objects[index]);
    let begins = |object: usize| order.partition_point(|&index| (workload.objects[index] as usize) < object);
    let starts = (0..=workload.sizes.len()).map(begins).collect();
    (starts, order)
}

/// The cheapest way through an object's requests.
struct Path<'a> {
    workload: &'a Workload,
    terms: &'a Terms,
    paid: &'a Paid,
    ready: &'a [usize],
    coming: &'a [u32],
    unit: i128,
    /// The least cost before a request that is a hit; none: it cannot be.
    hit: Vec<Option<i128>>,
    /// The same of a miss.
    miss: Vec<Option<i128>>,
}

impl Path<'_> {
    /// The least cost of an object's `requests`; none if it is too large.
    fn least(&mut self, size: u64, requests: &[usize]) -> Option<i128> {
        let n = requests.len();
        for costs in [&mut self.hit, &mut self.miss] {
            costs.clear();
            costs.resize(n + 1, None);
        }
        self.miss[0] = Some(0);
        let fits = size <= self.terms.capacity;
        let waits = self.waits(requests);
        for (k, &index) in requests.iter().enumerate() {
            if let Some(before) = self.hit[k] {
                let latency = if self.counts(index) { self.terms.hit_latency } else { 0 };
                let cost = before.checked_add(i128::from(latency).checked_mul(self.unit)?)?;
                if let Some(&next) = requests.get(k + 1) {
                    lower_to(&mut self.hit[k + 1], cost.checked_add(self.paid.rent(size, index + 1, next)?)?);
                }
                lower_to(&mut self.miss[k + 1], cost);
            }
            if let Some(before) = self.miss[k] {
                let ready = self.ready[index];
                let back = k + requests[k..].partition_point(|&other| other < ready);
                let latency =
                    waits.between(k, back, u128::from(self.workload.times[index]), self.fetch(index))?;
                let cost = before.checked_add(latency.checked_mul(self.unit)?)?;
                if let Some(&next) = requests.get(back)
                    && fits
                {
                    lower_to(&mut self.hit[back], cost.checked_add(self.paid.rent(size, ready, next)?)?);
                }
                // An object that must come in is in the cache at one request at least, unless another may have come in after it. If
                // that request is its own, it is a hit.
                let comes_in = fits && ready < self.workload.len() && self.coming[ready] == 1;
                if comes_in && requests.get(back) == Some(&ready) {
                    continue;
                }
                let toll = if comes_in { self.paid.rent(size, ready, ready)? } else { 0 };
                lower_to(&mut self.miss[back], cost.checked_add(toll)?);
            }
        }
        self.miss[n]
    }

    fn counts(&self, index: usize) -> bool {
        index as u64 >= self.terms.warmup
    }

    fn fetch(&self, index: usize) -> u128 {
        u128::from(self.workload.fetches[index])
    }

    fn waits(&self, requests: &[usize]) -> Waits {
        let counted = requests.iter().map(|&index| self.counts(index).then(|| self.workload.times[index]));
        let (mut number, mut sum) = (0, 0);
        let mut waits = Waits(vec![(0, 0)]);
        for time in counted {
            number += u128::from(time.is_some());
            sum += u128::from(time.unwrap_or(0));
            waits.0.push((number, sum));
        }
        waits
    }
}

/// Prefix sums over an object's requests: how many of the first requests count, and the sum of their times.
struct Waits(Vec<(u128, u128)>);

impl Waits {
    /// Total time that the requests from `from` to before `to` wait for a fetch begun at `began`.
    fn between(&self, from: usize, to: usize, began: u128, fetch: u128) -> Option<i128> {
        let ((before, earlier), (number, sum)) = (self.0[from], self.0[to]);
        // Each waits for what is left: the end less its own time.
        let wait = (number - before).checked_mul(began + fetch)?.checked_sub(sum - earlier)?;
        i128::try_from(wait).ok()
    }
}

/// A cost that has one more way to come about.
fn lower_to(cost: &mut Option<i128>, way: i128) {
    *cost = Some(cost.map_or(way, |cost| cost.min(way)));
}
