//! The hardware queue BBQ, as software that does the same bit for bit.
//!
//! A circuit that is to serve an operation in every clock cycle spreads it over a pipeline, and is right if its answers are those of a
//! queue that does one operation after the other. This is that queue: the same operations, the same answers, the same memories
//! ([`Layout::memories`], [`Bbq::word`]) after each operation. Its answers are written to `vectors/pqueue/bbq.json`, which a circuit
//! can be held to.
//!
//! 1. [`Layout`]: from the parameters ([`Shape`]) to the memories, and where a partition lies in the tree.
//! 2. `tree`: bitmaps with a count for every bit. An operation goes down from the top, and leaves each level with its effect on it
//!    done: that makes levels independent, which is what lets a pipeline run without stalls (§4.3.2).
//! 3. `elements`: lists through one memory, one for each priority, and the list of what is free.
//! 4. [`Circuit`]: what the parameters come to in the circuit of `rtl/bbq`.
//!
//! Source: Atre 2025 §4.2 (structure and operations), §4.3.3 (counts and waterlevel bits), §4.4.2 (partitions).
//!
//! Departures from it:
//!
//! - Elements of one priority leave in the order in which they came, always and from either end of the priorities. In the source,
//!   the second of two dequeues in a row takes the newest instead of the oldest (operation colouring, §4.3.2).
//! - Elements so leave a list only at its head, where the oldest is, and join it at its tail. The links need no way back, and there is
//!   no PREV: one memory of N pointers less. (The source enqueues at its HEAD.)
//! - An operation that cannot be done says so and changes nothing.
//! - The smallest number is MIN, and served first by everything else here; in the source the highest priority is MAX. The circuit has
//!   both ends, so that only the names differ.
//! - The free list behaves as if every operation was complete before the next one begins: an enqueue that follows a dequeue from a full
//!   queue finds the element that it has freed, even in the next cycle. A pipeline has to take from the free list in the stage in
//!   which it gives back; taking in the first stage, as in Table 4.2, it would have to know of spare elements.
//!
//! One thing is left to the circuit: two dequeues from one bucket in successive cycles need a link and the link behind it sooner than a
//! memory can be read twice. Whether it keeps several lists for each bucket, links that skip, or whatever else, its answers, its
//! counts and its free list are those of the model; only [`MemoryName::Bucket`] and [`MemoryName::Next`] are then its own.

mod circuit;
mod elements;
mod layout;
mod tree;

pub use circuit::{Circuit, Kept, LUT_WORDS, MOST_PARTITIONS, Memories, Table};
pub use layout::{Layout, Memory, MemoryName, Shape};

use crate::BadShape;
use elements::Elements;
use tree::{End, Tree};

/// Operation on a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Adds an element behind those of its priority.
    Enqueue {
        /// Priority, from 0 to [`Layout::span`] − 1.
        priority: u32,
        /// Data of [`Shape::data_bits`] bits.
        data: u64,
    },
    /// Takes out the oldest element of the smallest priority.
    DequeueMin,
    /// Takes out the oldest element of the largest priority.
    DequeueMax,
}

/// Whether an operation was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It was.
    Ok,
    /// Not an enqueue: no element is free, whichever partitions have them.
    Full,
    /// Not a dequeue: there is nothing in the partition.
    Empty,
}

/// The answer to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Response {
    /// Whether it was done. If not, nothing has changed.
    pub status: Status,
    /// The priority of the element that a dequeue took out; otherwise 0.
    pub priority: u32,
    /// Its data; otherwise 0.
    pub data: u64,
}

impl Response {
    /// An answer without an element.
    fn bare(status: Status) -> Self {
        Self { status, priority: 0, data: 0 }
    }
}

/// A value that does not fit on its port. In a circuit there are no wires for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {port} from 0 to {largest}, got {found}")]
pub struct BadPort {
    /// Name of the port.
    pub port: &'static str,
    /// The largest value on it; all from 0 on are possible.
    pub largest: u64,
    /// Value that was put on the port.
    pub found: u64,
}

impl BadPort {
    fn check(port: &'static str, found: u64, largest: u64) -> Result<(), Self> {
        if found <= largest { Ok(()) } else { Err(Self { port, largest, found }) }
    }
}

/// Priority queues over one tree and one memory, as in hardware.
///
/// Every operation is O(D) in the worst case. Nothing is allocated after construction.
#[derive(Clone, Debug)]
pub struct Bbq {
    layout: Layout,
    tree: Tree,
    elements: Elements,
    occupancy: Box<[u32]>,
}

impl Bbq {
    /// Empty queues: the state after a reset.
    ///
    /// # Errors
    ///
    /// If one of the parameters is outside what [`Shape`] says.
    pub fn new(shape: Shape) -> Result<Self, BadShape> {
        let layout = Layout::new(shape)?;
        Ok(Self {
            tree: Tree::new(layout.clone()),
            elements: Elements::new(&layout),
            occupancy: vec![0; shape.partitions as usize].into(),
            layout,
        })
    }

    /// The parameters and the memories.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of elements in a partition; 0 if there is no such partition.
    pub fn occupancy(&self, partition: u32) -> u32 {
        self.occupancy.get(partition as usize).copied().unwrap_or(0)
    }

    /// Does an operation on a partition.
    ///
    /// # Errors
    ///
    /// Nothing has changed, if there is no such partition, no such priority in it, or if the data have more bits than their port.
    pub fn issue(&mut self, partition: u32, operation: Operation) -> Result<Response, BadPort> {
        let Shape { partitions, data_bits, .. } = self.layout.shape();
        BadPort::check("a partition", partition.into(), u64::from(partitions) - 1)?;
        match operation {
            Operation::Enqueue { priority, data } => {
                BadPort::check("a priority", priority.into(), u64::from(self.layout.span()) - 1)?;
                BadPort::check("data", data, u64::MAX >> (u64::BITS - data_bits))?;
                Ok(self.enqueue(partition, priority, data))
            }
            Operation::DequeueMin => Ok(self.dequeue(partition, End::Min)),
            Operation::DequeueMax => Ok(self.dequeue(partition, End::Max)),
        }
    }

    fn enqueue(&mut self, partition: u32, priority: u32, data: u64) -> Response {
        if self.elements.is_full() {
            return Response::bare(Status::Full);
        }
        let bucket = partition * self.layout.span() + priority;
        let only = self.tree.enqueue(bucket);
        self.elements.push(bucket, only, data);
        self.occupancy[partition as usize] += 1;
        Response::bare(Status::Ok)
    }

    fn dequeue(&mut self, partition: u32, end: End) -> Response {
        let Some(bucket) = self.tree.dequeue(partition, end) else {
            return Response::bare(Status::Empty);
        };
        self.occupancy[partition as usize] -= 1;
        let data = self.elements.pop(bucket);
        Response { status: Status::Ok, priority: bucket % self.layout.span(), data }
    }

    /// A word of a memory, as [`MemoryName`] says what is in it; `None` if there is no such word.
    ///
    /// The links of free elements, and the ends of empty buckets, mean nothing.
    pub fn word(&self, name: MemoryName, address: usize) -> Option<u64> {
        match name {
            MemoryName::Bitmap(level) => self.tree.bitmap(level, address),
            MemoryName::Stoc(level) => self.tree.stoc(level, address),
            MemoryName::Occupancy => self.occupancy.get(address).map(|&count| count.into()),
            _ => self.elements.word(name, address),
        }
    }

    /// Whether the memories fit together, for tests: a bit is set if and only if its count is above 0, and the waterlevel bit if it is
    /// 2 or more; a count is the sum of those below it, and that of a leaf the length of its list; every element is in one list, or
    /// free; the occupancies are those of the partitions' buckets. O(W^D + N).
    ///
    /// # Errors
    ///
    /// Says what does not fit.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()?;
        self.elements.check(|bucket| self.tree.count(bucket))?;
        let span = self.layout.span() as usize;
        for (partition, &occupancy) in self.occupancy.iter().enumerate() {
            let sum: u32 = (partition * span..).take(span).map(|bucket| self.tree.count(bucket)).sum();
            if sum != occupancy {
                return Err(format!(
                    "partition {partition}: occupancy {occupancy}, and {sum} in its buckets"
                ));
            }
        }
        Ok(())
    }
}
