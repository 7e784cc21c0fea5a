//! The Standard Workload Format.

use super::*;

const LOG: &str = "; Version: 2.2\n; Computer: a cluster, with commas; and semicolons\n;\n\
    1 0 30 60 4 -1 1048576 8 -1 -1 1 12 1 -1 1 -1 -1 -1\n\
    ; a comment between\n\
    2   10 -1 -1 -1 -1 -1 16 -1 -1 5 13 1 -1 1 -1 -1 -1\n\
    3 20 0 5 -1 -1 -1 2 -1 524288 1 12 2 -1 2 -1 -1 -1\n\
    4 25 0 5 0 -1 -1 2 -1 -1 1 12 2 -1 2 -1 -1 -1\n";

#[test]
fn jobs_need_processors_and_memory_if_asked() {
    let log = read(LOG, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu"]);
    let expected = [(0, 60 * S, "12", vec![units(4)]), (20 * S, 5 * S, "12", vec![units(2)])];
    assert_eq!(tasks(&log), expected);
    assert_eq!(said(&log.left_out), ["1 tasks that never ran", "1 tasks that need nothing"]);
    let by_group = LogOptions { user: Some("group".to_owned()), ..resources(&["memory"]) };
    let log = read(LOG, &by_group).unwrap();
    // 4 processors of 1 GiB, and 2 of half a GiB.
    let expected = [(0, 60 * S, "1", vec![units(4)]), (20 * S, 5 * S, "2", vec![units(1)])];
    assert_eq!(tasks(&log), expected);
}

#[test]
fn a_log_without_comments_is_known_by_its_numbers() {
    let text = "1 0 30 60 4 -1 -1 8 -1 -1 1 12 1 -1 1 -1 -1 -1\n";
    assert_eq!(read(text, &usual()).unwrap().tasks.len(), 1);
}

#[test]
fn wrong_jobs_are_refused() {
    let row = |row: &str| read(&format!("; SWF\n{row}\n"), &of_format(LogFormat::Swf)).unwrap_err();
    assert_eq!(row("1 0 30"), "jobs.csv:2: expected 18 numbers, found 3");
    assert!(
        row("1 -1 30 60 4 -1 -1 8 -1 -1 1 12 1 -1 1 -1 -1 -1")
            .starts_with("jobs.csv:2: expected a submit time")
    );
    assert!(
        row("1 0 30 x 4 -1 -1 8 -1 -1 1 12 1 -1 1 -1 -1 -1")
            .starts_with("jobs.csv:2: expected seconds from 0")
    );
    assert!(
        row("1 0 30 60 -4 -1 -1 8 -1 -1 1 12 1 -1 1 -1 -1 -1")
            .starts_with("jobs.csv:2: expected a number from 0")
    );
    let two = "1 0 30 60 4 -1 -1 8 -1 -1 1 12 1 -1 1 -1 -1 -1\n2 0 30 60 4";
    assert!(row(two).starts_with("jobs.csv:3: expected 18 columns in the Standard Workload Format, found 5"));
    let other = LogOptions { user: Some("ann".to_owned()), ..of_format(LogFormat::Swf) };
    assert!(
        read(LOG, &other).unwrap_err().contains("expected --user to be one of user, group, queue, partition")
    );
    assert!(
        read("; nothing\n", &usual())
            .unwrap_err()
            .contains("expected jobs in the Standard Workload Format, found comments only")
    );
}

#[test]
fn parts_of_jobs_are_not_counted_beside_the_whole() {
    let job = |number: u64, status: u64, wait: i64, run: u64| {
        format!("{number} 0 {wait} {run} 32 -1 -1 32 -1 -1 {status} 3 1 -1 1 -1 -1 -1\n")
    };
    let text = format!("; stopped once\n{}{}{}", job(1, 1, 0, 50), job(1, 2, 0, 20), job(1, 3, 30, 20));
    let log = read(&text, &usual()).unwrap();
    assert_eq!((log.tasks.len(), log.peak_use()), (1, Some(vec![units(32)])));
    assert_eq!(said(&log.left_out), ["2 parts of jobs, which another line has as a whole"]);
    // Who does not know how long a job waited does not know when it started.
    let log = read(&format!("; x\n{}{}", job(1, 1, 0, 50), job(2, 1, -1, 50)), &usual()).unwrap();
    assert_eq!((log.tasks.len(), log.peak_use()), (2, None));
    // Tabs are as good as spaces.
    let tabs = format!("; x\n{}", job(1, 1, 0, 50).replace(' ', "\t"));
    assert_eq!(read(&tabs, &usual()).unwrap().tasks.len(), 1);
    let short = read("; x\n1 0 0 5\n", &usual()).unwrap_err();
    assert!(short.contains("expected 18 numbers, found 4"), "{short}");
}
