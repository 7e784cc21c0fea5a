//! The seeds of the fuzz target `spray_rules`, each through what the target does.

use std::path::Path;

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/rules.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod target;

#[test]
fn some_seeds_are_read_and_some_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/spray_rules");
    let (mut rules, mut backends, mut neither) = (0, 0, 0);
    for entry in folder.read_dir().unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        match (target::read_rules(&text), target::read_backends(&text)) {
            (false, false) => neither += 1,
            (is_rules, is_backends) => {
                rules += usize::from(is_rules);
                backends += usize::from(is_backends);
            }
        }
    }
    assert!(
        rules >= 4 && backends >= 4 && neither >= 5,
        "{rules} of rules, {backends} of backends, {neither} of neither; are the seeds all there?"
    );
}
