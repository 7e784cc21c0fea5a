//! What happens when nothing fails.

use serde_json::json;
use trueplane_kubernetes::names::{GATE, GROUP, GROUP_SIZE, JOB, JOB_SET, LIMITS, WEIGHT};

use super::{Running, Server, cluster, drain, namespace, node, pod, pods, until};

#[tokio::test]
async fn pods_are_opened_as_far_as_they_fit() {
    let server = cluster();
    pods(&server, 0..10);
    let running = Running::start(&server);
    until(&server, "the cluster is full", || server.opened().len() == 4).await;
    let of_a = server.opened().iter().filter(|name| name.starts_with("a/")).count();
    assert_eq!(of_a, 2, "{:?}", server.opened());
    until(&server, "why is told", || server.told().iter().any(|text| text.contains("are free"))).await;
    drain(&server, 10).await;
    running.stop().await;
    let lease = server.get("leases", "trueplane", "trueplane-fair").unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "", "it was given back");
    let state = server.get("configmaps", "trueplane", "trueplane-fair").unwrap();
    let status: serde_json::Value = serde_json::from_str(state["data"]["status"].as_str().unwrap()).unwrap();
    assert_eq!(status["counters"]["opened"], 10);
}

#[tokio::test]
async fn another_gate_stays_and_jobs_and_groups_go_as_a_whole() {
    let server = cluster();
    let mut two_gates = pod("a", "two-gates", 1);
    two_gates["spec"]["schedulingGates"] = json!([{ "name": "example.com/other" }, { "name": GATE }]);
    server.put("pods", two_gates);
    for place in 0..2 {
        let mut member = pod("b", &format!("member-{place}"), 1);
        member["metadata"]["labels"] = json!({ GROUP: "train" });
        member["metadata"]["annotations"] = json!({ GROUP_SIZE: "2" });
        server.put("pods", member);
    }
    let template = json!({ "spec": { "containers": [{ "resources": { "requests": { "cpu": "500m" } } }] } });
    server.put("jobs", json!({
        "metadata": { "name": "job", "namespace": "a", "labels": { JOB: "true" }, "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": { "suspend": true, "parallelism": 2, "template": template },
    }));
    let running = Running::start(&server);
    until(&server, "everything is open", || server.opened().len() == 4).await;
    let gates = &server.get("pods", "a", "two-gates").unwrap()["spec"]["schedulingGates"];
    assert_eq!(*gates, json!([{ "name": "example.com/other" }]));
    assert_eq!(server.get("jobs", "a", "job").unwrap()["spec"]["suspend"], false);
    running.stop().await;
}

/// A pod without requests, a weight below zero, a group without a size: an event says so, and everybody else goes on.
#[tokio::test]
async fn what_is_wrong_is_told_and_stops_nobody() {
    let server = cluster();
    let mut wrong = namespace("a");
    wrong["metadata"]["annotations"] = json!({ WEIGHT: "-3", LIMITS: "cpu=1" });
    server.put("namespaces", wrong);
    let mut alone = pod("a", "alone", 1);
    alone["metadata"]["labels"] = json!({ GROUP: "train" });
    server.put("pods", alone);
    server.put("pods", pod("a", "large", 2));
    server.put("pods", pod("a", "small", 1));
    let mut nothing = pod("b", "asks-for-nothing", 1);
    nothing["spec"]["containers"] = json!([{}]);
    server.put("pods", nothing);
    let running = Running::start(&server);
    until(&server, "what can run is open", || server.opened().len() == 2).await;
    let told = |part: &'static str| {
        let server = server.clone();
        move || server.told().iter().any(|text| text.contains(part))
    };
    until(&server, "the weight is told", told("expected a weight from 1 to 65536, got \"-3\"")).await;
    until(&server, "the group is told", told("expected the annotation trueplane.dev/group-size")).await;
    until(&server, "the limit is told", told("needs 2 of cpu, and a may hold at most 1")).await;
    running.stop().await;
}

#[tokio::test]
async fn nodes_and_namespaces_come_and_go() {
    let server = Server::new();
    pods(&server, 0..4);
    let running = Running::start(&server);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(server.opened().is_empty(), "no tenants and no nodes");
    ["a", "b"].iter().for_each(|name| server.put("namespaces", namespace(name)));
    server.put("nodes", node("one", 1));
    until(&server, "one pod is open", || server.opened().len() == 1).await;
    server.put("nodes", node("two", 2));
    until(&server, "three are open", || server.opened().len() == 3).await;
    let (namespace, name) =
        server.opened()[0].split_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    server.delete("pods", &namespace, &name);
    until(&server, "all are open", || server.opened().len() == 4).await;
    running.stop().await;
}

/// A set of jobs goes as a whole, and its pods pass without a turn of their own.
#[tokio::test]
async fn a_set_of_jobs_goes_as_a_whole() {
    let server = cluster();
    server.install_job_sets();
    let running = Running::start(&server);
    pods(&server, 0..2);
    until(&server, "the pods are opened", || server.opened().len() == 2).await;
    let template = json!({ "spec": { "containers": [{ "resources": { "requests": { "cpu": "500m" } } }] } });
    let job = |name: &str, replicas: u32, parallelism: u32| json!({ "name": name, "replicas": replicas, "template": { "spec": { "parallelism": parallelism, "template": template } } });
    let set = |name: &str, jobs: serde_json::Value| {
        json!({
            "metadata": { "name": name, "namespace": "b", "uid": name, "labels": { JOB: "true" }, "creationTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "suspend": true, "replicatedJobs": jobs },
        })
    };
    server.put("jobsets", set("large", json!([job("leader", 1, 1), job("workers", 2, 2)])));
    until(&server, "why it waits is told", || {
        server.told().iter().any(|text| text.contains("needs 2.5 of cpu, and 2 are free"))
    })
    .await;
    server.delete("jobsets", "b", "large");
    server.put("jobsets", set("fits", json!([job("workers", 2, 2)])));
    until(&server, "it runs", || server.opened().len() == 3).await;
    assert_eq!(server.get("jobsets", "b", "fits").unwrap()["spec"]["suspend"], false);
    // Its job belongs to it, and so do the pods of the job.
    let mut worker = pod("b", "worker", 1);
    worker["metadata"]["labels"] = json!({ JOB_SET: "fits" });
    worker["metadata"]["ownerReferences"] = json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "workers", "uid": "w", "controller": true }]);
    worker["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("0");
    server.put("pods", worker);
    server.put("pods", pod("a", "late", 1));
    until(&server, "its pod passes", || server.opened().len() == 4).await;
    assert_eq!(server.opened()[3], "b/worker");
    let mut over = server.get("jobsets", "b", "fits").unwrap();
    over["status"] = json!({ "terminalState": "Completed", "conditions": [{ "type": "Completed", "status": "True", "lastTransitionTime": "2026-01-01T00:10:00Z" }] });
    server.put("jobsets", over);
    until(&server, "its room is free", || server.opened().len() == 5).await;
    running.stop().await;
}
