//! What those who read the disk and the one who writes share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use trueplane_units::Nanos;

use super::index::Index;
use super::queue::Queue;
use crate::clock::monotonic;
use crate::marks::Marks;

/// Reads at once, at most. Each has a thread, which a disk that hangs keeps.
const MOST_READS: usize = 64;

/// The times for which somebody waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the folder, at the start.
    pub(super) open: Duration,
    /// For a read, beside the time that its bytes may take, and for a removal to be written before its answer goes out.
    pub(super) answer: Duration,
    /// Until a disk that failed is tried again.
    pub(super) retry: Duration,
    /// For the writer to end what it writes, at the end.
    pub(super) end: Duration,
}

impl Patience {
    /// For a read of so many bytes: a slow disk reads 16 MB in a second.
    pub(super) fn for_read(&self, bytes: u32) -> Duration {
        self.answer + Duration::from_millis(u64::from(bytes) / 16_000)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            open: Duration::from_secs(5),
            answer: Duration::from_secs(1),
            retry: Duration::from_secs(10),
            end: Duration::from_secs(2),
        }
    }
}

/// The things that are counted.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Hits,
    Written,
    WrittenBytes,
    Refused,
    Dropped,
    Broken,
    Bytes,
}

/// Counts, by what they count.
#[derive(Default)]
pub(super) struct Counts([AtomicU64; 7]);

impl Counts {
    pub(super) fn add(&self, count: Count, more: u64) {
        self.0[count as usize].fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn set(&self, count: Count, number: u64) {
        self.0[count as usize].store(number, Ordering::Relaxed);
    }

    pub(super) fn of(&self, count: Count) -> u64 {
        self.0[count as usize].load(Ordering::Relaxed)
    }
}

/// What there is to tell of the disk.
#[derive(Default)]
struct News {
    failure: Option<String>,
    untold: Option<String>,
}

/// The state that is shared.
pub(super) struct Shared {
    index: Mutex<Index>,
    pub(super) queue: Queue,
    pub(super) counts: Counts,
    /// Marks of purges.
    pub(super) marks: Arc<Marks>,
    pub(super) reads: Arc<Semaphore>,
    pub(super) patience: Patience,
    /// Whether there is a folder that is open.
    is_open: AtomicBool,
    /// Times until which nothing is read, and nothing is written, as the disk has failed.
    no_reads_until: AtomicU64,
    no_writes_until: AtomicU64,
    news: Mutex<News>,
}

impl Shared {
    pub(super) fn new(index: Index, queue: Queue, marks: Arc<Marks>, patience: Patience) -> Self {
        Self {
            index: Mutex::new(index),
            queue,
            counts: Counts::default(),
            marks,
            reads: Arc::new(Semaphore::new(MOST_READS)),
            patience,
            is_open: AtomicBool::new(false),
            no_reads_until: AtomicU64::new(0),
            no_writes_until: AtomicU64::new(0),
            news: Mutex::default(),
        }
    }

    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    pub(super) fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Release);
    }

    pub(super) fn reads(&self) -> bool {
        self.is_open() && monotonic().0 >= self.no_reads_until.load(Ordering::Relaxed)
    }

    pub(super) fn writes(&self) -> bool {
        self.is_open() && monotonic().0 >= self.no_writes_until.load(Ordering::Relaxed)
    }

    fn retry_at(&self) -> u64 {
        let nanos = u64::try_from(self.patience.retry.as_nanos()).unwrap_or(u64::MAX);
        monotonic().after(Nanos(nanos)).0
    }

    /// Nothing is read for a while.
    pub(super) fn pause_reads(&self) {
        self.no_reads_until.store(self.retry_at(), Ordering::Relaxed);
    }

    /// Nothing is written for a while but removals.
    pub(super) fn pause_writes(&self) {
        self.no_writes_until.store(self.retry_at(), Ordering::Relaxed);
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says in a line that something has failed. The same is said once, until [all is well](Self::set_well).
    pub(super) fn tell(&self, failure: String) {
        let mut news = self.news();
        if news.failure.as_ref() != Some(&failure) {
            news.failure = Some(failure.clone());
            news.untold = Some(failure);
        }
    }

    /// Something was written: what failed before does so no longer.
    pub(super) fn set_well(&self) {
        let mut news = self.news();
        if news.failure.take().is_some() {
            news.untold = Some("the disk is used again".to_owned());
        }
    }

    /// What there is to tell, once.
    pub(super) fn untold(&self) -> Option<String> {
        self.news().untold.take()
    }
}
