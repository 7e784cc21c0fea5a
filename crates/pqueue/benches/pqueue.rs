//! How long a priority queue takes for an item, ours beside those that a Rust user would pick, side by side.
//!
//! Fill and drain, from either end; hold (take out the smallest, put in another); and deadlines, where what is put in is due a little
//! later than what was taken out. All queues must take out the same priorities in the same order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

use min_max_heap::MinMaxHeap;
use orx_priority_queue::{PriorityQueue as _, QuaternaryHeap};
use priority_queue::DoublePriorityQueue;
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{Hffs, Overflow, PriorityQueue, RollingWindow};

/// Items that pass through each queue for every work.
const ITEMS_TIMED: usize = 3_000_000;

/// A queue of numbered items, as small as each of them can have it.
trait Queue {
    const NAME: &'static str;
    const HAS_MAX: bool;

    /// For so many items of priorities below the span, or within half of it above the last one served.
    fn new(span: u64, capacity: usize) -> Self;
    fn insert(&mut self, priority: u64, item: NonZeroU32);
    fn min(&mut self) -> Option<u64>;

    fn max(&mut self) -> Option<u64> {
        None
    }
}

impl Queue for Hffs<NonZeroU32> {
    const NAME: &'static str = "hffs";
    const HAS_MAX: bool = true;

    fn new(span: u64, capacity: usize) -> Self {
        Self::new(span, capacity, Overflow::Refuse).expect("a small span")
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        PriorityQueue::insert(self, priority, item).expect("within the span and the capacity");
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.extract_min()?.0)
    }

    fn max(&mut self) -> Option<u64> {
        Some(self.extract_max()?.0)
    }
}

impl Queue for RollingWindow<NonZeroU32> {
    const NAME: &'static str = "rolling window";
    const HAS_MAX: bool = true;

    fn new(span: u64, capacity: usize) -> Self {
        Self::new(span, capacity, Beyond::Refuse).expect("a small span")
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        PriorityQueue::insert(self, priority, item).expect("within the window and the capacity");
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.extract_min()?.0)
    }

    fn max(&mut self) -> Option<u64> {
        Some(self.extract_max()?.0)
    }
}

impl Queue for BinaryHeap<Reverse<(u64, NonZeroU32)>> {
    const NAME: &'static str = "std BinaryHeap";
    const HAS_MAX: bool = false;

    fn new(_: u64, capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        self.push(Reverse((priority, item)));
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.pop()?.0.0)
    }
}

impl Queue for QuaternaryHeap<NonZeroU32, u64> {
    const NAME: &'static str = "orx QuaternaryHeap";
    const HAS_MAX: bool = false;

    fn new(_: u64, capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        self.push(item, priority);
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.pop()?.1)
    }
}

impl Queue for MinMaxHeap<(u64, NonZeroU32)> {
    const NAME: &'static str = "min-max-heap";
    const HAS_MAX: bool = true;

    fn new(_: u64, capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        self.push((priority, item));
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.pop_min()?.0)
    }

    fn max(&mut self) -> Option<u64> {
        Some(self.pop_max()?.0)
    }
}

impl Queue for DoublePriorityQueue<NonZeroU32, u64> {
    const NAME: &'static str = "priority-queue (double)";
    const HAS_MAX: bool = true;

    fn new(_: u64, capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn insert(&mut self, priority: u64, item: NonZeroU32) {
        self.push(item, priority);
    }

    fn min(&mut self) -> Option<u64> {
        Some(self.pop_min()?.1)
    }

    fn max(&mut self) -> Option<u64> {
        Some(self.pop_max()?.1)
    }
}

/// What is timed: nanoseconds for an item.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Fill,
    DrainMin,
    DrainMax,
    /// Takes out the smallest and puts in any, as often as there are items.
    Hold,
    /// Takes out the smallest and puts in one that is due up to a span later.
    Deadlines,
}

#[derive(Clone, Copy)]
struct Load {
    span: u64,
    items: usize,
}

fn main() {
    for (span, items) in [(1 << 15, 100_000), (1 << 15, 1_000_000), (1 << 10, 100_000)] {
        let load = Load { span, items };
        println!("\n{span} priorities, {items} items; ns an item, and how many times hffs's");
        println!(
            "{:24} {:>16} {:>16} {:>16} {:>16} {:>16}",
            "", "fill", "drain min", "drain max", "hold", "deadlines"
        );
        let works = [Work::Fill, Work::DrainMin, Work::DrainMax, Work::Hold];
        let base = row::<Hffs<NonZeroU32>>(load, &works, None);
        let deadlines = row::<RollingWindow<NonZeroU32>>(load, &[Work::Deadlines], Some(&base));
        let all = [&works[..], &[Work::Deadlines]].concat();
        let base: Vec<_> = base.into_iter().chain(deadlines).collect();
        row::<BinaryHeap<Reverse<(u64, NonZeroU32)>>>(load, &all, Some(&base));
        row::<QuaternaryHeap<NonZeroU32, u64>>(load, &all, Some(&base));
        row::<MinMaxHeap<(u64, NonZeroU32)>>(load, &all, Some(&base));
        row::<DoublePriorityQueue<NonZeroU32, u64>>(load, &all, Some(&base));
    }
}

/// The least time of each work, and the sum of what it took out.
type Measured = (Work, f64, u64);

fn row<Q: Queue>(load: Load, works: &[Work], base: Option<&[Measured]>) -> Vec<Measured> {
    print!("{:24}", Q::NAME);
    let mut measured = Vec::new();
    for work in [Work::Fill, Work::DrainMin, Work::DrainMax, Work::Hold, Work::Deadlines] {
        if !works.contains(&work) || (work == Work::DrainMax && !Q::HAS_MAX) {
            print!(" {:>16}", "-");
            continue;
        }
        let (nanos, sum) = measure::<Q>(load, work);
        match base.and_then(|base| base.iter().find(|(other, ..)| *other == work)) {
            Some(&(_, of_base, expected)) => {
                assert_eq!(sum, expected, "{}: not the order of hffs", Q::NAME);
                print!(" {nanos:8.1} ({:5.1})", nanos / of_base);
            }
            None => print!(" {nanos:8.1}        "),
        }
        measured.push((work, nanos, sum));
    }
    println!();
    measured
}

/// Makes what depends on the order of priorities out of them.
fn fold(sum: u64, priority: u64) -> u64 {
    sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(priority)
}

/// What items are called, from one on; as a type with a value to spare they are as small as can be in an `Option`.
fn names(from: usize) -> impl Iterator<Item = NonZeroU32> {
    (from as u32 + 1..).filter_map(NonZeroU32::new)
}

fn measure<Q: Queue>(load: Load, work: Work) -> (f64, u64) {
    let Load { span, items } = load;
    let mut random = Xoshiro256StarStar::seed_from_u64(1);
    let mut draw = || (0..items).map(|_| random.next_u64() % span).collect::<Vec<u64>>();
    let (first, second) = (draw(), draw());
    let (mut least, mut result) = (f64::INFINITY, 0);
    // Its memory is that of a queue in use.
    let mut queue = Q::new(span, items);
    let mut last = 0;
    for _ in 0..ITEMS_TIMED / items {
        while let Some(priority) = queue.min() {
            last = priority;
        }
        // Deadlines go on from where the last round ended.
        let origin = if work == Work::Deadlines { last } else { 0 };
        let start = now();
        for (item, &priority) in names(0).zip(&first) {
            queue.insert(origin + priority, item);
        }
        let filled = start.elapsed();
        let (start, mut sum) = (now(), 0);
        match work {
            Work::Fill => {}
            Work::DrainMin => {
                while let Some(priority) = queue.min() {
                    sum = fold(sum, priority);
                }
            }
            Work::DrainMax => {
                while let Some(priority) = queue.max() {
                    sum = fold(sum, priority);
                }
            }
            Work::Hold | Work::Deadlines => {
                // Names of their own: one of the queues keeps no two items of one name.
                for (item, &priority) in names(items).zip(&second) {
                    let served = queue.min().expect("as many as before");
                    sum = fold(sum, served - origin);
                    queue.insert(if work == Work::Hold { priority } else { served + 1 + priority }, item);
                }
            }
        }
        let took = if work == Work::Fill { filled } else { start.elapsed() };
        least = least.min(took.as_secs_f64() * 1e9 / items as f64);
        result = black_box(sum);
    }
    (least, result)
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
