//! What the fuzz target of snapshots does with an input: restore a scheduler from it, as it is and behind a right header, and let it go on.
//!
//! `cargo test` does the same with the seeds (crates/fair/tests/fair/snapshot.rs).

use trueplane_fair::{SdrfScheduler, SnapshotError};
use trueplane_units::Nanos;

/// Restores a scheduler from `body` behind a right header: whether there is one. It has one snapshot, and whatever is asked of it goes on
/// until nothing waits or runs; an error is one line, and only ever about what does not fit together.
pub fn restore_body(body: &[u8]) -> bool {
    let mut bytes = b"SDRF\x01\x00".to_vec();
    bytes.extend(crc32fast::hash(body).to_le_bytes());
    bytes.extend(body);
    let mut scheduler = match SdrfScheduler::restore(&bytes) {
        Ok(scheduler) => scheduler,
        Err(error @ SnapshotError::Inconsistent(_)) => {
            assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
            return false;
        }
        Err(error) => panic!("{error:?}"),
    };
    let snapshot = scheduler.snapshot();
    let again = SdrfScheduler::restore(&snapshot).expect("a snapshot of its own");
    assert!(again.snapshot() == snapshot, "another state");
    let users = scheduler.cluster().users() as u32;
    let (mut now, mut started) = (scheduler.now(), Vec::new());
    // From almost nothing to more than any half-life.
    for pause in [0, 1, 1_000_000, 1 << 40, 1 << 62] {
        now = Nanos(now.0.saturating_add(pause));
        while let Some((_, task)) = scheduler.next(now).expect("time goes on") {
            started.push(task);
        }
        for task in started.drain(..) {
            scheduler.finish(task, now).expect("it runs");
        }
        for user in 0..users.min(100) {
            if !scheduler.cluster().has(user) {
                continue;
            }
            for commitment in scheduler.commitments(user).expect("it has joined") {
                assert!((0.0..=1.0 + 1e-8).contains(&commitment), "a commitment of {commitment}");
            }
        }
    }
    true
}

/// Restores a scheduler from `bytes` as they are; the error is one line.
pub fn restore(bytes: &[u8]) -> bool {
    match SdrfScheduler::restore(bytes) {
        Ok(_) => true,
        Err(error) => {
            assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
            false
        }
    }
}
