//! What `trueplane fair` writes besides its report, and what it says of what it reads.

use std::collections::HashMap;
use std::fs;

use crate::common::{trueplane, trueplane_on};

/// Rows that are out of order, and one that is no task.
const MIXED: &[u8] =
    b"submit,duration,user,cpu,priority\n9,1,cat,1,7\n0,10,ann,2,7\n1,1,bob,0,7\n\n0,10,bob,2,7\n";

#[test]
fn a_schedule_can_be_joined_to_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started.csv");
    let ended =
        trueplane_on(MIXED, &format!("fair simulate - --capacity cpu=2 --schedule {}", file.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("policy,task,user,submit_ns,start_ns,finish_ns"));
    // Row, user, and when submitted in seconds.
    let rows = HashMap::from([("1", ("cat", 9)), ("2", ("ann", 0)), ("4", ("bob", 0))]);
    let mut seen = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let (user, submitted) = rows[cells[1]];
        assert_eq!((cells[2], cells[3].parse()), (user, Ok(submitted * 1_000_000_000u64)), "{line}");
        seen.push(cells[0].to_owned());
    }
    assert_eq!(seen, ["drf", "drf", "drf", "sdrf", "sdrf", "sdrf"]);
}

#[cfg(unix)]
#[test]
fn devices_and_links_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

    let null = trueplane_on(MIXED, "fair simulate - --schedule /dev/null --json");
    assert_eq!((null.status, null.stderr.as_str()), (0, ""));
    let kind = |path: &str| fs::metadata(path).unwrap().file_type();
    assert!(kind("/dev/null").is_char_device());
    if fs::exists("/dev/full").unwrap() {
        let ended = trueplane("fair generate --users 2 --tasks 50 --out /dev/full");
        assert_eq!(ended.status, 1);
        assert!(ended.stderr.starts_with("error: --out /dev/full: No space left"), "{}", ended.stderr);
        assert!(kind("/dev/full").is_char_device());
    }
    let folder = tempfile::tempdir().unwrap();
    let (plain, target, link) =
        (folder.path().join("plain"), folder.path().join("target.csv"), folder.path().join("link.csv"));
    fs::write(&plain, "").unwrap();
    symlink("target.csv", &link).unwrap();
    for _ in 0..2 {
        let ended = trueplane(&format!("fair generate --users 2 --tasks 50 --out {}", link.display()));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        assert!(link.is_symlink() && fs::read(&target).unwrap().starts_with(b"submit,"));
    }
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&target), mode(&plain), "as any new file");
}

#[test]
fn a_dash_is_no_file() {
    for flags in ["fair simulate - --schedule -", "surge compare --policies fcfs --departures -"] {
        let ended = trueplane_on(MIXED, flags);
        assert!(ended.status == 2 && !std::path::Path::new("-").exists(), "{}", ended.stderr);
    }
    let refused = trueplane_on(MIXED, "fair simulate - --schedule -");
    assert!(refused.refusal().contains("--schedule -: expected the name of a file"), "{}", refused.stderr);
    let piped = trueplane("fair generate --users 2 --tasks 50 --out -");
    assert_eq!(piped.stdout, trueplane("fair generate --users 2 --tasks 50").stdout);
}

#[test]
fn a_generated_log_is_compressed_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut sizes = Vec::new();
    let policies = ["jobs.csv", "jobs.csv.gz", "jobs.csv.zst", "jobs.csv.xz"].map(|name| {
        let file = folder.path().join(name);
        let ended = trueplane(&format!("fair generate --users 5 --tasks 2000 --out {}", file.display()));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        sizes.push(fs::metadata(&file).unwrap().len());
        trueplane(&format!("fair simulate {} --json", file.display())).json()["tables"].clone()
    });
    assert!(policies.iter().all(|other| *other == policies[0]));
    assert!(sizes[1..].iter().all(|size| size * 2 < sizes[0]), "{sizes:?}");
}

#[test]
fn what_was_not_read_is_told() {
    let ended = trueplane_on(MIXED, "fair simulate -");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("not read unless --resources names them: priority"), "{text}");
    let nan = trueplane_on(b"submit,duration,user,cpu\n0,1,a,NaN\n", "fair simulate -");
    assert!(nan.refusal().contains("stdin:2: expected an amount of cpu from 0 to 10^18"), "{}", nan.stderr);
}

#[test]
fn numbers_are_said_as_in_a_log() {
    let run = |capacity: &str| {
        trueplane_on(MIXED, &format!("fair simulate - --capacity cpu={capacity} --json")).json()["tables"]
            .clone()
    };
    assert_eq!(run("2e3"), run("2K"));
    assert_ne!(run("2e3"), run("2"));
    // δ is read in one way, but a stage may leave nothing of it.
    for (flags, is_right) in [
        ("fair simulate - --capacity cpu=2 --delta 1-1e-3", true),
        ("fair simulate - --capacity cpu=2 --delta 1--1", false),
        ("fair allocate examples/demands.json --delta 1-1e-3", true),
        ("fair allocate examples/demands.json --delta 1--1", false),
        ("fair allocate examples/demands.json --delta 0", true),
    ] {
        assert_eq!(trueplane_on(MIXED, flags).status, if is_right { 0 } else { 2 }, "{flags}");
    }
}

#[test]
fn a_very_short_half_life_is_said() {
    let ended = trueplane_on(MIXED, "fair simulate - --capacity cpu=2 --half-life 1ns");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(
        !ended.stdout.contains("δ = 0 per second") && ended.stdout.contains("half is forgotten in"),
        "{}",
        ended.stdout
    );
}

/// User a is deep in debt and c has credits; at 700 s c takes ten units more than she has, and at 1000 s there is room for one task.
#[test]
fn under_karma_who_holds_just_her_guarantee_is_not_before_who_has_credits() {
    let log = b"submit,duration,user,cpu\n0,600,a,8\n0,1,d,1\n0,1,e,1\n0,1,f,1\n700,5000,a,1\n700,5000,b,2\n\
        700,5000,c,8\n700,300,c,1\n900,5000,a,1\n900,5000,b,1\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started.csv");
    let flags = "fair simulate - --capacity cpu=12 --policies karma --schedule";
    let ended = trueplane_on(log, &format!("{flags} {}", file.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(&file).unwrap();
    let starts: HashMap<&str, &str> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[3] == "900000000000")
        .map(|cells| (cells[2], cells[4]))
        .collect();
    assert_eq!(starts, HashMap::from([("b", "1000000000000"), ("a", "5700000000000")]));
}

/// What is decided does not depend on what the log calls zero: periods begin with the first submission.
#[test]
fn a_shifted_log_has_the_same_schedule_shifted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started.csv");
    // Starts of every task under every policy, in nanoseconds since the first submission.
    let starts = |shift: u64| -> Vec<(String, u64)> {
        let mut log = "submit,duration,user,cpu\n".to_owned();
        // Many tasks that come and go between the ends of periods, of users who need much and little.
        for task in 0..200 {
            let (submit, user) = (shift + task * 13, ["a", "b", "c", "d"][(task * task % 7 % 4) as usize]);
            let (duration, cpu) = (40 + task * 37 % 90, 1 + task * 5 % 4);
            log.push_str(&format!("{submit},{duration},{user},{cpu}\n"));
        }
        let flags =
            "fair simulate - --capacity cpu=8 --policies sdrf,kueue,kueue-milli,slurm,karma --schedule";
        let ended = trueplane_on(log.as_bytes(), &format!("{flags} {}", file.display()));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        let text = fs::read_to_string(&file).unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let start: u64 = cells[4].parse().unwrap();
            (format!("{} {}", cells[0], cells[1]), start - shift * 1_000_000_000)
        });
        rows.collect()
    };
    let expected = starts(0);
    assert_eq!(expected.len(), 5 * 200);
    for shift in [7, 59, 60, 1_000_001] {
        assert!(starts(shift) == expected, "shifted by {shift} s");
    }
}
