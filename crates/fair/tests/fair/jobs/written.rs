//! What is written can be read.

use proptest::prelude::*;
use trueplane_fair::workload::{Generate, MOST_AMOUNT, MOST_TIME, Task, write_csv};
use trueplane_units::Nanos;

use super::*;

fn written(log: &JobLog) -> String {
    let mut text = Vec::new();
    write_csv(log, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// A row: submitted, duration, user, and what is needed.
type Row = (u64, u64, String, Vec<u128>);

/// A log as reading makes it: in the order of submission, and names and needs in the order of their first use.
fn log_of(resources: usize, mut rows: Vec<Row>) -> JobLog {
    rows.sort_by_key(|row| row.0);
    let resources = (0..resources).map(|number| format!("r {number}")).collect();
    let mut log = JobLog { name: "jobs.csv".to_owned(), resources, ..JobLog::default() };
    for (submitted, duration, name, needs) in rows {
        let user = log.users.iter().position(|user| *user == name).unwrap_or_else(|| {
            log.users.push(name);
            log.users.len() - 1
        }) as u32;
        let demand = log.demands.iter().position(|demand| **demand == *needs).unwrap_or_else(|| {
            log.demands.push(needs.into());
            log.demands.len() - 1
        }) as u32;
        log.tasks.push(Task { submitted: Nanos(submitted), duration: Nanos(duration), user, demand });
    }
    log
}

fn rows(resources: usize) -> impl Strategy<Value = Vec<Row>> {
    let time =
        || prop_oneof![0..5u64, (0..100_000u64).prop_map(|millis| millis * 1_000_000), 0..=MOST_TIME.0];
    let need = prop_oneof![1..=9u128, (1..100u128).prop_map(|tenths| tenths * 100_000_000), 1..=MOST_AMOUNT];
    // At least one of them is above zero.
    let needs =
        (prop::collection::vec(prop_oneof![Just(0u128), need.clone()], resources), 0..resources, need)
            .prop_map(|(mut needs, place, need)| {
                needs[place] = need;
                needs
            });
    let user = prop_oneof!["[a-c]", "[a-z,;\"\n\r\t #é-]{1,4}"];
    prop::collection::vec((time(), time(), user, needs), 1..40)
}

proptest! {
    #[test]
    fn any_log_is_read_as_it_was_written(
        (resources, rows) in (1..4usize).prop_flat_map(|resources| (Just(resources), rows(resources)))
    ) {
        let log = log_of(resources, rows);
        let text = written(&log);
        prop_assert_eq!(read(&text, &usual()), Ok(log), "{}", text);
    }

    #[test]
    fn nothing_that_is_read_breaks_it(
        text in "(submit|duration|user|cpu|finish|start|_ms|[0-9]{1,3}|e|[,;.\n\" -]){0,60}",
    ) {
        let _ = read(&text, &usual());
    }
}

#[test]
fn a_drawn_log_is_read_as_it_was_drawn() {
    let generate: Generate = "users=40,tasks=20K,seed=3,resources=3".parse().unwrap();
    let drawn = generate.draw(&()).unwrap();
    let again = read(&written(&drawn), &usual()).unwrap();
    assert_eq!(again, JobLog { name: "jobs.csv".to_owned(), ..drawn });
}

#[test]
fn text_is_short() {
    let log = log_of(2, vec![(1_500_000_000, 60 * S, "ann b".to_owned(), vec![BILLION / 2, 0])]);
    assert_eq!(written(&log), "submit,duration,user,r 0,r 1\n1.5,60,\"ann b\",0.5,0\n");
}

#[test]
fn names_that_would_be_read_as_something_else_are_refused() {
    let with = |resources: &[&str], user: &str| {
        let mut log = log_of(1, vec![(0, 1, user.to_owned(), vec![1])]);
        log.resources = resources.iter().map(|&name| name.to_owned()).collect();
        write_csv(&log, Vec::new()).map_err(|error| error.to_string())
    };
    assert_eq!(with(&["cpu"], "a"), Ok(()));
    for name in ["", "user", "Submit", "start_ms", "job id", "Priority", "a,b", " a", "a\nb"] {
        let error = with(&[name], "a").unwrap_err();
        assert_eq!(
            error,
            format!("expected a name of a resource that a column can have, got \"{}\"", name.escape_debug())
        );
    }
    assert!(with(&["cpu", "CPU"], "a").is_err());
    assert_eq!(with(&["cpu"], "").unwrap_err(), "expected a name of a user that a column can have, got \"\"");
}
