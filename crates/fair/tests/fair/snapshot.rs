//! The seeds of the fuzzer in `fuzz/`, each through what its target does, and what the seeds that are snapshots have to be.

use std::path::Path;

use trueplane_fair::{Memory, SdrfScheduler};
use trueplane_units::Nanos;

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/snapshot.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod target;

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/fair_snapshot");
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

/// Some tasks run, some wait, and there are commitments.
fn busy(memory: Option<Memory>) -> Vec<u8> {
    let mut scheduler = SdrfScheduler::new(vec![96, 512], memory).unwrap();
    for weight in [1, 2, 1] {
        scheduler.join(weight, Nanos(0)).unwrap();
    }
    for task in 0..40 {
        scheduler.submit((task % 3 % 2) as u32, task, &[4, 16 + task], Nanos(task)).unwrap();
    }
    while scheduler.next(Nanos(50)).unwrap().is_some() {}
    scheduler.finish(0, Nanos(3_600_000_000_000)).unwrap();
    scheduler.next(Nanos(3_600_000_000_001)).unwrap();
    scheduler.snapshot()
}

#[test]
fn seeds_are_restored_and_refused() {
    let (mut whole, mut bodies, mut refused) = (0, 0, 0);
    for (_, seed) in seeds() {
        whole += usize::from(target::restore(&seed));
        bodies += usize::from(target::restore_body(&seed));
        refused += usize::from(!target::restore(&seed) && !target::restore_body(&seed));
    }
    assert!(
        whole >= 2 && bodies >= 2 && refused >= 4,
        "{whole}, {bodies}, {refused}; are the seeds all there?"
    );
}

/// A change of the format needs another version, and both kinds of seeds anew: `TRUEPLANE_SEEDS=1 cargo test -p
/// trueplane-fair snapshot` writes them.
#[test]
fn snapshots_of_version_1_are_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/fair_snapshot");
    let empty = SdrfScheduler::new(vec![1], None).unwrap().snapshot();
    let memory = Memory::forgetting(1e-6).unwrap();
    for (name, bytes) in [("empty", empty), ("drf", busy(None)), ("sdrf", busy(Some(memory)))] {
        if std::env::var_os("TRUEPLANE_SEEDS").is_some() {
            std::fs::write(folder.join(name), &bytes).unwrap();
            std::fs::write(folder.join(format!("{name}_body")), &bytes[10..]).unwrap();
        }
        let seed = std::fs::read(folder.join(name)).unwrap();
        assert!(seed == bytes, "{name}: another snapshot than version 1 had");
        let body = std::fs::read(folder.join(format!("{name}_body"))).unwrap();
        assert!(body == bytes[10..]);
    }
}
