//! Google's task events.

use std::io::Write as _;
use std::path::Path;

use trueplane_fair::workload::{JobsSource, load};

use super::*;

/// Of each event: time in µs, task of job 7, type, user, CPU and memory.
type Event<'a> = (u64, u32, u8, &'a str, &'a str, &'a str);

const SUBMIT: u8 = 0;
const SCHEDULE: u8 = 1;
const EVICT: u8 = 2;
const FAIL: u8 = 3;
const FINISH: u8 = 4;
const KILL: u8 = 5;
const LOST: u8 = 6;
const UPDATE_PENDING: u8 = 7;
const UPDATE_RUNNING: u8 = 8;

fn text(events: &[Event<'_>]) -> String {
    let row = |&(time, task, kind, user, cpu, memory): &Event<'_>| {
        format!("{time},,7,{task},,{kind},{user},2,9,{cpu},{memory},0.001,0\n")
    };
    events.iter().map(row).collect()
}

fn log(events: &[Event<'_>]) -> JobLog {
    read(&text(events), &usual()).unwrap()
}

/// An event of user `ann`, who asks for a quarter of CPU and half the memory.
fn ann(time: u64, task: u32, kind: u8) -> Event<'static> {
    (time, task, kind, "ann", "0.25", "0.5")
}

fn of_ann(submitted: u64, duration: u64) -> (u64, u64, &'static str, Vec<u128>) {
    (submitted * 1_000, duration * 1_000, "ann", vec![BILLION / 4, BILLION / 2])
}

#[test]
fn runs_that_end_are_tasks() {
    let log = log(&[
        ann(100, 0, SUBMIT),
        ann(100, 1, SUBMIT),
        ann(150, 1, SCHEDULE),
        ann(160, 0, SCHEDULE),
        (170, 2, SUBMIT, "bob", "0.125", "0.062"),
        (170, 2, SCHEDULE, "bob", "0.125", "0.062"),
        ann(200, 1, FAIL),
        (250, 2, KILL, "bob", "0.125", "0.062"),
        ann(400, 0, FINISH),
    ]);
    let bob = (170_000, 80_000, "bob", vec![125_000_000, 62_000_000]);
    assert_eq!(tasks(&log), [of_ann(100, 240), of_ann(100, 50), bob]);
    assert_eq!(log.resources, ["cpu", "memory"]);
    assert!(log.left_out.is_empty() && log.cut.is_empty());
    assert_eq!([0, 1, 2].map(|index| log.row(index)), [1, 2, 5], "where they were submitted");
}

#[test]
fn evicted_and_lost_runs_are_left_out_and_what_follows_is_a_new_run() {
    let log = log(&[
        ann(100, 0, SUBMIT),
        ann(110, 0, SCHEDULE),
        ann(120, 0, EVICT),
        ann(120, 0, SUBMIT),
        ann(130, 0, SCHEDULE),
        ann(140, 0, LOST),
        ann(150, 0, SUBMIT),
        ann(160, 0, SCHEDULE),
        ann(190, 0, FAIL),
        ann(195, 0, SUBMIT),
        ann(196, 0, SCHEDULE),
        ann(199, 0, FINISH),
        ann(200, 1, SUBMIT),
        ann(210, 1, KILL),
    ]);
    assert_eq!(tasks(&log), [of_ann(150, 30), of_ann(195, 3)]);
    assert_eq!(
        said(&log.left_out),
        ["1 runs that were evicted", "1 runs that were lost", "1 tasks that never ran"]
    );
}

/// However they are written: the new run begins when the old one is over.
#[test]
fn events_of_one_instant_come_in_any_order() {
    let instant = [ann(120, 0, EVICT), ann(120, 0, SUBMIT), ann(120, 0, SCHEDULE)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut events = vec![ann(100, 0, SUBMIT), ann(110, 0, SCHEDULE)];
        events.extend(order.map(|event| instant[event]));
        events.push(ann(150, 0, FINISH));
        let log = log(&events);
        assert_eq!(tasks(&log), [of_ann(120, 30)], "{order:?}");
        assert_eq!(said(&log.left_out), ["1 runs that were evicted"], "{order:?}");
    }
}

#[test]
fn tasks_before_and_after_the_trace_are_taken_for_what_lies_within() {
    let after = (1 << 63) - 1;
    let log = log(&[
        ann(0, 0, SUBMIT),
        ann(0, 0, SCHEDULE),
        ann(0, 1, SUBMIT),
        ann(0, 1, SCHEDULE),
        ann(0, 2, SUBMIT),
        ann(600, 2, SCHEDULE),
        ann(700, 0, FINISH),
        ann(800, 3, SUBMIT),
        ann(900, 2, UPDATE_RUNNING),
        ann(after, 2, FINISH),
        ann(after, 4, SUBMIT),
    ]);
    assert_eq!(tasks(&log), [of_ann(0, 700), of_ann(0, 900), of_ann(0, 300)]);
    assert_eq!(said(&log.cut), ["2 tasks that began before the log", "2 tasks that outlast the log"]);
    assert_eq!(said(&log.left_out), ["1 changes of what running tasks need", "1 tasks that never ran"]);
}

#[test]
fn what_is_missing_is_learnt_later_or_left_out() {
    let log = log(&[
        (100, 0, SUBMIT, "", "", ""),
        ann(110, 0, SCHEDULE),
        (120, 0, FINISH, "", "", ""),
        (130, 1, SUBMIT, "ann", "0.1", "0.1"),
        ann(131, 1, UPDATE_PENDING),
        (132, 1, SCHEDULE, "ann", "0.1", "0.1"),
        ann(140, 1, FINISH),
        (150, 2, SUBMIT, "ann", "", "0.5"),
        (151, 2, SCHEDULE, "ann", "", "0.5"),
        ann(152, 2, FINISH),
        (152, 3, SUBMIT, "", "0.5", "0.5"),
    ]);
    assert_eq!(tasks(&log), [of_ann(100, 10), of_ann(130, 8)]);
    assert_eq!(said(&log.left_out), ["1 tasks whose needs are missing", "1 tasks that never ran"]);
}

#[test]
fn missing_events_are_counted() {
    let log = log(&[
        // Never submitted.
        ann(100, 0, SCHEDULE),
        ann(110, 0, FINISH),
        // Nobody knows it.
        ann(120, 9, FINISH),
        ann(121, 9, UPDATE_PENDING),
        // Its first end is missing.
        ann(130, 1, SUBMIT),
        ann(131, 1, SCHEDULE),
        ann(140, 1, SUBMIT),
        ann(141, 1, SCHEDULE),
        ann(149, 1, FINISH),
        // Its start is missing.
        ann(150, 2, SUBMIT),
        ann(160, 2, FINISH),
        // It needs nothing.
        (170, 3, SUBMIT, "eve", "0", "0"),
        (171, 3, SCHEDULE, "eve", "0", "0"),
        (172, 3, FINISH, "eve", "0", "0"),
        // Nobody says whose it is.
        (172, 4, SUBMIT, "", "1", "1"),
        (173, 4, SCHEDULE, "", "1", "1"),
        (174, 4, FINISH, "", "1", "1"),
    ]);
    assert_eq!(tasks(&log), [of_ann(100, 10), of_ann(140, 8)]);
    assert_eq!(said(&log.cut), ["1 tasks whose submission is missing"]);
    assert_eq!(
        said(&log.left_out),
        [
            "2 events of tasks that are unknown",
            "1 runs whose end is missing",
            "1 runs whose start is missing",
            "1 tasks that need nothing",
            "1 tasks whose user is missing",
        ]
    );
    assert_eq!(log.users, ["ann"]);
}

#[test]
fn disk_is_a_resource_if_it_is_asked_for() {
    let events = text(&[ann(1, 0, SUBMIT), ann(2, 0, SCHEDULE), ann(3, 0, FINISH)]);
    let log = read(&events, &resources(&["disk", "cpu"])).unwrap();
    assert_eq!(
        (log.resources.join(" "), &*log.demands[0]),
        ("disk cpu".to_owned(), &[BILLION / 1000, BILLION / 4][..])
    );
    assert_eq!(
        read(&events, &resources(&["gpu"])).unwrap_err(),
        "jobs.csv: expected resources among cpu, memory, disk, got \"gpu\""
    );
    let user = LogOptions { user: Some("x".to_owned()), ..usual() };
    assert_eq!(read(&events, &user).unwrap_err(), "jobs.csv: --user means nothing for the format google2011");
}

#[test]
fn wrong_events_are_refused_with_their_line() {
    let refused = |row: &str| {
        let text = format!("{}{row}\n", text(&[ann(100, 0, SUBMIT), ann(110, 0, SCHEDULE)]));
        read(&text, &usual()).unwrap_err()
    };
    for (row, expected) in [
        ("99,,7,0,,4,ann,2,9,1,1,1,0", "a time of 110 or later (times must not go back), got \"99\""),
        ("-1,,7,0,,4,ann,2,9,1,1,1,0", "a time in microseconds, got \"-1\""),
        ("1.5,,7,0,,4,ann,2,9,1,1,1,0", "a time in microseconds, got \"1.5\""),
        (
            "9223372036854775806,,7,0,,4,ann,2,9,1,1,1,0",
            "a time in microseconds, got \"9223372036854775806\"",
        ),
        ("110,,x,0,,4,ann,2,9,1,1,1,0", "the number of a job, got \"x\""),
        ("110,,7,4294967296,,4,ann,2,9,1,1,1,0", "the index of a task, got \"4294967296\""),
        ("110,,7,0,,9,ann,2,9,1,1,1,0", "an event type from 0 to 8, got \"9\""),
        ("110,,7,1,,0,ann,2,9,-1,1,1,0", "an amount of cpu from 0 to 10^18, got \"-1\""),
        ("110,,7,0,,4,ann,2,9,1,1,1", "13 columns, found 12"),
    ] {
        assert_eq!(refused(row), format!("jobs.csv:3: expected {expected}"));
    }
    assert_eq!(
        read("1,2,3\n", &of_format(LogFormat::Google2011)).unwrap_err(),
        "jobs.csv:1: expected 13 columns, found 3"
    );
}

/// Writes `events` as a part, compressed as the real ones are.
fn write_part(folder: &Path, number: u32, of: u32, events: &[Event<'_>]) {
    let file = std::fs::File::create(folder.join(format!("part-{number:05}-of-{of:05}.csv.gz"))).unwrap();
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(text(events).as_bytes()).unwrap();
    out.finish().unwrap();
}

fn read_folder(folder: &Path) -> Result<JobLog, String> {
    load(&JobsSource::Path(folder.to_owned()), &usual(), &()).map_err(|error| error.to_string())
}

#[test]
fn a_directory_of_parts_is_one_log() {
    let folder = tempfile::tempdir().unwrap();
    write_part(folder.path(), 0, 3, &[ann(100, 0, SUBMIT), ann(110, 0, SCHEDULE), ann(120, 1, SUBMIT)]);
    write_part(folder.path(), 1, 3, &[]);
    write_part(folder.path(), 2, 3, &[ann(120, 1, SCHEDULE), ann(150, 0, FINISH), ann(160, 1, FINISH)]);
    std::fs::write(folder.path().join("SHA256SUM"), "no part").unwrap();
    let log = read_folder(folder.path()).unwrap();
    assert_eq!(tasks(&log), [of_ann(100, 40), of_ann(120, 40)]);
    assert!(log.left_out.is_empty());
    assert_eq!(log.name, folder.path().display().to_string());

    // Times go on from one part to the next.
    write_part(folder.path(), 1, 3, &[ann(121, 2, SUBMIT)]);
    let error = read_folder(folder.path()).unwrap_err();
    assert!(
        error.ends_with("part-00002-of-00003.csv.gz:1: expected a time of 121 or later (times must not go back), got \"120\""),
        "{error}"
    );
}

#[test]
fn missing_parts_are_counted_and_end_no_run() {
    let folder = tempfile::tempdir().unwrap();
    write_part(
        folder.path(),
        0,
        9,
        &[ann(100, 0, SUBMIT), ann(110, 0, SCHEDULE), ann(115, 1, SUBMIT), ann(120, 1, SCHEDULE)],
    );
    write_part(
        folder.path(),
        2,
        9,
        &[ann(500, 2, SUBMIT), ann(510, 2, SCHEDULE), ann(520, 1, FINISH), ann(600, 3, SUBMIT)],
    );
    let log = read_folder(folder.path()).unwrap();
    // Whether task 0 still runs when there are events again, nobody knows.
    assert_eq!(tasks(&log), [of_ann(115, 400), of_ann(500, 90)]);
    assert_eq!(
        said(&log.left_out),
        ["7 parts that are missing: 1, 3-8 (of 9)", "1 runs whose end is missing", "1 tasks that never ran"]
    );
    assert_eq!(said(&log.cut), ["1 tasks that outlast the log"]);
    // One part by itself is a log.
    let alone = JobsSource::Path(folder.path().join("part-00002-of-00009.csv.gz"));
    assert_eq!(load(&alone, &usual(), &()).unwrap().tasks.len(), 1);
}

#[test]
fn a_directory_without_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("jobs.csv"), "submit,duration,user,cpu\n0,1,a,1\n").unwrap();
    let name = folder.path().display();
    let none = "expected files such as part-00000-of-00500.csv.gz, found none";
    assert_eq!(read_folder(folder.path()).unwrap_err(), format!("{name}: {none}"));
    let source = JobsSource::Path(folder.path().to_owned());
    assert_eq!(
        load(&source, &of_format(LogFormat::Csv), &()).unwrap_err().to_string(),
        format!("{name}: expected a file of the format csv, found a directory")
    );
}
