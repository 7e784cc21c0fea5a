//! The lists of fuzz targets, which must name the same ones.

use std::collections::BTreeSet;
use std::fs;

use crate::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The names of what is in the folders `crates/*/fuzz/<folder>`, without endings.
fn in_folders(folder: &str) -> BTreeSet<String> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let folders = crates.map(|entry| entry.unwrap().path().join("fuzz").join(folder));
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_list_names_the_same_targets() {
    let targets = in_folders("targets");
    let makefile = read("Makefile");
    let listed = makefile.lines().find_map(|line| line.strip_prefix("FUZZ_TARGETS := ")).unwrap();
    assert_eq!(
        listed.split(' ').map(str::to_owned).collect::<BTreeSet<_>>(),
        targets,
        "FUZZ_TARGETS in the Makefile"
    );
    let manifest = read("fuzz/Cargo.toml");
    let programs = manifest.split("[[bin]]").skip(1);
    let mut names: BTreeSet<_> =
        programs.filter_map(|program| program.split('"').nth(1).map(str::to_owned)).collect();
    assert!(names.remove("every"), "the program with all targets in fuzz/Cargo.toml");
    assert_eq!(names, targets, "programs in fuzz/Cargo.toml");
    let every = read("fuzz/every.rs");
    let lines = every.lines().filter_map(|line| line.trim().strip_suffix("\",")?.split_once(" = \"../"));
    let modules = lines.filter(|(name, path)| path.ends_with(&format!("/fuzz/targets/{name}.rs")));
    let modules = modules.map(|(name, _)| name.to_owned());
    assert_eq!(modules.collect::<BTreeSet<_>>(), targets, "targets in fuzz/every.rs");
    assert_eq!(in_folders("seeds"), targets, "folders of seeds");
}
