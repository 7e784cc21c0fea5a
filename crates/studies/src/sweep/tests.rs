use std::fs;

use super::*;

const GRID: &str = r#"
study = "sched.bandwidth"
table = "schedulers"
[parameters]
flows = 3
[grid]
queues = [1, 4]
policies = ["fifo", "pifo"]
"#;

fn parsed(text: &str) -> Sweep {
    Sweep::parse(text).unwrap()
}

#[test]
fn a_grid_has_every_combination_and_its_rows_are_those_of_single_runs() {
    let sweep = parsed(&GRID.replace("table = \"schedulers\"\n", ""));
    assert_eq!(sweep.points(), 4);
    let swept = sweep.run(None, false, &()).unwrap();
    let mut reader = csv::Reader::from_reader(swept.csv.as_slice());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |name: &str| header.iter().position(|found| found == name).unwrap();
    let single = sweep.study().run(&[("flows", "3"), ("queues", "4"), ("policies", "pifo")], &()).unwrap();
    let single = sweep.rows(&single).unwrap();
    let mut single = csv::Reader::from_reader(single.as_slice());
    let names = single.headers().unwrap().clone();
    let first = single.records().next().unwrap().unwrap();
    let same = rows.iter().find(|row| &row[0] == "pifo" && &row[1] == "4").or_else(|| {
        rows.iter().find(|row| &row[column("queues")] == "4" && row.iter().any(|cell| cell == "pifo"))
    });
    let same = same.unwrap();
    for (name, cell) in names.iter().zip(&first) {
        assert_eq!(&same[column(name)], cell, "{name}");
    }
}

#[test]
fn a_store_keeps_points_and_notices_damage_and_other_contents() {
    let folder = tempfile::tempdir().unwrap();
    let (store, log) = (folder.path().join("store"), folder.path().join("log.csv"));
    fs::write(&log, "time_ms,key\n0,1\n5,1\n9,2\n").unwrap();
    let text = |latencies: &str| {
        format!(
            "study = \"cache.compare\"\n[parameters]\ntrace = {:?}\ncapacity = 1\npolicies = \"lru\"\n[grid]\nlatency = {latencies}",
            log.display().to_string()
        )
    };
    let run = |latencies: &str| parsed(&text(latencies)).run(Some(&store), false, &()).unwrap();
    let first = run(r#"["1ms", "2ms"]"#);
    assert_eq!(first.stored, 0);
    let wider = run(r#"["1ms", "2ms", "7ms"]"#);
    assert_eq!(wider.stored, 2);
    assert_eq!(run(r#"["1ms", "2ms", "7ms"]"#), Swept { stored: 3, ..wider.clone() });
    // A damaged file runs again.
    let one = fs::read_dir(&store).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&one).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&one, bytes).unwrap();
    assert_eq!(run(r#"["1ms", "2ms", "7ms"]"#), Swept { stored: 2, ..wider.clone() });
    // So does everything if the log is another.
    fs::write(&log, "time_ms,key\n0,1\n5,1\n9,3\n").unwrap();
    assert_eq!(run(r#"["1ms", "2ms", "7ms"]"#).stored, 0);
}

#[test]
fn points_that_fail_end_the_sweep_or_are_kept() {
    let sweep = parsed(
        "study = \"sched.bandwidth\"\n[[points]]\nflows = 2\n[[points]]\nflows = 0\n[[points]]\nqueues = 2",
    );
    let error = sweep.run(None, false, &()).unwrap_err().to_string();
    assert!(error.starts_with("the point flows=0: flows: expected "), "{error}");
    let kept = sweep.run(None, true, &()).unwrap();
    assert_eq!(kept.failed.len(), 1);
    assert_eq!(kept.failed[0].point, [("flows".to_owned(), "0".to_owned())]);
    let header = String::from_utf8(kept.csv).unwrap();
    assert!(header.starts_with("flows,queues,"), "{header}");
}

#[test]
fn what_is_no_sweep_is_refused_in_one_line() {
    let study = "study = \"sched.bandwidth\"\n";
    for (text, said) in [
        ("", "expected the name of a study"),
        ("study = 1", "expected the name of a study"),
        (
            "study = \"cache\"\n[grid]\na = [1]",
            "expected the name of a study, such as study = \"cache.compare\", got \"cache\"",
        ),
        ("study = \n", "line 1: "),
        (study, "expected one of [grid], [zip] and [[points]]"),
        (&format!("{study}[grid]\na = [1]\n[zip]\na = [1]"), "expected one of [grid], [zip] and [[points]]"),
        (&format!("{study}[grid]\n"), "expected [grid] with a list of values"),
        (
            &format!("{study}[grid]\nqueues = 3"),
            "expected [grid] to have a list of values for queues, got integer",
        ),
        (
            &format!("{study}[grid]\nqueues = []"),
            "expected [grid] to have a value for queues, got an empty list",
        ),
        (&format!("{study}[zip]\na = [1, 2]\nb = [1]"), "expected 2 values for b in [zip], as for a, got 1"),
        (&format!("{study}color = 1\n[grid]\na = [1]"), "expected study, table, [parameters], and one of"),
        (&format!("{study}points = [1]"), "expected a table in [[points]], got integer"),
        (&format!("{study}points = []"), "expected at least one point"),
        (
            &format!("{study}table = 1\n[grid]\na = [1]"),
            "expected table to be the name of a table, got integer",
        ),
        (&format!("{study}parameters = 1\n[grid]\na = [1]"), "expected [parameters] with"),
        (
            &format!("{study}[parameters]\nflows = 3\n[grid]\nflows = [1]"),
            "expected flows in [parameters] or in the points, not in both",
        ),
        (
            "study = \"cache.compare\"\n[parameters]\ntrace = \"-\"\n[grid]\nseed = [1]",
            "expected trace to be a file",
        ),
        ("study = \"limit.experiment\"\n[[points]]", "expected the name of a study, such as"),
        (&format!("{study}[grid]\na = [1979-05-27]"), "expected a to be a text, a number or a list"),
    ] {
        let error = Sweep::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let many = (0..200).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let large = format!("{study}[grid]\na = [{many}]\nb = [{many}]\nc = [{many}]");
    assert!(Sweep::parse(&large).unwrap_err().to_string().contains("up to 1000000 points"));
}
