//! The atomics that the table is made of: loom's where loom checks it.

#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(super) use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Called by a reader that met a writer: it waits for a few nanoseconds, and where the writer's thread has lost its core in that moment,
/// lets it have this one.
pub(super) fn wait(round: &mut u32) {
    #[cfg(loom)]
    {
        let _ = round;
        loom::thread::yield_now();
    }
    #[cfg(not(loom))]
    {
        *round += 1;
        if *round < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}
