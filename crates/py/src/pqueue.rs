//! The hierarchical find-first-set queue, with items of Python.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use trueplane_pqueue::{BadShape, DoubleEnded, Hffs, Overflow, Refused};

use crate::arrays::check_length;
use crate::errors;

type Item = Py<PyAny>;

/// A queue whose number of levels is known only at run time.
trait Ends: DoubleEnded<Item> + Send + Sync {
    /// Shows the items to the collector of garbage.
    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError>;
}

impl<const LEVELS: usize> Ends for Hffs<Item, LEVELS> {
    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.iter().try_for_each(|(_, item)| visit.call(item))
    }
}

/// As few levels as the span needs.
fn make(span: u64, capacity: usize, overflow: Overflow) -> Result<Box<dyn Ends>, BadShape> {
    Ok(match span {
        ..=0x40 => Box::new(Hffs::<Item, 1>::new(span, capacity, overflow)?),
        0x41..=0x1000 => Box::new(Hffs::<Item, 2>::new(span, capacity, overflow)?),
        0x1001..=0x4_0000 => Box::new(Hffs::<Item, 3>::new(span, capacity, overflow)?),
        _ => Box::new(Hffs::<Item, 4>::new(span, capacity, overflow)?),
    })
}

/// A priority queue.
#[pyclass(module = "trueplane._native")]
pub(crate) struct Queue {
    span: u64,
    capacity: usize,
    overflow: Overflow,
    queue: Box<dyn Ends>,
}

impl Queue {
    fn full(&self) -> PyErr {
        PyOverflowError::new_err(format!("the queue is full: it has {} items", self.capacity))
    }

    fn out_of_span(&self, priority: u64) -> PyErr {
        errors::parameter(format!("priority: expected 0 to {}, got {priority}", self.span - 1))
    }
}

#[pymethods]
impl Queue {
    /// An empty queue for `capacity` items of priorities below `span`.
    #[new]
    fn new(span: u64, capacity: u64, when_full: &str) -> PyResult<Self> {
        let overflow = match when_full {
            "refuse" => Overflow::Refuse,
            "drop-worst" => Overflow::DropWorst,
            "drop-if-worst" => Overflow::DropIfWorst,
            other => {
                let message =
                    format!("when_full: expected refuse, drop-worst or drop-if-worst, got \"{other}\"");
                return Err(errors::parameter(message));
            }
        };
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        let queue = make(span, capacity, overflow).map_err(|error| errors::parameter(error.to_string()))?;
        Ok(Self { span, capacity, overflow, queue })
    }

    fn __len__(&self) -> usize {
        self.queue.len()
    }

    /// Adds an item. Returns the one that had to go for it with its priority.
    fn insert(&mut self, priority: u64, item: Item) -> PyResult<Option<(u64, Item)>> {
        self.queue.insert(priority, item).map_err(|refused| match refused {
            Refused::OutOfSpan(_) => self.out_of_span(priority),
            _ => self.full(),
        })
    }

    /// Adds many items, or none if one cannot be added. Returns those that had to go, with their priorities.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn insert_many(
        &mut self,
        priorities: PyReadonlyArray1<'_, u64>,
        items: Vec<Item>,
    ) -> PyResult<Vec<(u64, Item)>> {
        let priorities = priorities.as_slice()?;
        check_length("items", items.len(), priorities.len(), false)?;
        if let Some(&wrong) = priorities.iter().find(|&&priority| priority >= self.span) {
            return Err(self.out_of_span(wrong));
        }
        if self.overflow == Overflow::Refuse && items.len() > self.capacity - self.queue.len() {
            return Err(self.full());
        }
        let mut displaced = Vec::new();
        for (&priority, item) in priorities.iter().zip(items) {
            displaced.extend(self.insert(priority, item)?);
        }
        Ok(displaced)
    }

    /// The item that `extract` would return, with its priority.
    fn peek(&self, py: Python<'_>, is_worst: bool) -> PyResult<(u64, Item)> {
        let peeked = if is_worst { self.queue.peek_max() } else { self.queue.peek_min() };
        peeked.map(|(priority, item)| (priority, item.clone_ref(py))).ok_or_else(empty)
    }

    /// Takes out the oldest item of the smallest priority, or of the largest, with its priority.
    fn extract(&mut self, is_worst: bool) -> PyResult<(u64, Item)> {
        let taken = if is_worst { self.queue.extract_max() } else { self.queue.extract_min() };
        taken.ok_or_else(empty)
    }

    /// Takes out up to `count` items: their priorities, and the items.
    fn extract_many<'py>(
        &mut self,
        py: Python<'py>,
        count: usize,
        is_worst: bool,
    ) -> (Bound<'py, PyArray1<u64>>, Vec<Item>) {
        let taken = (0..count.min(self.queue.len())).map_while(|_| self.extract(is_worst).ok());
        let (priorities, items): (Vec<u64>, Vec<Item>) = taken.unzip();
        (priorities.into_pyarray(py), items)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.queue.visit(&visit)
    }

    fn __clear__(&mut self) {
        while self.queue.extract_min().is_some() {}
    }
}

fn empty() -> PyErr {
    PyIndexError::new_err("the queue is empty")
}
