//! What is said of inputs that are none, whatever the command.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{root, trueplane, trueplane_on};

/// It must be seen at the start: all of it would be more than any disk holds.
#[test]
fn endless_input_is_refused_at_its_start() {
    for (arguments, said) in [
        ("cache analyze /dev/zero", "/dev/zero: its content is of no known format"),
        ("cache compare /dev/zero --latency 10ms --format csv", "/dev/zero:1: line longer than 1 MiB"),
        ("offload compare /dev/zero --format pcap", "/dev/zero: byte 0: expected a pcap or pcapng header"),
        ("limit replay /dev/zero --classes examples/classes.toml", "expected a pcap or pcapng header"),
        ("spray concurrency /dev/zero", "expected a pcap or pcapng header"),
        ("surge compare trace:/dev/zero", "/dev/zero:1: line longer than 1 MiB"),
        ("surge compare reassembly:/dev/zero", "/dev/zero: byte 0: expected a pcap or pcapng header"),
        ("fair simulate /dev/zero", "/dev/zero:1: line longer than 1 MiB"),
    ] {
        let ended = trueplane(arguments);
        assert!(ended.refusal().contains(said), "{arguments}: {}", ended.stderr);
    }
}

#[test]
fn random_bytes_are_of_no_known_format() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("junk.bin");
    let mut draw = 1_u64;
    let junk: Vec<u8> = (0..100_000)
        .map(|_| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 56) as u8
        })
        .collect();
    std::fs::write(&path, junk).expect("it can be written");
    let compare =
        |flags: &str| trueplane(&format!("cache compare {} --latency 10ms {flags}", path.display()));
    let ended = compare("");
    let said = "junk.bin: its content is of no known format; known are csv, oracleGeneral, ";
    assert!(ended.refusal().contains(said) && ended.refusal().contains("--format"), "{}", ended.stderr);
    assert!(compare("--format oracleGeneral").refusal().contains(": time goes backwards, from "));
}

#[test]
fn the_folder_that_cannot_take_a_copy_is_named() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueplane"))
        .args(["cache", "analyze", "-"])
        .current_dir(root())
        .env("TMPDIR", "/no/such/folder")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    // More than fits into memory for a look at the start.
    let _ = child.stdin.take().expect("it is piped").write_all("5,6\n".repeat(1 << 20).as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let said =
        "error: stdin: cannot be copied to /no/such/folder (TMPDIR says where): No such file or directory\n";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(2), said));
}

#[test]
fn what_is_put_right_and_what_is_refused_can_be_chosen() {
    let back = b"time_ms,key\n5,1\n4,2\n";
    let requests = |flags: &str| trueplane_on(back, &format!("cache analyze - {flags}"));
    assert_eq!(requests("").status, 0);
    let ended = requests("--strict");
    assert!(
        ended.refusal().contains("stdin:3: time goes backwards, from 0.005s to 0.004s"),
        "{}",
        ended.stderr
    );
    for (arguments, said) in [
        ("surge compare iid: --strict", "--strict is for captures"),
        ("surge compare trace:jobs.csv --sort", "--sort is for captures"),
        ("sched inversions --strict", "--strict says how to read a TRACE"),
        ("spray compare --strict", "--strict is for captures"),
    ] {
        let ended = trueplane(arguments);
        assert!(ended.refusal().contains(said), "{arguments}: {}", ended.stderr);
    }
}

/// Whoever does what an error says, with the name or the number of the column filled in, gets no such error again.
#[test]
fn advice_about_columns_works_as_it_stands() {
    for (rows, flags, advice, column) in [
        ("what;when;len\n1;5;6\n2;6;6\n", "--latency 2steps", "--columns size=len,key=NAME", "what"),
        ("time,what\n5,1\n6,2\n", "--latency 10ms", "--columns time=time,key=NAME", "what"),
        ("url,at what\nx,5\ny,6\n", "--latency 10ms", "--columns key=url,time=NAME", "at_what"),
        ("id,id,when\n1,2,5\n", "--latency 10ms", "--columns key=1,time=NAME", "when"),
        ("id,when\n1,5\n", "--latency 1ms --time continuous", "--columns key=id,time=NAME", "when"),
        ("5,1,9,3\n6,2,9,4\n", "--latency trace", "--columns time=1,key=2,size=3,fetch=N", "4"),
        ("time,id,took\n5,1,9\n", "--latency trace", "--columns time=time,key=id,fetch=NAME", "took"),
        ("step,id\n5,1\n", "--latency 1ms --columns key=id", "--time-unit", " ms"),
        (
            "time,id,weight\n5,1,9\n",
            "--latency 1ms --capacity 1KiB",
            "--columns time=time,key=id,size=NAME",
            "weight",
        ),
    ] {
        let compare = format!("cache compare - --policies lru {flags}");
        let refused = trueplane_on(rows.as_bytes(), &compare);
        assert!(refused.refusal().contains(advice), "{rows}: {}", refused.stderr);
        let filled = match advice.rsplit_once('=') {
            Some((flag, _)) => format!("{flag}={column}"),
            None => format!("{advice}{column}"),
        };
        let ended = trueplane_on(rows.as_bytes(), &format!("{compare} {filled}"));
        assert_eq!(ended.status, 0, "{rows} {filled}: {}", ended.stderr);
    }
}
