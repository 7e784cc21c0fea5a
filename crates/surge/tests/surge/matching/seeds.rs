//! The seeds of the fuzz target `surge_rules`, each through what the target does.

use std::path::Path;

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/rules.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

#[test]
fn some_seeds_are_read_and_some_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/surge_rules");
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (read, refused): (Vec<_>, Vec<_>) =
        seeds.map(|seed| target::read_rules(&seed)).partition(|read| *read);
    assert!(
        read.len() >= 5 && refused.len() >= 5,
        "{} read, {} refused; are the seeds all there?",
        read.len(),
        refused.len()
    );
    assert!(target::read_rules(super::EXAMPLE));
}
