//! `trueplane limit experiment`: what it refuses, and one of the experiments where they can run.

use std::io::Write as _;

use crate::common::trueplane;

#[test]
fn names_and_times_are_checked() {
    let expected = "[NAME]...: expected one or several of precision, isolation, latency, occupancy, marking, or all, got \"speed\"";
    for names in ["speed", "latency speed", "latency,speed"] {
        let ended = trueplane(&format!("limit experiment {names}"));
        assert!(ended.refusal().contains(expected), "{}", ended.stderr);
    }
    let ended = trueplane("limit experiment --duration 1ms");
    assert!(ended.refusal().contains("expected 100ms to 60s, got \"1ms\""), "{}", ended.stderr);
}

#[test]
fn occupancy_is_told_as_json() {
    let ended = trueplane("limit experiment occupancy Occupancy --duration 100ms --json");
    if ended.status == 1 && ended.stderr.starts_with("error: limit experiment: ") {
        // Past the test harness, which swallows what a passing test prints.
        let _ = write!(std::io::stderr().lock(), "skipped: occupancy_is_told_as_json: {}", ended.stderr);
        return;
    }
    let document = ended.json();
    assert_eq!(document["study"], "limit.experiment");
    assert_eq!(document["facts"]["occupancy_rate_bps"], 1_000_000_000);
    assert_eq!(document["parameters"]["experiments"], serde_json::json!(["occupancy"]));
    assert_eq!(document["parameters"]["duration_ns"], 100_000_000);
    let runs = document["tables"]["occupancy"].as_array().expect("rows");
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run["arrived_packets"].as_u64().is_some_and(|packets| packets > 0)));
    for curve in document["plots"]["occupancy"]["series"].as_array().expect("curves") {
        assert!(curve["x"].as_array().is_some_and(|samples| samples.len() > 10), "{}", curve["name"]);
    }
}
