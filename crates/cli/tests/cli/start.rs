//! What a newcomer asks before the first study: the doctor, words, formats.

use std::process::Command;

use crate::common::trueplane;

#[test]
fn the_doctor_says_what_is_there_and_what_is_missing() {
    let ended = trueplane("doctor");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    for line in ended.stdout.lines().skip(2) {
        assert!(line.starts_with("ok ") || line.starts_with("missing "), "{line}");
    }
    let document = trueplane("doctor --json").json();
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(checks.len(), ended.stdout.lines().count() - 2);
    assert!(checks.iter().any(|check| check["name"] == "cores" && check["ok"] == true));
}

#[test]
fn words_are_explained() {
    let ended = trueplane("explain delayed hit");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.starts_with("delayed hit\n"), "{}", ended.stdout);
    assert!(trueplane("explain").stdout.lines().count() > 40);
    assert!(trueplane("explain delayed-hti").refusal().contains("such as delayed hit"));
}

#[test]
fn formats_are_listed() {
    let ended = trueplane("formats");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("  access-log: "), "{}", ended.stdout);
}

#[test]
fn completions_are_scripts_that_shells_read() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = trueplane(&format!("completions {shell}"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        assert!(ended.stdout.contains("compare") && ended.stdout.contains("latency"), "{shell}");
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, ended.stdout).unwrap();
        // A machine need not have all shells.
        if let Ok(checked) = Command::new(shell).arg("-n").arg(&script).output() {
            assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
        } else {
            eprintln!("skipped: no {shell} on this machine");
        }
    }
    assert!(trueplane("completions tcsh").refusal().contains("expected one of bash, zsh, fish"));
}

#[test]
fn manual_pages_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let ended = trueplane(&format!("man --out {}", folder.path().display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = std::fs::read_to_string(folder.path().join("trueplane-cache-compare.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("latency"), "{page}");
}
