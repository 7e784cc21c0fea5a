//! The shape that all studies and files share.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// The files of every study, beside `mod.rs`.
const FILES: [&str; 5] = ["options.rs", "run.rs", "found.rs", "page.rs", "verdict.rs"];

/// More lines make two files.
const MOST_LINES: usize = 500;

/// Crates in which a doc comment may still be one word. Remove what you put right.
const TERSE: &[&str] = &[];

/// First words of fragments: `/// Whose it is.`
const OPENERS: [&str; 13] =
    ["Which", "What", "How", "Where", "Who", "Whose", "Of", "In", "As", "By", "For", "So", "Such"];

/// Most words of a fragment.
const FRAGMENT_WORDS: usize = 5;

/// All files of Rust below a folder.
fn sources(folder: &Path, to: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, to);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            to.push(path);
        }
    }
}

/// The files below `src` in all crates, each with its name from the root on and its text.
fn all() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut paths);
    }
    sources(&root().join("xtask"), &mut paths);
    paths.retain(|path| !path.components().any(|part| part.as_os_str() == "target"));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let mut all: Vec<_> = paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect();
    all.sort();
    all
}

/// The crate of a file, by its folder.
fn crate_of(name: &str) -> &str {
    name.split('/').nth(1).unwrap_or(name)
}

#[test]
fn every_study_has_the_same_files() {
    let mut problems = Vec::new();
    let mut studies = 0;
    let listed = fs::read_to_string(root().join("crates/studies/src/lib.rs")).unwrap();
    for (name, text) in all() {
        let Some((_, after)) = text.split_once("\nimpl Study for ") else { continue };
        studies += 1;
        let Some(folder) = name.strip_suffix("/mod.rs") else {
            problems.push(format!("{name}: a study stands in the mod.rs of its folder"));
            continue;
        };
        let verb = folder.rsplit('/').next().unwrap_or_default();
        let said =
            after.split("const NAME: &'static str = \"").nth(1).and_then(|rest| rest.split('"').next());
        // Experiments and networks meet several subsystems, so they are in crates of their own; they have the names of their commands.
        let expected = match crate_of(&name) {
            "experiments" => format!("{verb}.experiment"),
            "network" => {
                format!("{}.{verb}", said.and_then(|said| said.split('.').next()).unwrap_or_default())
            }
            subsystem => format!("{subsystem}.{verb}"),
        };
        if said != Some(&expected) {
            problems.push(format!("{name}: expected NAME \"{expected}\", found {said:?}"));
        }
        let study = after.split(' ').next().unwrap_or_default();
        if !listed.contains(&format!("::{verb}::{study}>")) {
            problems.push(format!("{study} is missing in crates/studies/src/lib.rs"));
        }
        let missing = FILES.iter().filter(|file| !root().join(folder).join(file).is_file());
        problems.extend(missing.map(|file| format!("{folder}/{file} is missing")));
    }
    assert!(studies > 0 && problems.is_empty(), "{studies} studies:\n{}", problems.join("\n"));
}

#[test]
fn no_file_is_long() {
    let lines = |text: &str| text.lines().count();
    let long: Vec<String> = (all().iter())
        .filter(|(_, text)| lines(text) > MOST_LINES)
        .map(|(name, text)| format!("{name}: {} lines", lines(text)))
        .collect();
    assert!(long.is_empty(), "files over {MOST_LINES} lines:\n{}", long.join("\n"));
}

/// The doc comments of one line in a file, each with its place and with the line of code behind it.
fn one_line_docs<'a>(name: &str, text: &'a str) -> Vec<(String, &'a str, &'a str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_doc = |index: usize| lines.get(index).is_some_and(|line| line.starts_with("///"));
    let is_alone = |index: usize| is_doc(index) && !is_doc(index.wrapping_sub(1)) && !is_doc(index + 1);
    let code = |index: usize| lines[index + 1..].iter().find(|line| !line.starts_with("#[")).copied();
    (0..lines.len())
        .filter(|&index| is_alone(index))
        .filter_map(|index| Some((index, lines[index].strip_prefix("/// ")?.strip_suffix('.')?)))
        .map(|(index, doc)| (format!("{name}:{}", index + 1), doc, code(index).unwrap_or_default()))
        .collect()
}

/// `/// Which.` says nothing in rustdoc, where the line before is not seen.
#[test]
fn doc_comments_are_more_than_a_word() {
    let is_word = |doc: &str| doc.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut terse = Vec::new();
    for (name, text) in all().iter().filter(|(name, _)| !TERSE.contains(&crate_of(name))) {
        let words = one_line_docs(name, text).into_iter().filter(|(_, doc, _)| is_word(doc));
        terse.extend(words.map(|(place, doc, _)| format!("{place}: {doc}")));
    }
    assert!(terse.is_empty(), "these say too little:\n{}", terse.join("\n"));
}

/// `/// Of DySO.` says nothing either. The doc of a value that people choose by name is its help text, behind that name.
#[test]
fn doc_comments_are_no_fragments() {
    let is_fragment = |doc: &str| {
        let mut words = doc.split_whitespace();
        words.next().is_some_and(|word| OPENERS.contains(&word)) && words.count() < FRAGMENT_WORDS
    };
    let is_choice = |code: &str| code.split_once(" = \"").is_some_and(|(name, _)| !name.contains(' '));
    let mut fragments = Vec::new();
    for (name, text) in &all() {
        let docs = one_line_docs(name, text).into_iter();
        let found = docs.filter(|(_, doc, code)| is_fragment(doc) && !is_choice(code));
        fragments.extend(found.map(|(place, doc, _)| format!("{place}: {doc}")));
    }
    assert!(fragments.is_empty(), "these do not stand alone:\n{}", fragments.join("\n"));
}
