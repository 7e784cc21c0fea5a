//! Ctrl-C: once is enough, whatever the command does, and the exit status is 130.

use std::fs;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Ended, root};

/// Starts a command whose standard input stays open, and waits until it listens for Ctrl-C.
fn started(arguments: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueplane"))
        .args(arguments.split_whitespace())
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let listens = |child: &Child| {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("Linux says so");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask");
        caught & (1 << (2 - 1)) != 0
    };
    wait_until(&mut child, listens);
    child
}

/// The processor time that a process has taken, in ticks of 10 ms.
fn ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let after_name = stat.rsplit(')').next().expect("it has a name");
    let field = |index: usize| -> u64 {
        after_name.split_whitespace().nth(index).and_then(|text| text.parse().ok()).expect("a number")
    };
    field(11) + field(12)
}

fn wait_until(child: &mut Child, holds: impl Fn(&Child) -> bool) {
    while !holds(child) {
        thread::sleep(Duration::from_millis(10));
        if let Some(status) = child.try_wait().expect("it is our child") {
            let mut said = String::new();
            let _ = child.stderr.take().expect("it is piped").read_to_string(&mut said);
            panic!("it ended before it was interrupted, with {status}: {said}");
        }
    }
}

/// Presses Ctrl-C once; what the command leaves behind.
fn interrupted(mut child: Child) -> Ended {
    // It must not end because its input does.
    let input = child.stdin.take();
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    Ended {
        status: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("it is text"),
        stderr: String::from_utf8(output.stderr).expect("it is text"),
    }
}

#[test]
fn a_command_that_waits_for_its_input_ends() {
    let children = ["fair simulate -", "surge compare trace:-"].map(started);
    for ended in children.map(interrupted) {
        assert_eq!((ended.status, ended.stderr.as_str()), (130, "error: interrupted\n"));
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn a_search_prints_its_best_bounds() {
    let flags = "--latency 100ms --capacity 5% --requests 20K --gap 0% --time-limit 1h --policies lru";
    let mut child = started(&format!("cache bound examples/cdn-200k.csv.zst {flags}"));
    // Reading takes a tenth of that.
    wait_until(&mut child, |child| ticks(child) > 200);
    let ended = interrupted(child);
    assert_eq!((ended.status, ended.stderr.as_str()), (130, "error: interrupted\n"));
    assert!(ended.stdout.contains("The search was interrupted; these are the best bounds so far."));
    assert!(ended.stdout.contains("The policies were not run: interrupted."), "{}", ended.stdout);
}

#[test]
fn a_file_that_is_being_written_is_not_left_behind() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("trace.csv");
    let child = started(&format!("cache generate --profile cdn --requests 1G --out {}", path.display()));
    let ended = interrupted(child);
    assert_eq!((ended.status, ended.stderr.as_str()), (130, "error: interrupted\n"));
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
