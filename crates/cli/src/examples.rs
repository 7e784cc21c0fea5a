//! The examples of studies: command lines that work as they stand in a clean checkout.

use std::path::Path;

use clap::Parser as _;
use trueplane_studies::{ForStudies, each};
use trueplane_study::Study;

use crate::failure::Failure;
use crate::{Cli, demo};

/// What comes before a file or folder that a command writes.
const WRITES: [&str; 5] = ["--report", "--certificate", "--schedule", "--departures", ">"];

/// Finds what is wrong with examples.
#[derive(Default)]
struct Examples {
    wrong: Vec<String>,
}

impl ForStudies for Examples {
    fn study<S: Study>(&mut self) {
        // What an example writes the next ones may read.
        let mut written = Vec::new();
        for line in S::EXAMPLES.lines().map(str::trim) {
            // What comes before a pipe is another program's.
            let words: Vec<&str> = line.split_whitespace().skip_while(|word| *word != "trueplane").collect();
            let command = words.iter().position(|word| *word == ">").map_or(&words[..], |end| &words[..end]);
            if let Err(error) = Cli::try_parse_from(command) {
                self.wrong.push(format!("{line}: {}", Failure::flags(&error)));
            }
            for (index, word) in words.iter().enumerate() {
                let file = file(word);
                if index > 0 && WRITES.contains(&words[index - 1]) {
                    written.push(file);
                } else if is_file(file) && !written.contains(&file) && !root().join(file).is_file() {
                    self.wrong.push(format!("{line}: there is no {file}"));
                }
            }
        }
    }
}

/// The root of the checkout, where examples are run.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A word without what says how to read a file: `trace:`.
fn file(word: &str) -> &str {
    word.rsplit(':').next().unwrap_or(word)
}

/// Whether a word names a file: letters follow a point.
fn is_file(word: &str) -> bool {
    let ends = word.rsplit_once('.').map(|(_, ending)| ending);
    ends.is_some_and(|ending| ending.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[test]
fn every_example_is_taken_and_names_files_that_there_are() {
    let mut examples = Examples::default();
    each(&mut examples);
    assert!(examples.wrong.is_empty(), "{:#?}", examples.wrong);
}

#[test]
fn every_command_of_the_demo_is_taken() {
    for line in demo::lines() {
        let words = line.split_whitespace().skip_while(|word| *word != "trueplane");
        if let Err(error) = Cli::try_parse_from(words) {
            panic!("{line}: {}", Failure::flags(&error));
        }
    }
}

#[test]
fn files_are_told_from_other_words() {
    for word in ["trace:examples/packets.csv", "found.json", "out/served.csv.zst"] {
        assert!(is_file(file(word)), "{word}");
    }
    for word in ["zipf:0.99,keys=1M,hot-in=10/1s", "1-1e-4", "10Gbps", "generate:users=100", "-", "0.5"] {
        assert!(!is_file(file(word)), "{word}");
    }
}
