//! Flows by their names, of which the least recently used goes first.

use hashbrown::HashMap;

const NONE: usize = usize::MAX;

/// State of flows, in the order of their last use. Every operation: O(1).
#[derive(Clone, Debug)]
pub(super) struct Flows<F> {
    places: HashMap<u64, usize>,
    entries: Vec<Entry<F>>,
    free: Vec<usize>,
    newest: usize,
    oldest: usize,
}

#[derive(Clone, Debug)]
struct Entry<F> {
    name: u64,
    flow: F,
    older: usize,
    newer: usize,
}

impl<F: Default> Flows<F> {
    pub(super) fn new() -> Self {
        Self { places: HashMap::new(), entries: Vec::new(), free: Vec::new(), newest: NONE, oldest: NONE }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// A flow, as it is; this is no use.
    pub(super) fn peek(&self, name: u64) -> Option<&F> {
        self.places.get(&name).map(|&place| &self.entries[place].flow)
    }

    /// A flow, which is the most recently used from now on.
    pub(super) fn touch(&mut self, name: u64) -> Option<&mut F> {
        let place = *self.places.get(&name)?;
        if place != self.newest {
            self.unlink(place);
            self.link(place);
        }
        Some(&mut self.entries[place].flow)
    }

    /// Adds a flow that is not there, as the most recently used.
    pub(super) fn add(&mut self, name: u64, flow: F) -> &mut F {
        let entry = Entry { name, flow, older: NONE, newer: NONE };
        let place = if let Some(place) = self.free.pop() {
            self.entries[place] = entry;
            place
        } else {
            self.entries.push(entry);
            self.entries.len() - 1
        };
        self.places.insert(name, place);
        self.link(place);
        &mut self.entries[place].flow
    }

    /// Takes out a flow.
    pub(super) fn remove(&mut self, name: u64) -> Option<F> {
        let place = self.places.remove(&name)?;
        self.unlink(place);
        self.free.push(place);
        Some(std::mem::take(&mut self.entries[place].flow))
    }

    /// Takes out the least recently used flow.
    pub(super) fn remove_oldest(&mut self) -> Option<F> {
        let name = self.entries.get(self.oldest)?.name;
        self.remove(name)
    }

    fn link(&mut self, place: usize) {
        (self.entries[place].older, self.entries[place].newer) = (self.newest, NONE);
        match self.entries.get_mut(self.newest) {
            Some(newest) => newest.newer = place,
            None => self.oldest = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: usize) {
        let Entry { older, newer, .. } = self.entries[place];
        match self.entries.get_mut(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entries.get_mut(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }
}
