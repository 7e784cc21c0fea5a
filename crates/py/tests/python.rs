//! Runs the tests of the Python package (`python/tests`) with the library that was just built.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this program, `deps`, where Cargo also puts the library.
fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("the test runs");
    program.parent().expect("it lies in a folder").to_owned()
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
    std::fs::copy(folder().join("libtrueplane_native.so"), &aside).expect("the library can be copied");
    std::fs::rename(&aside, python.join("trueplane/_native.abi3.so")).expect("it can be put in its place");
    let status = Command::new(interpreter)
        .args(["-m", "pytest", "--quiet", "tests"])
        // What the answers are compared with, if it has been built: the tests of the workspace build it.
        .env("TRUEPLANE", folder().join("../trueplane"))
        .current_dir(&python)
        .status()
        .expect("Python runs");
    assert!(status.success(), "the tests of the Python package failed: {status}");
}
