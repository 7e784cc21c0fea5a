//! `trueplane fair allocate` as its users run it.

use std::fs;

use serde_json::Value;

use crate::common::{trueplane, trueplane_on};

const TWO: &str = r#"{ "resources": [{ "name": "cpu", "capacity": 8 }, { "name": "gb", "capacity": 16 }],
  "users": [USERS] }"#;

fn on(users: &str, flags: &str) -> crate::common::Ended {
    trueplane_on(TWO.replace("USERS", users).as_bytes(), &format!("fair allocate - {flags}"))
}

/// The row of one of two users.
fn part<'a>(document: &'a Value, policy: &str, stage: usize, user: usize) -> &'a Value {
    &document["tables"][format!("users-{policy}")][2 * stage + user]
}

#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let number = found.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((number - expected).abs() < 1e-9, "{number}, expected {expected}");
}

/// What people see, word for word.
#[test]
fn the_example_is_printed() {
    let ended = trueplane("fair allocate examples/demands.json");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

/// The same as `worked.rs` of the core has by hand.
#[test]
fn the_example_is_right() {
    let document = trueplane("fair allocate examples/demands.json --policies all --delta 0.5 --json").json();
    assert_eq!(document["study"], "fair.allocate");
    assert_eq!(document["parameters"]["policies"], serde_json::json!(["mmf", "smmf", "drf", "sdrf"]));
    let (ann, bob) = (part(&document, "drf", 0, 0), part(&document, "drf", 0, 1));
    assert_near(&ann["cpu_amount"], 3.0);
    assert_near(&ann["memory_gb_amount"], 12.0);
    assert_near(&bob["cpu_amount"], 6.0);
    assert_eq!([&ann["dominant_resource"], &bob["dominant_resource"]], ["memory_gb", "cpu"]);
    assert_eq!([&ann["limited_by"], &ann["end"]], ["cpu", "is stopped"]);
    let (ann, bob) = (part(&document, "sdrf", 0, 0), part(&document, "sdrf", 0, 1));
    assert_near(&ann["dominant_share"], 2.3 / 3.0 - 0.3);
    assert_near(&bob["dominant_share"], 2.3 / 3.0);
    assert_near(&ann["commitment_after"], 0.15);
    assert_near(&bob["commitment_after"], 0.5 * (2.3 / 3.0 - 0.5));
    // Each resource by itself: bob has half of the memory and can use a sixth of it.
    let (bob, uses) = (part(&document, "mmf", 0, 1), &document["tables"]["resources"]);
    assert_near(&bob["memory_gb_amount"], 9.0);
    assert_near(&bob["dominant_share"], 0.5);
    assert_eq!(bob["limited_by"], "cpu");
    assert_near(&uses[1]["stranded_share"], 7.5 / 18.0);
    assert_near(&uses[0]["stranded_share"], 2.25 / 9.0);
}

#[test]
fn stages_are_played_one_after_the_other() {
    let users = r#"{ "name": "a", "stages": [{ "demand": { "cpu": 64 } }, { "demand": { "cpu": 4 } }] },
        { "name": "b", "stages": [{}, { "task": { "cpu": 1 }, "tasks": 8 }] }"#;
    let document = on(users, "--policies smmf,sdrf --delta 0.5 --json").json();
    // The second counterexample at the head of `game.rs`, truthful.
    for policy in ["smmf", "sdrf"] {
        assert_near(&part(&document, policy, 0, 0)["cpu_amount"], 8.0);
        assert_eq!(part(&document, policy, 0, 1)["end"], "wants nothing");
        assert_near(&part(&document, policy, 1, 0)["commitment"], 0.25);
        assert_near(&part(&document, policy, 1, 0)["cpu_amount"], 3.0);
        assert_near(&part(&document, policy, 1, 1)["cpu_amount"], 5.0);
    }
    let ended = on(users, "");
    assert!(ended.refusal().contains("<stdin> has stages: expected --delta"), "{}", ended.stderr);
}

#[test]
fn who_wants_nothing_and_who_has_no_commitment_is_told() {
    let users = r#"{ "name": "a", "demand": {} }, { "name": "b", "demand": { "gb": 4 }, "weight": 2 }"#;
    let ended = on(users, "");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    for line in
        ["wants nothing", "has all", "nobody has a commitment", "Under drf there is enough for everybody."]
    {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
}

#[test]
fn a_report_has_the_tanks() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let ended = trueplane(&format!("fair allocate examples/demands.json --report {}", report.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("The tanks under sdrf"), "{page}");
    for file in ["users-drf.csv", "users-sdrf.csv", "resources.csv", "comparison.csv", "tanks-sdrf.csv"] {
        assert!(report.join(file).exists(), "{file}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let user = |fields: &str| format!(r#"{{ "name": "a", {fields} }}"#);
    let cases = [
        (user(r#""demand": { "cpu": -1 }"#), "<stdin>:2:", "expected an amount, zero or more, found -1"),
        (user(r#""demand": { "gpu": 1 }"#), "<stdin>:2:", r#"unknown resource "gpu"; known: cpu, gb"#),
        (user(r#""demand": { "cpu": "4" }"#), "<stdin>:2:", r#"expected an amount, zero or more, got "4""#),
        (user(r#""demand": { "cpu": 1, "cpu": 2 }"#), "<stdin>:2:", r#""cpu" is said twice"#),
        (user(r#""demand": { "cpu": 1e999 }"#), "<stdin>:2:", "this is not JSON: number out of range"),
        (
            user(r#""demand": {}, "wieght": 2"#),
            "<stdin>:2:",
            r#"unknown field "wieght"; known: name, weight"#,
        ),
        (
            user(r#""demand": {}, "weight": 0"#),
            "<stdin>:2:",
            "expected a weight above zero, up to 1e100, found 0",
        ),
        (
            user(r#""demand": {}, "commitment": { "gb": 1.5 }"#),
            "<stdin>:2:",
            "expected a share from 0 to 1, found 1.5",
        ),
        (user(r#""demand": {}, "task": {}"#), "<stdin>:2:", "expected either a demand or a task"),
        (user(r#""tasks": 3"#), "<stdin>:2:", "expected the task that tasks counts"),
        (user(r#""weight": 3"#), "<stdin>:2:", "expected one of demand, task or stages"),
        (user(r#""demand": {}, "stages": []"#), "<stdin>:2:", "expected either stages or one demand"),
        (r#"{ "demand": {} }"#.to_owned(), "<stdin>:2:", "expected a field name"),
        (
            r#"{ "name": "a", "demand": {} }, { "name": "a", "demand": {} }"#.to_owned(),
            "<stdin>:2:",
            r#"there are two users "a""#,
        ),
        (String::new(), "<stdin>:2:", "expected at least one user"),
        ("{".to_owned(), "<stdin>:2:", "key must be a string"),
    ];
    for (users, place, message) in cases {
        let ended = on(&users, "");
        let line = ended.refusal();
        assert!(line.contains(place) && line.contains(message), "{line}");
    }
    let documents = [
        (
            r#"{ "resources": [{ "name": "cpu", "capacity": 0 }], "users": [] }"#,
            "<stdin>:1:46: expected a capacity above zero, found 0",
        ),
        (r#"{ "resources": [], "users": [] }"#, "expected at least one resource"),
        (r#"{ "users": [], "resources": [] }"#, r#"expected "resources" before "users""#),
        (
            r#"{ "resources": [{ "name": "a", "capacity": 1 }, { "name": "a", "capacity": 1 }] }"#,
            r#"two resources "a""#,
        ),
        (r#"{ "resources": [{ "name": "", "capacity": 1 }] }"#, "expected the name of a resource"),
        (r#"{ "resources": [{ "name": "a", "capacity": 1 }] }"#, "expected a field users"),
        ("[]", "expected an object with resources and users"),
        ("", "<stdin>:1:0: the document ends too early"),
    ];
    for (document, message) in documents {
        let ended = trueplane_on(document.as_bytes(), "fair allocate -");
        assert!(ended.refusal().contains(message), "{}", ended.stderr);
    }
    let whole = TWO.replace("USERS", r#"{ "name": "a", "demand": {} }"#);
    let ended = trueplane_on(format!("{whole} 1").as_bytes(), "fair allocate -");
    assert!(ended.refusal().contains("this is not JSON: trailing characters"), "{}", ended.stderr);
    let flags = [
        ("--policies wfq", "expected one or several of mmf, smmf, drf, sdrf, or all, got \"wfq\""),
        ("--delta 1", "expected δ from 0 to below 1"),
        ("--delta 8d", "got \"8d\""),
    ];
    for (flags, message) in flags {
        let ended = trueplane(&format!("fair allocate examples/demands.json {flags}"));
        assert!(ended.refusal().contains(message), "{}", ended.stderr);
    }
    assert!(
        trueplane("fair allocate no-such.json").refusal().contains("no-such.json: No such file or directory")
    );
}
