//! The one table that every queue must pass.

use trueplane_pqueue::bbq::Bbq;
use trueplane_pqueue::gradient::Gradient;
use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{
    FifoBank, Handle, Heap, Hffs, Overflow, Partitioned, Pifo, Refused, RollingWindow, bbq, gradient,
};

use super::subject::{BothEnds, OneEnd, Subject};
use super::vector::{Entry, Room, Vectors};
use super::{Act, Seen, Step};

/// What the queues of the table are made for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// So many items, …
    pub capacity: usize,
    /// … about so many priorities, from 1 to 256, …
    pub span: u64,
    /// … and this rule, where they have one.
    pub overflow: Overflow,
}

/// Which priorities a row is asked for.
#[derive(Clone, Copy, Debug)]
enum Priorities {
    /// All up to the bound, and the bound itself, for which there is no place.
    Below(u64),
    /// All there are.
    All,
    /// From the one served last to so many above it.
    FromLast(u64),
}

impl Priorities {
    /// The one at `raw` of 65,535 parts.
    fn at(self, raw: u16, last: u64) -> u64 {
        let part = |whole: u64| (u128::from(raw) * u128::from(whole) / u128::from(u16::MAX)) as u64;
        match self {
            Priorities::Below(bound) => part(bound),
            Priorities::All => part(u64::MAX),
            Priorities::FromLast(most) => last.saturating_add(part(most)),
        }
    }
}

/// A queue, and what it must do.
pub struct Row {
    /// Which it is.
    pub name: String,
    queue: Box<dyn Subject>,
    priorities: Priorities,
    /// How far above the smallest priority one may be that is served as such.
    error: u64,
    vectors: Vectors,
    /// The priority served last.
    last: u64,
    handles: Vec<(Handle, u32)>,
}

impl Row {
    fn new(
        name: impl Into<String>,
        queue: impl Subject + 'static,
        priorities: Priorities,
        room: Room,
    ) -> Self {
        let largest = if let Priorities::Below(bound) = priorities { bound - 1 } else { u64::MAX };
        let vectors = Vectors { largest, room, overflow: Overflow::Refuse, queues: vec![Vec::new()] };
        let queue = Box::new(queue);
        Self { name: name.into(), queue, priorities, error: 0, vectors, last: 0, handles: Vec::new() }
    }

    fn with_rule(mut self, overflow: Overflow) -> Self {
        self.vectors.overflow = overflow;
        self
    }

    fn with_queues(mut self, queues: usize) -> Self {
        self.vectors.queues = vec![Vec::new(); queues];
        self
    }

    /// Does `steps` to the queue and to the vectors, and holds one to the other after each. Items are the numbers of their steps.
    pub fn follow(&mut self, steps: &[Step]) -> Seen {
        let mut seen = Seen::default();
        for (number, step) in steps.iter().enumerate() {
            let queue = usize::from(step.queue) % self.vectors.queues.len();
            let priority = self.priorities.at(step.raw, self.last);
            match step.act {
                Act::Insert => self.insert(queue, priority, number as u32, &mut seen),
                Act::ExtractMin => self.extract_min(queue, &mut seen),
                Act::ExtractMax => self.extract_max(queue, &mut seen),
                Act::Remove => self.remove(step.raw, &mut seen),
            }
            self.check(queue, priority);
        }
        seen
    }

    fn insert(&mut self, queue: usize, priority: u64, item: u32, seen: &mut Seen) {
        let expected = self.vectors.insert(queue, priority, item);
        let inserted = self.queue.insert(queue, priority, item);
        let found = inserted.map(|inserted| {
            self.handles.extend(inserted.handle.map(|handle| (handle, item)));
            inserted.displaced
        });
        assert_eq!(found, expected, "{}: item {item} of priority {priority}", self.name);
        match found {
            Ok(displaced) => seen.displaced += u64::from(displaced.is_some()),
            Err(Refused::Full(_)) => seen.full += 1,
            Err(Refused::OutOfSpan(_)) => seen.out_of_span += 1,
            Err(refused) => panic!("{}: {refused}", self.name),
        }
    }

    fn extract_min(&mut self, queue: usize, seen: &mut Seen) {
        let peeked = self.queue.peek_min(queue);
        let served = self.queue.extract_min(queue);
        assert!(peeked.is_none_or(|peeked| peeked == served), "{}: {peeked:?}, then {served:?}", self.name);
        self.assert_nearly_min(queue, served);
        if let Some((priority, _)) = served {
            self.vectors.take(queue, priority);
            self.last = priority;
            seen.served += 1;
        }
    }

    fn extract_max(&mut self, queue: usize, seen: &mut Seen) {
        let Some(served) = self.queue.extract_max(queue) else { return };
        assert_eq!(served, self.vectors.max(queue), "{}: the maximum", self.name);
        if let Some((priority, _)) = served {
            self.vectors.take(queue, priority);
            seen.served += 1;
        }
    }

    /// Takes out one of the items so far by its name, most of which have left.
    fn remove(&mut self, raw: u16, seen: &mut Seen) {
        if self.handles.is_empty() {
            return;
        }
        let (handle, item) = self.handles[usize::from(raw) % self.handles.len()];
        let removed = self.queue.remove(handle);
        assert_eq!(removed, self.vectors.remove(item), "{}: item {item} by its name", self.name);
        seen.removed += u64::from(removed.is_some());
        seen.stale += u64::from(removed.is_none());
    }

    fn check(&self, queue: usize, around: u64) {
        let name = &self.name;
        assert_eq!(self.queue.total(), self.vectors.total(), "{name}");
        assert_eq!(self.queue.len_of(queue), self.vectors.queues[queue].len(), "{name}");
        if let Some(peeked) = self.queue.peek_min(queue) {
            self.assert_nearly_min(queue, peeked);
        }
        if let Some(peeked) = self.queue.peek_max(queue) {
            assert_eq!(peeked, self.vectors.max(queue), "{name}: the maximum");
        }
        self.queue.check(&self.vectors.queues, around);
    }

    /// What is served first is the oldest of its priority, which is the smallest, or nearly.
    fn assert_nearly_min(&self, queue: usize, served: Option<Entry>) {
        let name = &self.name;
        let Some((best, _)) = self.vectors.min(queue) else { return assert_eq!(served, None, "{name}") };
        let Some((priority, _)) = served else { panic!("{name}: nothing, where there is priority {best}") };
        let range = best..=best.saturating_add(self.error);
        assert!(range.contains(&priority), "{name}: served {priority} before {best}");
        assert_eq!(served, self.vectors.oldest(queue, priority), "{name}");
    }

    /// How many items there may be, by the queue and by the rule.
    pub fn capacities(&self) -> (usize, usize) {
        let expected = match self.vectors.room {
            Room::Together(most) => most,
            Room::Each(most) => most * (self.vectors.largest as usize + 1),
        };
        (self.queue.capacity(), expected)
    }
}

/// Every queue.
pub fn rows(shape: Shape) -> Vec<Row> {
    let Shape { capacity, span, overflow } = shape;
    let room = Room::Together(capacity);
    let pifo = BothEnds(Pifo::new(capacity, overflow).expect("a capacity above 0"));
    let heap = OneEnd(Heap::new(capacity).expect("a capacity above 0"));
    let bank = OneEnd(FifoBank::new(span as usize, capacity).expect("few queues"));
    let gradient = OneEnd(Gradient::new(span * 4, capacity).expect("few priorities"));
    let mut rows = vec![
        hffs::<1>(span.min(64), shape),
        hffs::<2>(span * 16, shape),
        hffs::<3>(4_096 + span, shape),
        hffs::<4>(262_144 + span, shape),
        Row::new("pifo", pifo, Priorities::All, room).with_rule(overflow),
        Row::new("heap", heap, Priorities::All, room),
        Row::new("bank", bank, Priorities::Below(span), Room::Each(capacity)),
        Row {
            error: gradient::MOST_OFF,
            ..Row::new("gradient", gradient, Priorities::Below(span * 4), room)
        },
        partitioned::<2>(1, shape),
        partitioned::<2>(5, shape),
        partitioned::<3>(64, shape),
        window(0, shape),
        window(u64::MAX - 3 * span, shape),
    ];
    rows.extend([(4, 3, 1), (4, 3, 4), (2, 6, 8), (8, 2, 8)].map(|tree| hardware(tree, shape)));
    rows
}

fn hffs<const LEVELS: usize>(span: u64, Shape { capacity, overflow, .. }: Shape) -> Row {
    let queue = Hffs::<u32, LEVELS>::new(span, capacity, overflow).expect("a span that fits");
    let name = format!("hffs of {LEVELS} levels, {overflow:?}");
    Row::new(name, queue, Priorities::Below(span), Room::Together(capacity)).with_rule(overflow)
}

fn partitioned<const LEVELS: usize>(queues: usize, Shape { capacity, span, .. }: Shape) -> Row {
    let queue = Partitioned::<u32, LEVELS>::new(queues, span, capacity).expect("spans that fit");
    let name = format!("{queues} of {LEVELS} levels");
    Row::new(name, queue, Priorities::Below(span), Room::Together(capacity)).with_queues(queues)
}

/// A window that has served `start`, and whose priorities stay where its order is exact.
fn window(start: u64, Shape { capacity, span, .. }: Shape) -> Row {
    let mut queue = RollingWindow::<u32, 2>::new(span, capacity, Beyond::Refuse).expect("a span that fits");
    assert_eq!(queue.insert(start, 0), Ok(None));
    assert_eq!(queue.extract_min(), Some((start, 0)));
    let name = format!("window from {start}");
    Row {
        last: start,
        ..Row::new(name, BothEnds(queue), Priorities::FromLast(span), Room::Together(capacity))
    }
}

fn hardware((width, levels, partitions): (u32, u32, u32), Shape { capacity, .. }: Shape) -> Row {
    let shape = bbq::Shape { width, levels, capacity: capacity as u32, partitions, data_bits: 32 };
    let queue = Bbq::new(shape).expect("a small shape");
    let span = queue.layout().span().into();
    let name = format!("bbq of {levels} levels of {width}, {partitions} partitions");
    Row::new(name, queue, Priorities::Below(span), Room::Together(capacity)).with_queues(partitions as usize)
}
