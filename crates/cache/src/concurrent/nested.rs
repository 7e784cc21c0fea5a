//! Fetches that wait for each other: one that would wait for itself, in whatever way, is told so instead.

use std::cell::RefCell;
use std::sync::PoisonError;

use super::sync::{Mutex, thread_local};

/// What tells a flight from all others that are on their way.
pub(super) type Id = usize;

thread_local! {
    /// Flights that this thread works on, one within the other.
    #[cfg_attr(not(loom), expect(clippy::missing_const_for_thread_local, reason = "loom's macro takes none"))]
    static WORKING: RefCell<Vec<Id>> = RefCell::new(Vec::new());
}

/// The thread works on a flight until this is dropped.
pub(super) struct Within(());

/// From now on the thread works on `flight`.
pub(super) fn enter(flight: Id) -> Within {
    WORKING.with(|working| working.borrow_mut().push(flight));
    Within(())
}

impl Drop for Within {
    fn drop(&mut self) {
        WORKING.with(|working| working.borrow_mut().pop());
    }
}

/// Which flights wait for which others.
#[derive(Debug, Default)]
pub(super) struct WaitsFor {
    edges: Mutex<Vec<(Id, Id)>>,
}

impl WaitsFor {
    /// The flights that this thread works on wait for `flight` from now on. Returns them, or none if one of them would wait for itself.
    pub(super) fn add(&self, flight: Id) -> Option<Vec<Id>> {
        let working = WORKING.with(|working| working.borrow().clone());
        if working.is_empty() {
            return Some(working);
        }
        let mut edges = self.edges.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut reached, mut seen) = (vec![flight], Vec::new());
        while let Some(next) = reached.pop() {
            if working.contains(&next) {
                return None;
            }
            if !seen.contains(&next) {
                seen.push(next);
                reached.extend(edges.iter().filter(|(from, _)| *from == next).map(|(_, to)| *to));
            }
        }
        edges.extend(working.iter().map(|from| (*from, flight)));
        Some(working)
    }

    /// These flights wait for `flight` no longer.
    pub(super) fn remove(&self, working: &[Id], flight: Id) {
        if working.is_empty() {
            return;
        }
        let mut edges = self.edges.lock().unwrap_or_else(PoisonError::into_inner);
        for from in working {
            if let Some(place) = edges.iter().position(|edge| *edge == (*from, flight)) {
                edges.swap_remove(place);
            }
        }
    }
}
