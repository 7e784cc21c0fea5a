//! Fetches that this thread is working on, one within the other: a fetch that waits for one of them would wait for itself.

use std::cell::RefCell;

/// What tells a flight from all others that are on their way.
pub(super) type Id = usize;

thread_local! {
    static WORKING: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// The thread works on a flight until this is dropped.
pub(super) struct Within(());

/// From now on the thread works on `flight`.
pub(super) fn enter(flight: Id) -> Within {
    WORKING.with_borrow_mut(|working| working.push(flight));
    Within(())
}

/// Whether the thread works on `flight`, perhaps on another one within it.
pub(super) fn is_within(flight: Id) -> bool {
    WORKING.with_borrow(|working| working.contains(&flight))
}

impl Drop for Within {
    fn drop(&mut self) {
        WORKING.with_borrow_mut(|working| {
            working.pop();
        });
    }
}
