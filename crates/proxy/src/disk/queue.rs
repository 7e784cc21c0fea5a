//! What waits to be written: a bounded number of objects, and every removal.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashSet;
use tokio::sync::watch;

use super::format::Digest;
use super::stored::Variation;
use crate::head::{Head, Object};

/// Removals that wait, at most: if there are more, everything is removed.
const MOST_REMOVED: usize = 1 << 20;
/// Objects that wait, at most.
const MOST_ITEMS: usize = 1 << 14;

/// An object that has left the memory.
pub(super) struct Item {
    pub(super) name: Vec<u8>,
    /// Bytes of the URL at the front of the name.
    pub(super) url: usize,
    pub(super) head: Arc<Head>,
    pub(super) object: Object,
    /// The fields that the answers to its URL vary by, if they do.
    pub(super) variation: Option<Variation>,
    pub(super) bytes: u64,
    /// The last number when it left the memory.
    pub(super) left: u64,
}

/// What is to be done next.
pub(super) enum Work {
    /// Remove everything.
    Clear,
    /// Remove what was written under these names.
    Removed(Vec<Digest>),
    /// Perhaps write an object.
    Item(Box<Item>),
    /// The folder is gone.
    Broken,
    /// Nothing more.
    Stop,
}

#[derive(Default)]
struct State {
    is_clear: bool,
    /// Everything is being removed.
    is_clearing: bool,
    removed: HashSet<Digest>,
    /// Removals that are being written.
    taken: HashSet<Digest>,
    items: VecDeque<Item>,
    bytes: u64,
    is_broken: bool,
    is_stopped: bool,
    /// Removals so far, and how many there were when the last ones were taken.
    pushed: u64,
    pushed_before: u64,
}

impl State {
    fn take_items(&mut self) -> VecDeque<Item> {
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }
}

/// The queue of one writer.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Bytes of objects that wait, at most.
    most: u64,
    /// Removals that are written; none once nobody writes any more.
    done: watch::Sender<Option<u64>>,
}

impl Queue {
    pub(super) fn new(most: u64) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most, done: watch::Sender::new(Some(0)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }

    /// Adds an object, if there is room. One that is larger than all may be has room if nothing else waits. Returns whether there was.
    pub(super) fn offer(&self, item: Item) -> bool {
        self.change(|state| {
            let bytes = state.bytes.saturating_add(item.bytes);
            let is_full = state.items.len() >= MOST_ITEMS || bytes > self.most;
            if state.is_stopped || (is_full && !state.items.is_empty()) {
                return false;
            }
            state.bytes = bytes;
            state.items.push_back(item);
            true
        })
    }

    /// Whether so few objects wait that another one most likely finds room.
    pub(super) fn has_room(&self) -> bool {
        let state = self.lock();
        state.items.len() < MOST_ITEMS / 2 && state.bytes < self.most / 2
    }

    /// Adds a removal, which comes before all objects. Returns the number by which it is known whether it [is written](Self::settled).
    pub(super) fn remove(&self, digest: Digest) -> u64 {
        self.change(|state| {
            state.pushed += 1;
            if state.removed.len() >= MOST_REMOVED {
                state.is_clear = true;
                state.removed.clear();
            }
            if !state.is_clear {
                state.removed.insert(digest);
            }
            state.pushed
        })
    }

    /// Whether a removal of this name waits, or is being written.
    pub(super) fn removes(&self, digest: &Digest) -> bool {
        let state = self.lock();
        state.is_clear || state.is_clearing || state.removed.contains(digest) || state.taken.contains(digest)
    }

    /// Lets everything be removed, and what waits be forgotten if it `is_all`. Returns the same as [`remove`](Self::remove).
    pub(super) fn clear(&self, is_all: bool) -> u64 {
        let (pushed, items) = self.change(|state| {
            state.pushed += 1;
            state.is_clear = true;
            state.removed.clear();
            (state.pushed, if is_all { state.take_items() } else { VecDeque::new() })
        });
        // They take long to drop.
        drop(items);
        pushed
    }

    /// Removals that wait. What is returned is theirs to [finish](Self::finish).
    pub(super) fn take_removals(&self) -> Option<Work> {
        Self::removals(&mut self.lock())
    }

    fn removals(state: &mut State) -> Option<Work> {
        if !state.is_clear && state.removed.is_empty() {
            return None;
        }
        state.pushed_before = state.pushed;
        if std::mem::take(&mut state.is_clear) {
            state.is_clearing = true;
            return Some(Work::Clear);
        }
        state.taken = std::mem::take(&mut state.removed);
        Some(Work::Removed(state.taken.iter().copied().collect()))
    }

    /// Whether removals wait.
    pub(super) fn has_removals(&self) -> bool {
        let state = self.lock();
        state.is_clear || !state.removed.is_empty()
    }

    /// Removals that have been taken are written.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.taken.clear();
        state.is_clearing = false;
        self.done.send_replace(Some(state.pushed_before));
    }

    /// Waits until a removal is written. Returns whether it is: it is not if nobody writes any more.
    pub(super) async fn settled(&self, number: u64) -> bool {
        let mut done = self.done.subscribe();
        let reached = done.wait_for(|done| done.is_none_or(|done| done >= number)).await;
        reached.is_ok_and(|done| done.is_some())
    }

    /// Removals so far.
    pub(super) fn pushed(&self) -> u64 {
        self.lock().pushed
    }

    /// Whether a removal is written.
    pub(super) fn is_settled(&self, number: u64) -> bool {
        self.done.borrow().is_some_and(|done| done >= number)
    }

    /// Nobody writes any more.
    pub(super) fn end(&self) {
        self.done.send_replace(None);
        self.stop(true);
    }

    /// Waits for what is to be done next.
    pub(super) fn next(&self) -> Work {
        let mut state = self.lock();
        loop {
            if std::mem::take(&mut state.is_broken) {
                return Work::Broken;
            }
            if let Some(removals) = Self::removals(&mut state) {
                return removals;
            }
            if let Some(item) = state.items.pop_front() {
                state.bytes = state.bytes.saturating_sub(item.bytes);
                return Work::Item(Box::new(item));
            }
            if state.is_stopped {
                return Work::Stop;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Forgets the objects that wait. Returns their number.
    pub(super) fn drop_items(&self) -> u64 {
        let items = self.change(|state| {
            state.is_broken = false;
            state.take_items()
        });
        items.len() as u64
    }

    /// Waits for so long, or until nothing more is to be done. Returns whether that is so.
    pub(super) fn is_stopped_within(&self, time: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, time, |state| !state.is_stopped);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopped
    }

    /// Lets the writer know that the folder is gone.
    pub(super) fn set_broken(&self) {
        self.change(|state| state.is_broken = true);
    }

    /// Lets the writer end when all is written that waits, or what it writes now if it `is_over`.
    pub(super) fn stop(&self, is_over: bool) {
        let items = self.change(|state| {
            state.is_stopped = true;
            if is_over { state.take_items() } else { VecDeque::new() }
        });
        drop(items);
    }
}
