//! The places of a directory.

use crate::{Object, Slot};

/// The state of a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Free,
    /// Being fetched, with the number of delayed hits so far.
    Fetching(u32),
    /// Removed while it was being fetched: the slot is free when the fetch ends.
    Abandoned,
    Resident,
}

/// An object in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) object: Object,
    pub(super) state: State,
}

/// The resident objects with their slots.
pub(super) fn residents(entries: &[Entry]) -> impl Iterator<Item = (Object, Slot)> {
    let resident = |(slot, entry): (u32, &Entry)| {
        matches!(entry.state, State::Resident).then_some((entry.object, Slot(slot)))
    };
    (0..).zip(entries).filter_map(resident)
}
