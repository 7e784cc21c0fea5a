//! `trueplane demo`: what a newcomer types first.

use std::fs;
use std::process::Command;

use crate::common::trueplane;

#[test]
fn it_tells_five_stories_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_trueplane")).arg("demo").current_dir(folder.path()).output();
    let output = output.unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for number in 1..=5 {
        assert!(told.contains(&format!("{number}/5 ")), "story {number} is missing:\n{told}");
    }
    assert_eq!(told.lines().filter(|line| line.starts_with('→')).count(), 5, "{told}");
    assert_eq!(told.lines().filter(|line| line.contains("$ trueplane ")).count(), 9, "{told}");
    assert!(told.contains("Deploy lru-mad instead of w-tinylfu."), "{told}");
    let temporary = std::env::temp_dir();
    assert!(!told.contains(&*temporary.to_string_lossy()), "a temporary folder is named:\n{told}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing behind");
}

#[test]
fn it_writes_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("examples");
    let ended = trueplane(&format!("demo --files {}", samples.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(fs::read_dir(&samples).unwrap().count(), 7);
    // What is there stays as it is.
    let log = samples.join("cdn-200k.csv.zst");
    fs::write(&log, "mine").unwrap();
    assert_eq!(trueplane(&format!("demo --files {}", samples.display())).status, 0);
    assert_eq!(fs::read(&log).unwrap(), b"mine");
    let file = samples.join("jobs.csv");
    let refusal = trueplane(&format!("demo --files {}", file.display()));
    assert!(refusal.refusal().contains("--files"), "{}", refusal.stderr);
}
