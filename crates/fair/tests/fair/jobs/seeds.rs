//! The seeds of the fuzz target.

use std::path::Path;

use super::LogFormat;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/jobs.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

#[test]
fn every_seed_is_read_or_refused() {
    for (name, format, fewest_read, fewest_refused) in [
        ("jobs", None, 6, 8),
        ("slurm", Some(LogFormat::Slurm), 1, 4),
        ("swf", Some(LogFormat::Swf), 1, 3),
        ("kubernetes", Some(LogFormat::Kubernetes), 4, 5),
        ("kueue", Some(LogFormat::Kueue), 3, 2),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/seeds/fair_{name}"));
        let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        let (read, refused): (Vec<bool>, Vec<bool>) =
            seeds.map(|seed| target::read_log(format, &seed)).partition(|was_read| *was_read);
        let (read, refused) = (read.len(), refused.len());
        assert!(read >= fewest_read && refused >= fewest_refused, "{name}: {read} read, {refused} refused");
    }
}
