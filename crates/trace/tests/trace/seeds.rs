//! The seeds of the fuzzer in `fuzz/`, each through what its target does, so that every `cargo test` covers them.

use std::path::Path;

// The targets' own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/readers.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod targets;

use targets::Outcome;
use trueplane_trace::Format;

/// What `target` made of all the seeds in `folder`.
fn outcome(folder: &str, target: impl Fn(&[u8]) -> Outcome) -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(folder);
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    seeds.map(|seed| target(&seed)).fold(Outcome::default(), |sum, outcome| sum + outcome)
}

#[test]
fn every_folder_has_seeds_that_are_read_and_seeds_that_are_refused() {
    let formats = Format::ALL.iter().filter(|format| **format != Format::Csv).map(|&format| {
        let folder = targets::target(format);
        let outcome = outcome(&folder, |seed| targets::read_as(format, seed));
        (folder, outcome)
    });
    let columns = outcome("columns", |seed| targets::parse_columns(str::from_utf8(seed).unwrap()));
    let others = [("csv".to_owned(), outcome("csv", targets::read_csv)), ("columns".to_owned(), columns)];
    for (folder, Outcome { read, refused }) in formats.chain(others) {
        assert!(
            read >= 2 && refused >= 2,
            "{folder}: {read} read, {refused} refused; are the seeds all there?"
        );
    }
}
