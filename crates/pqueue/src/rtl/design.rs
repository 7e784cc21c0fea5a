//! The queues that can be written, and what their parameters come to.

use trueplane_units::choices;

use crate::BadShape;
use crate::bbq::{Circuit, Kept, Memories, Shape, Table};

choices! {
    /// A queue in hardware.
    pub enum Queue {
        /// Integer priorities, both ends, partitions: one operation in every cycle.
        Bbq = "bbq",
        /// A BBQ behind a small PIFO: the smallest element is on the ports, and can be taken in every second cycle.
        Exact = "exact",
        /// A BBQ for priorities that grow without end, such as times.
        Window = "window",
        /// Two BBQs: one says which tenant's turn it is, one which of its elements. Each partition is a tenant.
        Hier = "hier",
        /// A sorted array of registers, to compare with.
        Pifo = "pifo",
    }
}

impl Queue {
    /// Name of the module that a bundle has at the top.
    pub fn top(self) -> &'static str {
        match self {
            Queue::Bbq => "bbq",
            Queue::Exact => "bbq_exact",
            Queue::Window => "bbq_window",
            Queue::Hier => "bbq_hier",
            Queue::Pifo => "pifo",
        }
    }

    /// Operations in a cycle: a push and a pop are two.
    pub fn operations_per_cycle(self) -> u32 {
        if self == Queue::Pifo { 2 } else { 1 }
    }
}

/// What some of the queues need besides a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extras {
    /// Bits of a priority that grows, up to 64: for `window`.
    pub priority_bits: u32,
    /// Width of the tree of tenants: for `hier`.
    pub upper_width: u32,
    /// Levels of the tree of tenants: for `hier`.
    pub upper_levels: u32,
}

/// The most elements of a PIFO. Each has a comparator of its own.
const MOST_OF_A_PIFO: u32 = 4096;

/// A queue with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    queue: Queue,
    circuit: Circuit,
    /// The queue of tenants.
    upper: Option<Circuit>,
    priority_bits: u32,
}

impl Design {
    /// A queue of a shape.
    ///
    /// # Errors
    ///
    /// If the circuit cannot be, or the queue has other partitions: `hier` needs two at least, and only `bbq` and `hier` have several. Only `bbq` has
    /// stages at its memories.
    pub fn new(queue: Queue, shape: Shape, memories: Memories, extras: Extras) -> Result<Self, BadShape> {
        let Extras { priority_bits, upper_width, upper_levels } = extras;
        let partitions = match queue {
            // The layout refuses what it does not have.
            Queue::Bbq => 0..=u64::MAX,
            Queue::Hier => 2..=u64::MAX,
            _ => 1..=1,
        };
        if !partitions.contains(&shape.partitions.into()) {
            let expected = if queue == Queue::Hier { "two partitions or more" } else { "one partition" };
            let expected = format!("{expected} for the queue {queue}");
            return Err(BadShape { expected, found: shape.partitions.into() });
        }
        if memories.stages && queue != Queue::Bbq {
            let expected = format!("no memory stages for the queue {queue}: only bbq has them");
            return Err(BadShape { expected, found: 1 });
        }
        let halves = Shape { partitions: 2, ..shape };
        let circuit = Circuit::new(if queue == Queue::Window { halves } else { shape }, memories)?;
        let bucket_bits = circuit.layout().buckets().ilog2();
        let mut design = Self { queue, circuit, upper: None, priority_bits: bucket_bits };
        match queue {
            Queue::Bbq | Queue::Exact => {}
            Queue::Window => {
                let range = u64::from(bucket_bits) + 1..=64;
                BadShape::check("a number of priority bits", priority_bits.into(), range)?;
                design.priority_bits = priority_bits;
            }
            Queue::Hier => {
                let data_bits = shape.partitions.ilog2();
                let upper =
                    Shape { width: upper_width, levels: upper_levels, partitions: 1, data_bits, ..shape };
                design.upper = Some(Circuit::new(upper, memories)?);
            }
            Queue::Pifo => {
                BadShape::check("elements of a PIFO", shape.capacity.into(), 2..=MOST_OF_A_PIFO.into())?;
            }
        }
        Ok(design)
    }

    /// The kind of queue.
    pub fn queue(&self) -> Queue {
        self.queue
    }

    /// The BBQ in it, with the elements; of a PIFO, that which would have its elements and priorities.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The queue of tenants of `hier`.
    pub fn upper(&self) -> Option<&Circuit> {
        self.upper.as_ref()
    }

    /// Bits of a priority on the ports.
    pub fn priority_bits(&self) -> u32 {
        match self.queue {
            Queue::Bbq | Queue::Hier => bits_for(self.circuit.layout().span()),
            Queue::Exact | Queue::Window | Queue::Pifo => self.priority_bits,
        }
    }

    /// Number of priorities of each queue, but for a window's, which grow.
    pub fn span(&self) -> u32 {
        if self.queue == Queue::Window {
            self.circuit.layout().buckets()
        } else {
            self.circuit.layout().span()
        }
    }

    /// Cycles from a request to its response; none where elements are on the ports.
    pub fn latency(&self) -> u32 {
        match self.queue {
            Queue::Bbq => self.circuit.latency(),
            Queue::Window => self.circuit.latency() + 2,
            Queue::Hier => self.circuit.latency() + self.upper.as_ref().map_or(0, Circuit::latency),
            Queue::Exact | Queue::Pifo => 0,
        }
    }

    /// Elements of the PIFO of `exact`: one more than pops whose elements may be under way.
    pub fn front_elements(&self) -> u32 {
        (self.circuit.latency() + 2) / 2 + 1
    }

    /// All tables, but for the registers between stages.
    pub fn tables(&self) -> Vec<Table> {
        let Shape { capacity, data_bits, .. } = self.circuit.layout().shape();
        let sorted = |name: &str, words: u32| Table {
            name: name.to_owned(),
            words: words.into(),
            bits: 1 + self.priority_bits + data_bits,
            kept: Kept::Registers,
        };
        match self.queue {
            Queue::Bbq | Queue::Window => self.circuit.tables(),
            Queue::Exact => {
                let mut tables = vec![sorted("front", self.front_elements())];
                tables.extend(self.circuit.tables());
                tables
            }
            Queue::Hier => {
                let upper = self.upper.iter().flat_map(Circuit::tables);
                let upper = upper.map(|table| Table { name: format!("upper_{}", table.name), ..table });
                upper.chain(self.circuit.tables()).collect()
            }
            Queue::Pifo => vec![sorted("slots", capacity)],
        }
    }
}

/// Bits that number so many values, and one at least.
pub(super) fn bits_for(values: u32) -> u32 {
    values.next_power_of_two().ilog2().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTRAS: Extras = Extras { priority_bits: 32, upper_width: 8, upper_levels: 2 };

    fn design(queue: Queue, capacity: u32, partitions: u32) -> Result<Design, String> {
        let shape = Shape { width: 8, levels: 3, capacity, partitions, data_bits: 16 };
        Design::new(queue, shape, Memories::default(), EXTRAS).map_err(|error| error.to_string())
    }

    #[test]
    fn latencies_and_tables_are_those_of_the_parts() {
        let of = |queue, partitions| design(queue, 1023, partitions).unwrap();
        assert_eq!(of(Queue::Bbq, 1).latency(), 16);
        // Two partitions are a cycle more, and the window's decision two.
        assert_eq!(of(Queue::Window, 1).latency(), 19);
        // The queue of tenants has two levels: 1 + 2 + 3 + 4 + 2.
        assert_eq!(of(Queue::Hier, 8).latency(), 12 + 15);
        assert_eq!((of(Queue::Exact, 1).latency(), of(Queue::Exact, 1).front_elements()), (0, 10));
        let front = &of(Queue::Exact, 1).tables()[0];
        assert_eq!((front.words, front.bits), (10, 1 + 9 + 16));
        assert_eq!(of(Queue::Hier, 8).tables().len(), 2 * 2 + 4 + 2 * 2 + 4);
        let bits = |queue, partitions| of(queue, partitions).priority_bits();
        assert_eq!((bits(Queue::Bbq, 8), bits(Queue::Window, 1), bits(Queue::Exact, 1)), (6, 32, 9));
    }

    #[test]
    fn what_a_queue_does_not_have_is_refused() {
        let said = |queue, capacity, partitions| design(queue, capacity, partitions).unwrap_err();
        assert_eq!(said(Queue::Exact, 9, 2), "expected one partition for the queue exact, got 2");
        assert_eq!(said(Queue::Hier, 9, 1), "expected two partitions or more for the queue hier, got 1");
        assert_eq!(said(Queue::Pifo, 5000, 1), "expected elements of a PIFO from 2 to 4096, got 5000");
        let shape = Shape { width: 8, levels: 3, capacity: 9, partitions: 1, data_bits: 16 };
        let few = Extras { priority_bits: 9, ..EXTRAS };
        let refused = Design::new(Queue::Window, shape, Memories::default(), few).unwrap_err();
        assert_eq!(refused.to_string(), "expected a number of priority bits from 10 to 64, got 9");
    }
}
