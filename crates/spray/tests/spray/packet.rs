//! The seeds of the fuzzer in `fuzz/`, each through what its target does, whole and cut at every length.

use std::path::Path;

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/packet.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod target;

#[test]
fn seeds_are_edited_within_their_bounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/spray_packet");
    let mut seeds = 0;
    for entry in folder.read_dir().unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=seed.len()).for_each(|length| target::edit(&seed[..length]));
        seeds += 1;
    }
    assert!(seeds >= 10, "{seeds} seeds");
}
