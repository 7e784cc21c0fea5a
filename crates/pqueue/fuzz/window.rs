//! A rolling window, as its documentation says: a sorted vector of places, and where the window begins.

use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{Refused, RollingWindow};

use super::vector::{Entry, Room, Vectors};
use super::{Act, Shape, Step};

/// A window over a sorted vector, in which items are at the priorities that they wait with.
struct Window {
    half: u64,
    beyond: Beyond,
    /// The number of the first half.
    first: u64,
    /// What was served last, or the latest time.
    served: u64,
    is_anchored: bool,
    vectors: Vectors,
}

impl Window {
    fn has_items_in_first(&self) -> bool {
        self.vectors.min(0).is_some_and(|(priority, _)| priority / self.half == self.first)
    }

    /// An anchored window has moved towards the time as far as what waits lets it.
    fn moved_to_now(&self) -> u64 {
        let to = self.served / self.half;
        if self.vectors.total() == 0 {
            return to;
        }
        self.first + u64::from(!self.has_items_in_first() && self.first < to)
    }

    fn insert(&mut self, priority: u64, item: u32) -> Result<Option<Entry>, Refused<u32>> {
        let number = priority / self.half;
        let mut first = self.first;
        let is_within = number >= first && number <= first.saturating_add(1);
        if self.is_anchored {
            if !is_within {
                first = self.moved_to_now();
            }
        } else if self.vectors.total() == 0 {
            // A window that holds nothing can be anywhere.
            if number < first || number > first.saturating_add(1) {
                first = number;
            }
        } else if number > first.saturating_add(1) && !self.has_items_in_first() {
            first += 1;
        }
        let place = if number < first && (priority < self.served || self.beyond == Beyond::Last) {
            first * self.half
        } else if number < first {
            return Err(Refused::OutOfSpan(item));
        } else if number <= first.saturating_add(1) {
            priority
        } else if self.beyond == Beyond::Last {
            (first + 2) * self.half - 1
        } else {
            return Err(Refused::OutOfSpan(item));
        };
        let inserted = self.vectors.insert(0, place, item)?;
        // What is refused moves nothing.
        self.first = first;
        Ok(inserted)
    }

    fn extract_min(&mut self) -> Option<Entry> {
        let (priority, _) = self.vectors.min(0)?;
        self.first = priority / self.half;
        self.served = if self.is_anchored { self.served.max(priority) } else { priority };
        self.vectors.take(0, priority)
    }

    fn advance(&mut self, now: u64) {
        (self.is_anchored, self.served) = (true, self.served.max(now));
        self.first = self.moved_to_now();
    }

    fn extract_max(&mut self) -> Option<Entry> {
        let (priority, _) = self.vectors.max(0)?;
        self.vectors.take(0, priority)
    }

    /// A priority in the window, just beyond it, behind it, or anywhere.
    fn pick(&self, step: Step) -> u64 {
        let (start, raw) = (self.first * self.half, u64::from(step.raw));
        match step.queue % 4 {
            0 => start.saturating_add(raw % (2 * self.half)),
            1 => start.saturating_add(raw % (4 * self.half)),
            2 => start.saturating_sub(raw % (2 * self.half)),
            _ => raw * (u64::MAX / u64::from(u16::MAX)),
        }
    }
}

/// Does `steps` to a window with halves of the shape's span, and to the naive one. If it is told the time, [`Act::Remove`] does so.
pub fn follow(shape: Shape, beyond: Beyond, is_told_time: bool, steps: &[Step]) {
    let Shape { capacity, span: half, overflow: _ } = shape;
    let mut window = RollingWindow::<u32, 2>::new(half, capacity, beyond).expect("a span that fits");
    let vectors = Vectors {
        largest: u64::MAX,
        room: Room::Together(capacity),
        overflow: Default::default(),
        queues: vec![Vec::new()],
    };
    let mut naive = Window { half, beyond, first: 0, served: 0, is_anchored: false, vectors };
    for (number, &step) in steps.iter().enumerate() {
        let item = number as u32;
        let priority = naive.pick(step);
        match step.act {
            Act::Insert => {
                assert_eq!(
                    window.insert(priority, item),
                    naive.insert(priority, item),
                    "priority {priority}"
                );
            }
            Act::ExtractMin => assert_eq!(window.extract_min(), naive.extract_min()),
            Act::ExtractMax => assert_eq!(window.extract_max(), naive.extract_max()),
            Act::Remove if !is_told_time => {}
            Act::Remove => {
                window.advance(priority);
                naive.advance(priority);
            }
        }
        assert_eq!(window.window(), (naive.first * half, 2 * half));
        assert_eq!(window.len(), naive.vectors.total());
        assert!(
            window
                .iter()
                .map(|(priority, &item)| (priority, item))
                .eq(naive.vectors.queues[0].iter().copied())
        );
        assert_eq!(window.peek_min().map(|(priority, &item)| (priority, item)), naive.vectors.min(0));
        assert_eq!(window.peek_max().map(|(priority, &item)| (priority, item)), naive.vectors.max(0));
    }
}
