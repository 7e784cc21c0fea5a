//! The seeds of the fuzz target.

use std::path::Path;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/jobs.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

#[test]
fn every_seed_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/fair_jobs");
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (read, refused): (Vec<bool>, Vec<bool>) =
        seeds.map(|seed| target::read_log(&seed)).partition(|was_read| *was_read);
    assert!(read.len() >= 6 && refused.len() >= 8, "{} read, {} refused", read.len(), refused.len());
}
