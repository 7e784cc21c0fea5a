//! `trueplane fair simulate`, `sweep` and `generate` as their users run them.

use std::fs;

use serde_json::Value;

use crate::common::{trueplane, trueplane_on};

const JOBS: &str = "fair simulate examples/jobs.csv";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// Two users of a cluster of 4: one has more than fits, the other comes later; one task is larger than the cluster.
const SMALL: &[u8] =
    b"submit,duration,user,cpu\n0,10,ann,2\n0,10,ann,2\n0,10,ann,2\n0,10,ann,2\n5,10,bob,2\n5,1,bob,9\n";

/// The rows of a table of a document.
fn table<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    list(&document["tables"], name)
}

/// Those of one policy.
fn of_policy<'a>(rows: &'a [Value], policy: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["policy"] == policy).collect()
}

#[test]
fn every_policy_runs_every_task() {
    let document = trueplane_on(SMALL, "fair simulate - --capacity cpu=4 --policies all --json").json();
    assert_eq!(document["study"], "fair.simulate");
    assert_eq!(number(&table(&document, "cluster")[0], "capacity"), 4.0);
    assert_eq!(document["parameters"]["capacity"], "cpu=4");
    assert_eq!(document["facts"]["delta"], "1-1e-6");
    assert_eq!((count(&document["facts"], "tasks"), count(&document["facts"], "skipped")), (6, 1));
    let waits = table(&document, "waits");
    let names: Vec<&str> = waits.iter().filter_map(|run| run["policy"].as_str()).collect();
    assert_eq!(names, ["fifo", "drf", "sdrf", "kueue", "kueue-milli", "slurm", "karma"]);
    let users = table(&document, "users");
    for (run, name) in waits.iter().zip(&names) {
        assert_eq!(count(run, "completed"), 5, "{run}");
        let mean = number(run, "wait_mean_ns");
        assert!(mean > 0.0 && number(run, "wait_p99_ns") >= mean);
        assert_eq!(number(run, "makespan_ns"), 30e9, "{run}");
        let submitted: Vec<(&str, u64, u64)> = of_policy(users, name)
            .into_iter()
            .map(|user| {
                assert!(user["wait_mean_ns"].is_number());
                (
                    user["user"].as_str().unwrap_or_default(),
                    count(user, "submitted"),
                    count(user, "completed"),
                )
            })
            .collect();
        assert_eq!(submitted, [("ann", 4, 4), ("bob", 2, 1)]);
    }
    for (run, name) in table(&document, "use").iter().zip(&names) {
        assert_eq!(run["policy"], *name);
        assert!(run["contended_ns"].is_number(), "{run}");
    }
    // Under fifo bob waits until all of ann's tasks have started, under drf until there is room.
    let wait = |policy: &str, user: usize| number(of_policy(users, policy)[user], "wait_mean_ns");
    assert_eq!((wait("fifo", 1), wait("drf", 1)), (15e9, 5e9));
    assert_eq!((wait("fifo", 0), wait("drf", 0)), (5e9, 7.5e9));
}

#[test]
fn what_is_counted_has_names_and_what_is_not_known_is_null() {
    // cat's only task is larger than the cluster; one task needs nothing.
    let log = [SMALL, b"6,1,cat,9\n7,1,ann,0\n"].concat();
    let document = trueplane_on(&log, "fair simulate - --capacity cpu=4 --weights bob=2 --json").json();
    let left_out = &table(&document, "left-out")[0];
    assert_eq!((left_out["what"].as_str(), count(left_out, "count")), (Some("tasks that need nothing"), 1));
    assert_eq!(document["parameters"]["weights"], "bob=2");
    let users = of_policy(table(&document, "users"), "drf");
    assert_eq!((users[1]["user"].as_str(), count(users[1], "weight")), (Some("bob"), 2));
    assert_eq!((users[2]["user"].as_str(), count(users[2], "skipped")), (Some("cat"), 1));
    assert!(users[2]["wait_mean_ns"].is_null() && users[2]["wait_mean_change"].is_null(), "{}", users[2]);
}

/// Names of resources are the log's own, and may look like units.
#[test]
fn a_resource_may_be_called_anything() {
    let log = b"submit,duration,user,mem_bytes,bps,wait_ns\n0,1,a,1,1,1\n0,1,b,1,2,1\n";
    for verb in ["simulate", "sweep", "recommend"] {
        let document =
            trueplane_on(log, &format!("fair {verb} - --resources mem_bytes,bps,wait_ns --json")).json();
        assert_eq!(count(&document["facts"], "tasks"), 2);
    }
}

/// What people see, word for word.
#[test]
fn the_example_is_printed() {
    let ended = trueplane(&format!("{JOBS} --threads 2"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let on = |threads: u32| trueplane(&format!("{JOBS} --policies all --threads {threads} --json")).json();
    assert_eq!(on(1), on(3));
}

#[test]
fn a_study_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let report = folder.path().join("report");
    let ended = trueplane(&format!("{JOBS} --policies drf,sdrf,karma --report {}", report.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && page.contains("tasks of the user:") && !page.contains("src=\"http"));
    for table in ["waits", "use", "runs", "gains", "changes", "users", "completion", "shares"] {
        assert!(report.join(format!("{table}.csv")).exists(), "{table}");
    }
    let bubbles = fs::read_to_string(report.join("completion.csv")).expect("the plot was written");
    assert!(bubbles.starts_with("series,x,y,size\n"), "{bubbles}");
}

#[test]
fn schedules_are_written_whole() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("{policy}.csv");
    let flags = "--capacity cpu=4 --policies fifo,drf --json";
    trueplane_on(SMALL, &format!("fair simulate - {flags} --schedule {}", file.display())).json();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    // Starts and finishes, in seconds.
    let starts = |name: &str| -> Vec<(String, String, u64, u64, u64)> {
        let text = read(name);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("policy,task,user,submit_ns,start_ns,finish_ns"));
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let seconds = |place: usize| cells[place].parse::<u64>().expect("a time") / 1_000_000_000;
            (cells[1].to_owned(), cells[2].to_owned(), seconds(3), seconds(4), seconds(5))
        };
        lines.map(row).collect()
    };
    let task = |task: &str, user: &str, submit, start, finish| {
        (task.to_owned(), user.to_owned(), submit, start, finish)
    };
    let first = [task("1", "ann", 0, 0, 10), task("2", "ann", 0, 0, 10), task("3", "ann", 0, 10, 20)];
    assert_eq!(starts("fifo.csv")[..3], first);
    assert_eq!(starts("fifo.csv")[3..], [task("4", "ann", 0, 10, 20), task("5", "bob", 5, 20, 30)]);
    assert_eq!(starts("drf.csv")[..3], first);
    assert_eq!(starts("drf.csv")[3..], [task("5", "bob", 5, 10, 20), task("4", "ann", 0, 20, 30)]);
}

#[test]
fn a_sweep_has_a_row_for_every_size_and_memory() {
    let flags = "--capacity 50%,90% --delta 1-1e-2,1-1e-4,1-1e-6";
    let document = trueplane(&format!("fair sweep examples/jobs.csv {flags} --json")).json();
    assert_eq!(document["study"], "fair.sweep");
    let rows = table(&document, "sweep");
    assert_eq!((rows.len(), table(&document, "clusters").len()), (6, 2));
    assert_eq!((rows[4]["capacity"].as_f64(), rows[4]["delta"].as_str()), (Some(0.9), Some("1-1e-4")));
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let ended =
        trueplane(&format!("fair sweep examples/jobs.csv {flags} --report {}", folder.path().display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("SDRF against DRF"), "{}", ended.stdout);
    let table = fs::read_to_string(folder.path().join("sweep.csv")).expect("the table was written");
    assert_eq!(table.lines().count(), 1 + 6);
}

#[test]
fn what_is_generated_can_be_simulated() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("jobs.csv");
    let ended = trueplane(&format!("fair generate --users 5 --tasks 300 --span 1h --out {}", file.display()));
    assert_eq!((ended.status, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let written = trueplane(&format!("fair simulate {} --json", file.display())).json();
    let drawn = trueplane("fair simulate generate:users=5,tasks=300,span=1h --json").json();
    assert_eq!(written["tables"], drawn["tables"], "the same log, from a file or drawn");
    assert_eq!(count(&written["facts"], "tasks"), 300);
    let piped = trueplane("fair generate --users 5 --tasks 300 --span 1h");
    assert_eq!(piped.stdout, fs::read_to_string(&file).expect("it was written"));
    let other = trueplane("fair simulate generate:users=5,tasks=300,span=1h --seed 2 --json").json();
    let title = other["title"].as_str().expect("a title");
    assert!(title.ends_with("seed=2"), "{title}");
    assert_ne!(other["tables"], drawn["tables"]);
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("simulate", "JOBS"),
        ("simulate none.csv", "none.csv: No such file or directory"),
        (
            "simulate examples/jobs.csv --capacity 70",
            "expected peak, a part of the mean use such as 70%, or amounts such as cpu=96,memory=512, got \"70\"",
        ),
        ("simulate examples/jobs.csv --capacity cpu=0", "expected an amount of cpu above zero"),
        ("simulate examples/jobs.csv --capacity gpu=1", "has no resource \"gpu\"; it has cpu, memory"),
        ("simulate examples/jobs.csv --capacity cpu=1", "found none for memory"),
        ("simulate examples/jobs.csv --policies lifo", "expected one or several of fifo, drf, sdrf"),
        ("simulate examples/jobs.csv --capacity peak", "the log does not record when tasks started"),
        ("recommend examples/jobs.csv --half-life 0d", "expected a time above zero such as 8d"),
        ("recommend examples/jobs.csv --policies drf", "expected policies with a half-life (sdrf, kueue"),
        ("simulate examples/jobs.csv --delta 1", "expected a δ between 0 and 1"),
        ("simulate examples/jobs.csv --half-life 0d", "expected a time above zero such as 8d"),
        ("simulate examples/jobs.csv --delta 0.5 --half-life 8d", "cannot be used with"),
        ("simulate examples/jobs.csv --weights nobody=2", "has no user \"nobody\""),
        ("simulate examples/jobs.csv --weights none.csv", "none.csv: No such file or directory"),
        ("simulate examples/jobs.csv --horizon soon", "expected a time above zero"),
        ("simulate examples/jobs.csv --seed 3", "--seed is for generate:…"),
        ("simulate - --weights -", "cannot both be standard input"),
        ("simulate examples/jobs.csv --resources cpu,gpu", "gpu"),
        ("simulate examples/jobs.csv --policies drf --schedule crates", "--schedule crates: it is a folder"),
        (
            "simulate examples/jobs.csv --policies drf --schedule none/x.csv",
            "--schedule none/x.csv: No such file or directory",
        ),
        ("simulate generate:users=0", "users: expected 1 to 16777216, got \"0\""),
        ("sweep examples/jobs.csv --capacity 50", "expected a part of the mean use such as 70%, got \"50\""),
        ("sweep examples/jobs.csv --delta 1-2", "expected a δ between 0 and 1"),
        ("generate --users 0", "--users <N>: expected 1 to 16777216"),
        ("generate --tasks 5,seed=3", "--tasks <N>: expected a count"),
        ("generate --out crates", "--out crates: it is a folder"),
    ] {
        let ended = trueplane(&format!("fair {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn broken_files_are_refused_in_one_line() {
    for (text, said) in [
        ("", "stdin: "),
        ("submit,duration,user,cpu\n0,1,a,-1\n", "stdin:2: expected an amount of cpu"),
        ("submit,duration,user,cpu\n0,x,a,1\n", "stdin:2: "),
    ] {
        for verb in ["simulate -", "sweep -"] {
            let ended = trueplane_on(text.as_bytes(), &format!("fair {verb}"));
            assert!(ended.refusal().contains(said), "{text}: {}", ended.stderr);
        }
    }
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let weights = folder.path().join("weights.csv");
    fs::write(&weights, "user,weight\nann,2\nbob,0\n").expect("it can be written");
    let ended = trueplane_on(SMALL, &format!("fair simulate - --weights {}", weights.display()));
    assert!(
        ended.refusal().contains("weights.csv:3: expected a weight from 1 to 65536, got \"0\""),
        "{}",
        ended.stderr
    );
}

#[test]
fn help_has_examples() {
    for verb in ["simulate", "sweep", "recommend", "generate"] {
        let ended = trueplane(&format!("fair {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        assert!(
            ended.stdout.contains(&format!("trueplane fair {verb}")) && ended.stdout.contains("Examples:")
        );
    }
}
