//! Disks that fail, for tests: what each folder's disk does.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

/// The disk that a folder stands on, in a test.
#[derive(Default)]
pub(super) struct Hook {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_full: bool,
    /// Files that must be removed until there is room.
    removals_left: Option<u32>,
    is_fixed: bool,
    panics: bool,
    hangs: bool,
    /// Reads that hang now, or are about to be done.
    hanging: usize,
    writes_hang: bool,
    writing: usize,
}

static ALL: Mutex<BTreeMap<PathBuf, Arc<Hook>>> = Mutex::new(BTreeMap::new());

/// The disk of a folder.
pub(super) fn of(folder: &Path) -> Arc<Hook> {
    Arc::clone(ALL.lock().unwrap().entry(folder.to_owned()).or_default())
}

impl Hook {
    /// Whether writes fail for want of room.
    pub(super) fn set_full(&self, is_full: bool) {
        self.state.lock().unwrap().is_full = is_full;
    }

    /// Nothing can be written until so many files were removed.
    pub(super) fn set_room_after_removals(&self, count: u32) {
        let mut state = self.state.lock().unwrap();
        (state.is_full, state.removals_left) = (true, Some(count));
    }

    /// Writes panic from now on.
    pub(super) fn set_panicking(&self) {
        self.state.lock().unwrap().panics = true;
    }

    /// Whether files cannot be removed.
    pub(super) fn set_fixed(&self, is_fixed: bool) {
        self.state.lock().unwrap().is_fixed = is_fixed;
    }

    /// Whether reads do not end.
    pub(super) fn set_hanging(&self, hangs: bool) {
        self.state.lock().unwrap().hangs = hangs;
        self.changed.notify_all();
    }

    /// Waits until a read hangs.
    pub(super) fn wait_for_read(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.hanging == 0).unwrap());
    }

    /// Whether writes do not end.
    pub(super) fn set_hanging_writes(&self, hangs: bool) {
        self.state.lock().unwrap().writes_hang = hangs;
        self.changed.notify_all();
    }

    /// Waits until a write hangs.
    pub(super) fn wait_for_write(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.writing == 0).unwrap());
    }

    pub(super) fn writes(&self) -> io::Result<()> {
        let (is_full, panics) = {
            let mut state = self.state.lock().unwrap();
            state.writing += 1;
            self.changed.notify_all();
            let mut state = self.changed.wait_while(state, |state| state.writes_hang).unwrap();
            state.writing -= 1;
            (state.is_full, state.panics)
        };
        assert!(!panics, "a test wants it so");
        if is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    pub(super) fn removes(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        if state.is_fixed {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        if let Some(count) = &mut state.removals_left {
            *count = count.saturating_sub(1);
            if *count == 0 {
                (state.is_full, state.removals_left) = (false, None);
            }
        }
        Ok(())
    }

    pub(super) fn reads(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.hanging += 1;
        self.changed.notify_all();
        let mut state = self.changed.wait_while(state, |state| state.hangs).unwrap();
        state.hanging -= 1;
        Ok(())
    }
}
