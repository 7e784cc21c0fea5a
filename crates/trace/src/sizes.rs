//! The size of an object whose requests tell different ones, or none.
//!
//! A web server's log has no size where an answer had no body (304, HEAD), and another one where a file was replaced or a
//! client hung up. Sizes are decided here, between the reader of a format and everyone who uses its requests, so that all
//! policies see the same.

use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use trueplane_units::choices;

use crate::Request;

choices! {
    /// The size of an object whose requests tell different ones. A size of 0 tells none.
    pub enum SizeChange {
        /// The size that was given last, up to this request.
        Last = "last",
        /// The largest size in the whole trace, for all requests. The trace is read twice.
        Largest = "largest",
        /// The first size that is given; a different size later is an error.
        Error = "error",
    }
}

/// The sizes of objects, by key.
pub(super) type SizeTable = HashMap<u64, u64>;

/// Gives requests the sizes of their objects. Memory: about 20 to 40 B an object.
pub(super) enum Sizes {
    /// Every request has the size that it tells.
    AsRead,
    /// That of [`SizeChange::Last`].
    Last(SizeTable),
    /// That of [`SizeChange::Error`].
    Same(SizeTable),
    /// That of [`SizeChange::Largest`].
    Largest(Arc<SizeTable>),
}

/// An object has another size than it had.
pub(super) struct Resized {
    pub(super) key: u64,
    pub(super) first: u64,
    pub(super) later: u64,
}

impl Sizes {
    /// Gives the trace's next requests their sizes.
    pub(super) fn settle(&mut self, requests: &mut [Request]) -> Result<(), Resized> {
        match self {
            Sizes::AsRead => {}
            Sizes::Last(sizes) => {
                for request in requests {
                    let size = sizes.entry(request.key).or_default();
                    if request.size > 0 {
                        *size = request.size;
                    }
                    request.size = *size;
                }
            }
            Sizes::Same(sizes) => {
                for request in requests {
                    let first = sizes.entry(request.key).or_default();
                    if *first == 0 {
                        *first = request.size;
                    } else if request.size > 0 && request.size != *first {
                        return Err(Resized { key: request.key, first: *first, later: request.size });
                    }
                    request.size = *first;
                }
            }
            Sizes::Largest(sizes) => {
                for request in requests {
                    request.size = sizes.get(&request.key).copied().unwrap_or(request.size);
                }
            }
        }
        Ok(())
    }
}

/// Enters the sizes of `requests` into a table of the largest ones.
pub(super) fn enter_largest(sizes: &mut SizeTable, requests: &[Request]) {
    for request in requests {
        match sizes.entry(request.key) {
            Entry::Occupied(mut known) => *known.get_mut() = request.size.max(*known.get()),
            Entry::Vacant(vacant) => drop(vacant.insert(request.size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;

    /// The sizes that requests `(key, size)` come to.
    fn settled(mut sizes: Sizes, requests: &[(u64, u64)]) -> Result<Vec<u64>, (u64, u64, u64)> {
        let request = |&(key, size): &(u64, u64)| Request { time: Nanos(0), key, size, fetch: Nanos(0) };
        let mut requests: Vec<Request> = requests.iter().map(request).collect();
        // Whatever the chunks are.
        for chunk in requests.chunks_mut(2) {
            sizes.settle(chunk).map_err(|Resized { key, first, later }| (key, first, later))?;
        }
        Ok(requests.iter().map(|request| request.size).collect())
    }

    const REQUESTS: [(u64, u64); 6] = [(1, 0), (1, 10), (2, 5), (1, 0), (1, 7), (1, 0)];

    #[test]
    fn what_tells_no_size_has_the_one_of_its_object() {
        assert_eq!(settled(Sizes::AsRead, &REQUESTS), Ok(vec![0, 10, 5, 0, 7, 0]));
        assert_eq!(settled(Sizes::Last(SizeTable::new()), &REQUESTS), Ok(vec![0, 10, 5, 10, 7, 7]));
        assert_eq!(settled(Sizes::Same(SizeTable::new()), &REQUESTS[..4]), Ok(vec![0, 10, 5, 10]));
        assert_eq!(settled(Sizes::Same(SizeTable::new()), &REQUESTS), Err((1, 10, 7)));
        let mut largest = SizeTable::new();
        let request = |(key, size)| Request { time: Nanos(0), key, size, fetch: Nanos(0) };
        enter_largest(&mut largest, &REQUESTS.map(request));
        assert_eq!(settled(Sizes::Largest(Arc::new(largest)), &REQUESTS), Ok(vec![10, 10, 5, 10, 10, 10]));
    }

    #[test]
    fn names_are_read() {
        assert_eq!("largest".parse(), Ok(SizeChange::Largest));
        let problem = "biggest".parse::<SizeChange>().unwrap_err().to_string();
        assert_eq!(problem, "expected one of last, largest, error, got \"biggest\"");
    }
}
