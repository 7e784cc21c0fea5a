//! Rows with named columns.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use trueplane_fair::workload::{JobsSource, load};
use trueplane_study::{Error, Observer};
use trueplane_trace::TimeUnit;

use super::*;

fn refused(text: &str) -> String {
    read(text, &usual()).unwrap_err()
}

#[test]
fn columns_stand_in_any_order() {
    let log = read("submit,duration,user,cpu,memory\n0,60,ann,2,0.5\n1.5,1e1,bob,1,4\n", &usual()).unwrap();
    assert_eq!(log.resources, ["cpu", "memory"]);
    let expected = [
        (0, 60 * S, "ann", vec![units(2), BILLION / 2]),
        (3 * S / 2, 10 * S, "bob", vec![units(1), units(4)]),
    ];
    assert_eq!(tasks(&log), expected);

    let text = "GPU mem;Job;User;Finish (ms);Submit_us\n\n3;a;x;2;500\r\n\"3\";\"b;c\";\"x y\";1.5;0\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!(log.resources, ["GPU mem"]);
    let expected = [(0, 1_500_000, "x y", vec![units(3)]), (500_000, 1_500_000, "x", vec![units(3)])];
    assert_eq!(tasks(&log), expected);
    assert_eq!(log.demands.len(), 1);
}

#[test]
fn rows_are_sorted_by_submission_and_else_stay_in_order() {
    let log = read("submit,duration,user,cpu\n5,1,b,1\n2,1,c,2\n5,2,a,1\n2,2,b,1\n", &usual()).unwrap();
    let order: Vec<(u64, &str)> = tasks(&log).iter().map(|task| (task.1 / S, task.2)).collect();
    assert_eq!(order, [(1, "c"), (2, "b"), (1, "b"), (2, "a")]);
    assert_eq!(log.users, ["c", "b", "a"]);
    assert_eq!(*log.demands[0], [units(2)]);
}

#[test]
fn times_may_be_dates_and_have_units() {
    let dates = "submit,start,finish,user,cpu\n\
                 2024-11-15 16:57:50,2024-11-15T16:58:00Z,2024-11-15 18:00:00+01:00,a,1\n";
    let log = read(dates, &usual()).unwrap();
    assert_eq!((log.tasks[0].submitted.0, log.tasks[0].duration.0), (1_731_689_870 * S, 120 * S));
    let in_millis = LogOptions { time_unit: Some(TimeUnit::Millis), ..usual() };
    let log = read("submit,duration,user,cpu\n1,2.5,a,1\n", &in_millis).unwrap();
    assert_eq!((log.tasks[0].submitted.0, log.tasks[0].duration.0), (1_000_000, 2_500_000));
}

#[test]
fn amounts_are_exact() {
    let log = read("submit,duration,user,cpu,gpu\n0,1,a,0.1,-\n0,1,a,1e-9,1E18\n", &usual()).unwrap();
    assert_eq!(*log.demands[0], [BILLION / 10, 0]);
    assert_eq!(*log.demands[1], [1, 10u128.pow(27)]);
}

#[test]
fn what_is_no_task_is_left_out() {
    let text =
        "submit,start,finish,user,cpu\n0,1,2,a,1\n0,-,9,a,1\n1,1,,b,1\n2,2,NaN,b,1\n3,4,5,c,0\n3,3,3,c,1\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!(tasks(&log).len(), 2);
    assert_eq!(log.users, ["a", "c"]);
    assert_eq!(
        said(&log.left_out),
        ["1 tasks that never ran", "2 tasks that have not ended", "1 tasks that need nothing"]
    );
    assert_eq!(
        refused("submit,duration,user,cpu\n0,1,a,0\n0,1,a,0\n"),
        "jobs.csv: expected tasks, found none but 2 tasks that need nothing"
    );
}

#[test]
fn missing_needs_are_none_and_counted() {
    let text = "submit,duration,user,cpu,gpu\n0,1,a,1,-\n0,1,a,,2\n0,1,b,1,0\n0,1,b,-,\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!(said(&log.cut), ["2 tasks whose need of something is missing, taken as none"]);
    assert_eq!(said(&log.left_out), ["1 tasks that need nothing"]);
    assert_eq!(*log.demands[1], [0, units(2)]);
    for wrong in ["NaN", "nan", "inf"] {
        let found = refused(&format!("submit,duration,user,cpu,gpu\n0,1,a,1,{wrong}\n"));
        assert!(found.starts_with("jobs.csv:2: expected an amount of gpu from 0 to 10^18"), "{found}");
    }
}

#[test]
fn usual_names_of_what_is_no_amount_are_not_resources() {
    let text = "job_id,submit,duration,user,cpu,Priority,status,node\n7,0,1,a,1,200,3,x\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu"]);
    assert_eq!(
        said(&log.left_out),
        ["4 columns that are not read unless --resources names them: job_id, Priority, status, node"]
    );
    let log = read(text, &resources(&["cpu", "Priority"])).unwrap();
    assert_eq!((log.resources.join(" "), log.left_out.len()), ("cpu Priority".to_owned(), 0));
    assert_eq!(*log.demands[0], [units(1), units(200)]);
}

#[test]
fn tasks_know_their_rows() {
    let text = "submit,duration,user,cpu\n5,1,b,1\n\n2,1,c,2\n3,1,c,0\n5,2,a,1\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!([0, 1, 2].map(|index| log.row(index)), [2, 1, 4]);
    let log = read("submit,duration,user,cpu\n1,1,b,1\n2,1,c,2\n2,1,c,-\n", &usual()).unwrap();
    assert_eq!(([0, 1].map(|index| log.row(index)), log.rows.len()), ([1, 2], 0));
}

#[test]
fn a_header_has_not_too_many_columns() {
    let header = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
        format!("submit,duration,user,{}\n0,1,a{}\n", names.join(","), ",1".repeat(count))
    };
    assert_eq!(read(&header(4093), &usual()).unwrap().resources.len(), 4093);
    assert_eq!(refused(&header(20_000)), "jobs.csv:1: expected 4096 columns at most, found 20003");
}

#[test]
fn the_user_says_which_columns_matter() {
    let text = "submit,duration,account,cpu,mem,queue\n0,1,x,1,2,fast\n";
    let options = LogOptions { user: Some("Account".to_owned()), ..resources(&["mem"]) };
    let log = read(text, &options).unwrap();
    assert_eq!(
        (log.users.as_slice(), log.resources.as_slice()),
        (&["x".to_owned()][..], &["mem".to_owned()][..])
    );
    let told = LogOptions { user: Some("queue".to_owned()), ..usual() };
    assert_eq!(
        read(text, &told).unwrap_err(),
        "jobs.csv:2: expected an amount of account from 0 to 10^18 (or say --resources with the columns that are \
         resources), got \"x\""
    );
    let header = "\"submit,duration,account,cpu,mem,queue\"";
    assert_eq!(
        refused(text),
        format!(
            "jobs.csv:1: expected a header with a column user (or say --user with the column), got {header}"
        )
    );
    let unknown = LogOptions { user: Some("queue".to_owned()), ..resources(&["gpu"]) };
    assert_eq!(
        read(text, &unknown).unwrap_err(),
        format!("jobs.csv:1: expected a header with a column gpu, got {header}")
    );
    assert_eq!(
        read(text, &resources(&["cpu", "cpu"])).unwrap_err(),
        "jobs.csv: expected one resource cpu, got two"
    );
}

#[test]
fn headers_say_everything_once() {
    for (header, expected) in [
        ("duration,user,cpu", "a header with a column submit, got \"duration,user,cpu\""),
        ("submit,user,cpu", "a header with a column duration or finish, got \"submit,user,cpu\""),
        ("submit,duration,user,cpu,CPU", "one column CPU, found two"),
        ("submit,submit_ms,duration,user,cpu", "one column submit, found two"),
        (
            "submit,duration,user",
            "a header with a column for every resource besides submit, duration and user, found none",
        ),
        ("submit,duration,user,", "the name of a resource in every other cell of the header, got \"\""),
    ] {
        assert_eq!(refused(&format!("{header}\n")), format!("jobs.csv:1: expected {expected}"));
    }
    assert_eq!(
        refused(" \n\n"),
        "jobs.csv: expected a header with submit, duration or finish, user and resources, found no line"
    );
    assert_eq!(refused("submit,duration,user,cpu\n\n"), "jobs.csv: expected tasks, found none");
    assert_eq!(refused("a\0b\n"), "jobs.csv: expected a CSV file, found one that is no text");
}

#[test]
fn wrong_rows_are_refused_with_their_line() {
    let row = |row: &str| refused(&format!("submit,start,finish,user,cpu\n0,0,1,a,1\n{row}\n"));
    for (text, expected) in [
        ("-1,0,1,a,1", "a submit time, got \"-1\""),
        (",0,1,a,1", "a submit time, got \"\""),
        ("x,0,1,a,1", "a submit time, got \"x\""),
        (
            "1731689870000,1,1,a,1",
            "a submit time, got \"1731689870000\", too large for seconds; is it --time-unit ms?",
        ),
        ("4611686019,1,1,a,1", "a submit time of 146 years at most, got \"4611686019\""),
        ("5,4.5,9,a,1", "a start time of 5 or later, when the task was submitted, got \"4.5\""),
        ("5,6.5,6,a,1", "a finish time of 6.5 or later, when the task was started, got \"6\""),
        ("5,x,6,a,1", "a start time, got \"x\""),
        ("5,5,6,,1", "the name of a user, got \"\""),
        ("5,5,6,a,-1", "an amount of cpu from 0 to 10^18, got \"-1\""),
        ("5,5,6,a,1000000000000000001", "an amount of cpu from 0 to 10^18, got \"1000000000000000001\""),
        (
            "5,5,6,a,two",
            "an amount of cpu from 0 to 10^18 (or say --resources with the columns that are resources), got \"two\"",
        ),
        ("5,5,6,a", "5 columns as in the header, found 4"),
        ("5,5,6,a,1,2", "5 columns as in the header, found 6"),
    ] {
        assert_eq!(row(text), format!("jobs.csv:3: expected {expected}"));
    }
    assert_eq!(row("5,5,6,\"a,1"), "jobs.csv:3: a quoted cell never ends");
    let finish = refused("submit_ms,finish_ms,user,cpu\n5.25,5,a,1\n");
    assert_eq!(
        finish,
        "jobs.csv:2: expected a finish time of 5.25 or later, when the task was submitted, got \"5\""
    );
    let bytes = b"submit,duration,user,cpu\n0,1,\xff,1\n".to_vec();
    let error = from_bytes("jobs.csv", bytes, &usual(), &()).unwrap_err().to_string();
    assert_eq!(error, "jobs.csv:2: expected the name of a user, got \"\u{fffd}\"");
}

/// Counts, and interrupts once it has been told of so many bytes.
struct Watch {
    total: AtomicU64,
    done: AtomicU64,
    until: u64,
}

impl Watch {
    fn until(until: u64) -> Self {
        Self { total: AtomicU64::new(0), done: AtomicU64::new(0), until }
    }
}

impl Observer for Watch {
    fn stage(&self, name: &str, total: u64) {
        assert_eq!(name, "reading");
        self.total.fetch_add(total, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.until
    }
}

#[test]
fn files_are_read_compressed_or_not_and_reading_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "submit,duration,user,cpu\n".to_owned();
    for number in 0..200_000 {
        text.push_str(&format!("{number},1,user{},1\n", number % 7));
    }
    let (plain, packed) = (folder.path().join("jobs.csv"), folder.path().join("jobs.csv.zst"));
    std::fs::write(&plain, &text).unwrap();
    std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let mut logs = Vec::new();
    for path in [&plain, &packed] {
        let watch = Watch::until(u64::MAX);
        let source: JobsSource = path.to_str().unwrap().parse().unwrap();
        let log = load(&source, &usual(), &watch).unwrap();
        assert_eq!((log.tasks.len(), log.users.len(), log.demands.len()), (200_000, 7, 1));
        assert_eq!(watch.total.into_inner(), watch.done.into_inner());
        logs.push(log.tasks);
    }
    assert_eq!(logs[0], logs[1]);
    let source = JobsSource::Path(plain);
    assert!(matches!(load(&source, &usual(), &Watch::until(1_000_000)), Err(Error::Interrupted)));
    let missing = JobsSource::Path(Path::new("no such file").to_owned());
    let Error::Trace(error) = load(&missing, &usual(), &()).unwrap_err() else { panic!() };
    assert!(error.is_input());
}

#[test]
fn the_example_is_the_story_of_figure_4_1() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/jobs.csv");
    let log = load(&JobsSource::Path(path), &usual(), &()).unwrap();
    assert_eq!((log.users.join(" "), log.resources.join(" ")), ("A B C".to_owned(), "cpu memory".to_owned()));
    assert!(log.left_out.is_empty());
    // A's and B's dominant resource is CPU, C's is memory.
    for task in &log.tasks {
        let [cpu, memory] = *log.demands[task.demand as usize] else { panic!("two resources") };
        assert_eq!(cpu > memory, log.users[task.user as usize] != "C");
    }
    // A is there from the start to the end, B for a while.
    let times = |user: &str| -> Vec<u64> {
        let number = log.users.iter().position(|name| name == user).unwrap() as u32;
        log.tasks.iter().filter(|task| task.user == number).map(|task| task.submitted.0).collect()
    };
    let (a, b) = (times("A"), times("B"));
    assert!(a.len() > 2 * b.len() && a[0] < b[0] && a.last() > b.last());
}

#[test]
fn drawn_tasks_have_no_options() {
    let source: JobsSource = "generate:tasks=100,users=3".parse().unwrap();
    assert_eq!(load(&source, &usual(), &()).unwrap().tasks.len(), 100);
    let error = load(&source, &resources(&["cpu"]), &()).unwrap_err().to_string();
    assert!(error.contains("means nothing where tasks are generated"), "{error}");
}

#[test]
fn a_start_beside_a_duration_is_recorded() {
    let log = read("submit,start,duration,user,cpu\n0,2,3,a,1\n1,4,3,b,2\n", &usual()).unwrap();
    assert_eq!(log.started.iter().map(|time| time.0 / S).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(log.peak_use().unwrap(), [units(3)]);
    // A task that takes no time had a place all the same.
    let log = read("submit,start,duration,user,cpu\n0,2,3,a,1\n1,9,0,b,7\n", &usual()).unwrap();
    assert_eq!(log.peak_use().unwrap(), [units(7)]);
    let some = read("submit,start,duration,user,cpu\n0,2,3,a,1\n1,,3,b,2\n", &usual()).unwrap();
    assert_eq!((some.tasks.len(), some.peak_use()), (2, None));
}

/// As pandas writes an index without a name.
#[test]
fn a_first_cell_without_a_name_is_no_comment() {
    let log = read(";submit;duration;user;cpu\n0;0;60;A;1\n", &resources(&["cpu"])).unwrap();
    assert_eq!(tasks(&log), [(0, 60 * S, "A", vec![units(1)])]);
}
