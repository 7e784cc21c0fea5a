//! The seeds of the fuzz targets, as `cargo test` sees them.

use std::fs;
use std::path::Path;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/disk.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod disk;
#[path = "../../fuzz/rules.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod rules;

#[test]
fn no_seed_breaks_a_rule() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/http_rules");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let is_kept = rules::check(&fs::read(entry.path()).unwrap());
        assert_eq!(is_kept, entry.file_name() == "kept", "{entry:?}");
    }
}

#[test]
fn no_seed_breaks_the_disk() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/proxy_disk");
    for (name, whole) in
        [("sealed", 3), ("open", 3), ("cut", 2), ("flipped", 2), ("head", 0), ("variation", 0)]
    {
        assert_eq!(disk::check(&fs::read(folder.join(name)).unwrap()), whole, "{name}");
    }
}
