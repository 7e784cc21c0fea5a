//! Tells the command from which commit it is built, for `--version`.

use std::path::Path;
use std::process::Command;

const COMMIT: &str = "TRUEPLANE_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    if let Some(commit) = std::env::var(COMMIT).ok().or_else(commit) {
        println!("cargo::rustc-env={COMMIT}={commit}");
    }
}

/// The commit of this checkout, if it is one. Builds for tests do not ask: they would be compiled again after each commit.
fn commit() -> Option<String> {
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    // It is written at each commit and each checkout. A file that is not there would let cargo build every time.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// What git says, in one line.
fn git(words: &[&str]) -> Option<String> {
    let said = Command::new("git").args(words).output().ok().filter(|said| said.status.success())?;
    Some(String::from_utf8(said.stdout).ok()?.trim().to_owned())
}
