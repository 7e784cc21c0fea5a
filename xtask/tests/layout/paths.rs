//! Files that comments and documents name are there.

use std::fs;
use std::process::Command;

use crate::root;

/// Beginnings of paths of the repository, as they are written in texts.
const FOLDERS: [&str; 6] = ["crates/", "docs/", "examples/", "scripts/", "vectors/", "xtask/"];

#[test]
fn what_texts_name_is_there() {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        return eprintln!("skipped: there is no git checkout to list the files of");
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut missing = Vec::new();
    for file in listed.split_terminator('\0').filter(|file| *file != "CHANGELOG.md") {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        // Those of a crate name what is in its folder, too.
        let folder: Vec<&str> = file.split('/').take(2).collect();
        for path in named(&text) {
            if !root().join(path).exists() && !root().join(folder.join("/")).join(path).exists() {
                missing.push(format!("{file}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The paths in `text` that begin as [`FOLDERS`] do, without those that are made by a program or stand for many.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-<>*$[{".contains(letter);
    text.split(move |letter| !is_part(letter))
        .map(|word| word.trim_start_matches("../").trim_end_matches(['.', '/', '-']))
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
        .filter(|word| !word.contains(['<', '*', '$', '[', '{']) && !word.contains("PAGE"))
}
