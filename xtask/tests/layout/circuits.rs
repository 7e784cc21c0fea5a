//! The sources of circuits, which people take by the file: the licence is in each, and they fit a screen.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

const LICENCE: &str = "// SPDX-License-Identifier: Apache-2.0 OR MIT";

/// The longest line of a design, in characters.
const LONGEST: usize = 100;

/// All SystemVerilog below a folder, without what is built and installed.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && ![".venv", "build"].contains(&name) {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ["sv", "svh", "v"].iter().any(|of| ending == *of)) {
            files.push(path);
        }
    }
}

fn circuits() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in ["rtl", "crates/pqueue/src/rtl"] {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 30, "{} files", files.len());
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        (file.strip_prefix(root()).unwrap().to_owned(), text)
    };
    files.into_iter().map(read).collect()
}

/// Whether the file is in bundles: a circuit or its test bench, and not a proof.
fn is_design(file: &Path) -> bool {
    let folder = file.parent().unwrap();
    folder.file_name().is_some_and(|name| ["rtl", "bench"].iter().any(|of| name == *of))
}

#[test]
fn every_circuit_says_its_licence() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let licence = LICENCE.split_once(": ").unwrap().1;
    assert!(manifest.contains(&format!("license = \"{licence}\"")), "{licence}");
    for (file, text) in circuits() {
        assert_eq!(text.lines().next(), Some(LICENCE), "the first line of {}", file.display());
    }
}

#[test]
fn the_ports_of_instances_are_named() {
    for (file, text) in circuits() {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            assert!(!code.contains(".*"), "{}:{}: `.*`", file.display(), number + 1);
        }
    }
}

#[test]
fn lines_of_designs_are_short() {
    let designs = circuits().into_iter().filter(|(file, _)| is_design(file));
    for (file, text) in designs {
        for (number, line) in text.lines().enumerate() {
            let length = line.chars().count();
            assert!(length <= LONGEST, "{}:{}: {length} characters", file.display(), number + 1);
        }
    }
}
