//! Demands documents: the seeds of the fuzz target.

use std::path::Path;

use proptest::prelude::*;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/demands.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_seed_is_divided_or_refused() {
    let folder = root().join("crates/fair/fuzz/seeds/fair_demands");
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (read, refused): (Vec<bool>, Vec<bool>) =
        seeds.map(|seed| target::read_demands(&seed)).partition(|was_read| *was_read);
    assert!(read.len() >= 6 && refused.len() >= 8, "{} read, {} refused", read.len(), refused.len());
}

proptest! {
    /// What the fuzzer does, for those who have none: another number, or another character, in a seed.
    #[test]
    fn nothing_that_is_read_breaks_it(
        seed in prop::sample::select(vec!["example", "stages", "weights", "committed", "nothing", "no_tasks", "extremes"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9]{0,3}(e-?[0-9]{1,3})?|[,:{}\"a-z\n]"), 1..5),
    ) {
        let mut text = std::fs::read(root().join("crates/fair/fuzz/seeds/fair_demands").join(seed)).unwrap();
        for (place, new) in changes {
            let digits: Vec<usize> = (0..text.len()).filter(|&place| text[place].is_ascii_digit()).collect();
            // Mostly numbers, as other changes are mostly refused.
            let place = if digits.is_empty() { place.index(text.len()) } else { digits[place.index(digits.len())] };
            text.splice(place..=place, new.bytes());
        }
        target::read_demands(&text);
    }
}

#[test]
fn the_example_is_among_them() {
    let read = |path: &str| std::fs::read(root().join(path)).unwrap();
    let example = read("examples/demands.json");
    assert_eq!(read("crates/fair/fuzz/seeds/fair_demands/example"), example);
    assert!(target::read_demands(&example));
}
