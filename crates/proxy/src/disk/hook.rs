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
    is_fixed: bool,
    hangs: bool,
    /// Reads and writes that hang now.
    hanging: usize,
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

    pub(super) fn writes(&self) -> io::Result<()> {
        if self.state.lock().unwrap().is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    pub(super) fn removes(&self) -> io::Result<()> {
        if self.state.lock().unwrap().is_fixed {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
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
