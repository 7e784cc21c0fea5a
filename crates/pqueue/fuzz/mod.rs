//! What the fuzz target of `pqueue` does with an input: it drives every queue and a naive vector through the same operations.
//!
//! `cargo test` does the same with the seeds, and with operations of its own (crates/pqueue/tests/pqueue/conformance).

pub mod pieo;
pub mod subject;
pub mod table;
pub mod timers;
pub mod vector;
pub mod window;

use trueplane_pqueue::Overflow;
use trueplane_pqueue::window::Beyond;

pub use table::Shape;

/// An operation on any queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub act: Act,
    /// To which queue, of those that the row has.
    pub queue: u8,
    /// A share of the priorities that the row takes, or one of the items so far.
    pub raw: u16,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Add an item.
    Insert,
    /// Take out the oldest item of the smallest priority.
    ExtractMin,
    /// Take out the oldest item of the largest priority.
    ExtractMax,
    /// Take out an item by its name, whether or not it has left.
    Remove,
}

/// The acts of a byte: more come than go.
const ACTS: [Act; 8] = [
    Act::Insert,
    Act::ExtractMin,
    Act::Insert,
    Act::ExtractMax,
    Act::Insert,
    Act::ExtractMin,
    Act::Insert,
    Act::Remove,
];

/// How often what happened, so that a test can say that it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// An item was taken out of an end.
    pub served: u64,
    /// An item had to go for another, or went at once.
    pub displaced: u64,
    /// An item came back because the queue was full.
    pub full: u64,
    /// An item came back because of its priority.
    pub out_of_span: u64,
    /// An item was taken out by its name.
    pub removed: u64,
    /// A name did not name anything any more.
    pub stale: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.served += other.served;
        self.displaced += other.displaced;
        self.full += other.full;
        self.out_of_span += other.out_of_span;
        self.removed += other.removed;
        self.stale += other.stale;
    }
}

/// Reads two bytes as the shape of the queues and four as each step, and does them all to every queue.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut seen = Seen::default();
    let Some((&[room, span], rest)) = bytes.split_first_chunk() else { return seen };
    let overflow = [Overflow::Refuse, Overflow::DropWorst, Overflow::DropIfWorst][usize::from(room) % 3];
    let shape = Shape { capacity: 1 + usize::from(room) / 3, span: 1 + u64::from(span), overflow };
    let steps: Vec<Step> = rest
        .as_chunks()
        .0
        .iter()
        .map(|&[act, queue, high, low]| Step {
            act: ACTS[usize::from(act) % ACTS.len()],
            queue,
            raw: u16::from_be_bytes([high, low]),
        })
        .collect();
    for mut row in table::rows(shape) {
        seen += row.follow(&steps);
    }
    for beyond in [Beyond::Refuse, Beyond::Last] {
        window::follow(shape, beyond, false, &steps);
        window::follow(shape, beyond, true, &steps);
    }
    pieo::follow(shape.capacity, &steps);
    timers::follow(shape.capacity, &steps);
    seen
}
