//! Runs the tests of the Python package (`python/tests`) with the library that was just built.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library of this build: Cargo puts it beside the folder of this program.
fn library() -> PathBuf {
    let program = std::env::current_exe().expect("the test runs");
    let folder = program.parent().expect("it lies in a folder");
    let built = folder.join("libtrueplane_native.so");
    assert!(built.exists(), "{} was not built", built.display());
    built
}

#[test]
fn the_package_passes_its_tests() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let interpreter = python.join(".venv/bin/python");
    if !interpreter.exists() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: tests of the Python package (python/setup makes its environment)"
        );
        return;
    }
    // Replaced at once: somebody may be using the package.
    let aside = python.join("trueplane/_native.new");
    std::fs::copy(library(), &aside).expect("the library can be copied");
    std::fs::rename(&aside, python.join("trueplane/_native.abi3.so")).expect("it can be put in its place");
    let status = Command::new(interpreter)
        .args(["-m", "pytest", "--quiet", "tests"])
        .current_dir(&python)
        .status()
        .expect("Python runs");
    assert!(status.success(), "the tests of the Python package failed: {status}");
}
