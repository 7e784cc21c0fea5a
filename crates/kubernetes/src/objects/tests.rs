use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::admission::{CohortSettings, Quota};
use crate::names::JOB;

fn resources() -> ResourceNames {
    ResourceNames::new(vec!["cpu".to_owned(), "memory".to_owned()]).unwrap()
}

fn pod(value: &Value) -> Item {
    Item::pod(&serde_json::from_value(value.clone()).unwrap(), &resources())
}

#[test]
fn a_pod_is_read() {
    let read = pod(&json!({
        "metadata": {
            "name": "p", "namespace": "n", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": { GROUP: "g" },
            "annotations": { GROUP_SIZE: "3", ADMITTED: "2026-01-01T00:00:01.5Z" },
            "ownerReferences": [
                { "apiVersion": "v1", "kind": "Job", "name": "other", "uid": "x" },
                { "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": true },
            ],
        },
        "spec": {
            "nodeName": "one", "priority": 7,
            "containers": [{ "resources": { "requests": { "cpu": "1500m", "memory": "1Gi" } } }],
        },
        "status": {
            "phase": "Failed",
            "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:02Z" }],
            "containerStatuses": [
                { "state": { "terminated": { "finishedAt": "2026-01-01T00:00:09Z" } } },
                { "state": { "running": {} } },
            ],
        },
    }));
    let at = |text: &str| time(text).unwrap();
    let expected = Item {
        kind: Kind::Pod,
        uid: "u".to_owned(),
        namespace: "n".to_owned(),
        name: "p".to_owned(),
        created: at("2026-01-01T00:00:00Z"),
        needs: vec![1500, 1 << 20],
        priority: 7,
        is_held: false,
        admitted: Some(at("2026-01-01T00:00:01.5Z")),
        admitted_with_group: None,
        started: Some(at("2026-01-01T00:00:02Z")),
        node: Some("one".to_owned()),
        is_over: true,
        ended: Some(at("2026-01-01T00:00:09Z")),
        group: Some(("g".to_owned(), 3)),
        problem: None,
        job: Some("j".to_owned()),
        is_everywhere: false,
    };
    assert_eq!(read, expected);
}

#[test]
fn what_is_wrong_is_said_and_the_rest_is_read() {
    let read = pod(&json!({
        "metadata": { "name": "p" },
        "spec": {
            "schedulingGates": [{ "name": GATE }],
            "containers": [{ "resources": { "requests": { "cpu": "-1" } } }],
        },
    }));
    assert!(read.is_held);
    let expected =
        "cannot read its spec: expected an amount of zero or more such as 2, 500m or 1.5Gi, got \"-1\"";
    assert_eq!(read.problem.as_deref(), Some(expected));
    let job = json!({
        "metadata": { "name": "j", "labels": { JOB: "true" } },
        "spec": { "suspend": true, "parallelism": -3 },
    });
    let job = Item::job(&serde_json::from_value(job).unwrap(), &resources()).unwrap();
    assert!(job.is_held && job.problem.is_some());
    // A pod that is deleted before it has a node has ended.
    let deleted = json!({
        "metadata": { "name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z" },
        "spec": { "schedulingGates": [{ "name": GATE }] },
    });
    assert!(pod(&deleted).is_over);
}

#[test]
fn tenants_and_cohorts_are_read() {
    let resources = resources().with_flavors("fast:speed=high".parse().unwrap()).unwrap();
    let tenant = |spec: Value| {
        let raw = json!({
            "metadata": { "name": "t", "generation": 4 }, "spec": spec,
            "status": { "conditions": [
                { "type": "Other", "status": "True" },
                { "type": "Ready", "status": "False", "reason": "R", "message": "M", "observedGeneration": 3 },
            ] },
        });
        TenantObject::read(&serde_json::from_value(raw).unwrap(), &resources)
    };
    let read = tenant(json!({
        "weight": 3, "cohort": "c", "longestWait": "4h", "hold": true,
        "quotas": [
            { "resource": "cpu", "nominal": 2, "borrowingLimit": "500m" },
            { "resource": "memory", "flavor": "fast", "nominal": "1Gi", "lendingLimit": "0" },
        ],
    }));
    let quotas = vec![
        Some(Quota { nominal: 2000, borrowing_limit: Some(500), lending_limit: None }),
        None,
        None,
        Some(Quota { nominal: 1 << 20, borrowing_limit: None, lending_limit: Some(0) }),
    ];
    let expected = TenantSpec {
        weight: 3,
        quotas: CohortSettings { parent: Some("c".to_owned()), quotas, is_unusable: false },
        longest_wait: Some(Nanos(4 * 3_600_000_000_000)),
        is_on_hold: true,
    };
    assert_eq!(read.spec, Ok(expected));
    let ready = Ready { is_ready: false, reason: "R".to_owned(), message: "M".to_owned(), generation: 3 };
    assert_eq!((read.name.as_str(), read.generation, read.ready), ("t", 4, Some(ready)));
    let wrong = |spec: Value, part: &str| {
        let problem = tenant(spec).spec.unwrap_err();
        assert!(problem.contains(part), "{problem}");
    };
    wrong(json!({ "weight": 0 }), "weight: expected 1 to 65536, got 0");
    wrong(json!({ "weight": -3 }), "weight: expected 1 to 65536, got -3");
    wrong(json!({ "cohort": "" }), "cohort: expected a name");
    wrong(json!({ "parent": "c" }), "unknown field `parent`");
    wrong(json!({ "longestWait": "soon" }), "longestWait: expected");
    wrong(json!({ "quotas": [{ "resource": "cpu", "nominal": "-2" }] }), "as nominal, got \"-2\"");
    wrong(json!({ "quotas": [{ "resource": "cpu", "flavor": "slow" }] }), "got slow:cpu");
    wrong(json!({ "quotas": [{ "resource": "cpu" }, { "resource": "cpu" }] }), "got two for cpu");
    let cohort = json!({ "metadata": { "name": "c" }, "spec": { "parent": "p" } });
    let cohort = CohortObject::read(&serde_json::from_value(cohort).unwrap(), &resources);
    assert_eq!(
        cohort.spec,
        Ok(CohortSettings { parent: Some("p".to_owned()), quotas: vec![None; 4], is_unusable: false })
    );
}

#[test]
fn a_set_of_jobs_needs_what_all_of_its_pods_need() {
    let job = |replicas: Value, parallelism: u32, speed: &str| {
        let pod = json!({
            "nodeSelector": { "speed": speed },
            "containers": [{ "resources": { "requests": { "cpu": "1", "memory": "1Ki" } } }],
        });
        json!({ "replicas": replicas, "template": { "spec": { "parallelism": parallelism, "template": { "spec": pod } } } })
    };
    let set = json!({
        "metadata": { "name": "s", "labels": { JOB: "true" }, "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": { "replicatedJobs": [job(json!(null), 1, "low"), job(json!(3), 2, "high")] },
    });
    let set: RawJob = serde_json::from_value(set).unwrap();
    let flavored = resources().with_flavors("fast:speed=high".parse().unwrap()).unwrap();
    let read = Item::job_set(&set, &flavored).unwrap();
    assert_eq!(read.needs, [1000, 1, 6000, 6]);
    assert_eq!((read.kind, read.started), (Kind::JobSet, Some(read.created)));
    assert!(Item::job(&set, &flavored).is_some());
    // A job of a set is the business of the set.
    let mut part = set;
    let owner =
        json!({ "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "s", "uid": "s" });
    part.metadata.owner_references = Some(vec![serde_json::from_value(owner).unwrap()]);
    assert!(Item::job(&part, &flavored).is_none());
}

/// Anything under the names that are read.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![
            Just("1e99"),
            Just("True"),
            Just("Ready"),
            Just("2026-01-01T00:00:00Z"),
            Just("9E"),
            Just("")
        ]
        .prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("containers"),
        Just("initContainers"),
        Just("resources"),
        Just("requests"),
        Just("cpu"),
        Just("schedulingGates"),
        Just("nodeName"),
        Just("priority"),
        Just("overhead"),
        Just("template"),
        Just("spec"),
        Just("conditions"),
        Just("type"),
        Just("status"),
        Just("allocatable"),
        Just("parallelism"),
        Just("containerStatuses"),
        Just("state"),
        Just("terminated"),
        Just("finishedAt"),
        Just("suspend"),
        Just("replicatedJobs"),
        Just("replicas"),
        Just("nodeSelector"),
        Just("quotas"),
        Just("nominal"),
        Just("weight"),
        Just("longestWait"),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever an object has, it is read or said to be wrong.
    #[test]
    fn nothing_in_an_object_ends_the_process(spec in anything(), status in anything(), text in ".{0,12}") {
        let metadata = json!({
            "name": "x", "labels": { JOB: "true", GROUP: text, TENANT: "t" },
            "annotations": { GROUP_SIZE: text, WEIGHT: text, LIMITS: text, ADMITTED: text },
        });
        let object = json!({ "metadata": metadata, "spec": spec, "status": status });
        let raw: RawPod = serde_json::from_value(object).unwrap();
        Item::pod(&raw, &resources());
        Item::job(&raw, &resources());
        Item::job_set(&raw, &resources());
        TenantObject::read(&raw, &resources());
        CohortObject::read(&raw, &resources());
        Node::read(&raw, &resources());
        Namespace::read(&raw, &resources());
    }
}
