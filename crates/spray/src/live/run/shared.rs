//! What the threads of a run share.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::counts::CoreCounts;
use super::waker::Waker;

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Packets come.
    Running,
    /// None come any more; what is there is finished.
    Draining,
}

/// State that the threads of a run share.
pub(super) struct Shared<N> {
    /// One for each core.
    pub(super) wakers: Vec<Waker>,
    /// Time that each core had packets to work on, in ns.
    pub(super) busy_ns: Vec<AtomicU64>,
    /// Grows with each new configuration.
    pub(super) version: AtomicU64,
    /// Cores that hand nothing over any more.
    pub(super) drained: AtomicUsize,
    is_draining: AtomicBool,
    /// A new configuration for each core.
    orders: Vec<Mutex<Option<N>>>,
    /// Counters that each core reported last.
    told: Vec<Mutex<CoreCounts>>,
}

impl<N> Shared<N> {
    pub(super) fn new(cores: usize) -> io::Result<Self> {
        Ok(Self {
            wakers: (0..cores).map(|_| Waker::new()).collect::<io::Result<_>>()?,
            busy_ns: (0..cores).map(|_| AtomicU64::new(0)).collect(),
            version: AtomicU64::new(0),
            drained: AtomicUsize::new(0),
            is_draining: AtomicBool::new(false),
            orders: (0..cores).map(|_| Mutex::new(None)).collect(),
            told: (0..cores).map(|_| Mutex::default()).collect(),
        })
    }

    pub(super) fn stage(&self) -> Stage {
        if self.is_draining.load(Ordering::Acquire) { Stage::Draining } else { Stage::Running }
    }

    /// Nothing comes any more.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.wake_all();
    }

    pub(super) fn wake_all(&self) {
        self.wakers.iter().for_each(Waker::wake);
    }

    /// The configuration that waits for a core.
    pub(super) fn order(&self, core: usize) -> MutexGuard<'_, Option<N>> {
        self.orders[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counters that a core reported last.
    pub(super) fn told(&self, core: usize) -> MutexGuard<'_, CoreCounts> {
        self.told[core].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
