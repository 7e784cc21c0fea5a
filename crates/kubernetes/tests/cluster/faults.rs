//! Two controllers: pods of twenty tenants come, and the leader is killed, time after time, and the API server is stopped for a minute.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::time::Duration;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use trueplane_kubernetes::names::{ADMITTED, TENANT};

use super::{client, number, policy, start};

/// Tenants.
const TENANTS: u64 = 20;
/// Cores of a pod, and of a node of the cluster.
const POD: usize = 16;
const NODE: usize = 32;
/// Requests that are under way at once.
const REQUESTS: usize = 16;

/// Pod number `place`, of a tenant of which the first ones have many and the last ones few.
fn pod(place: u64) -> (String, Pod) {
    // The high bits of a product with an odd number are as good as random ones.
    let part = (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as f64 / 2f64.powi(32);
    let tenant = format!("tenant-{:02}", (TENANTS as f64 * part * part) as u64);
    let pod = json!({
        "metadata": {
            "name": format!("pod-{place:06}"),
            "namespace": tenant,
            "annotations": { "trueplane.test/run-for": "10s" },
        },
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "tolerations": [{ "operator": "Exists" }],
            "containers": [{
                "name": "main",
                "image": "none",
                "resources": { "requests": { "cpu": POD.to_string(), "memory": "1Gi" } },
            }],
        },
    });
    (tenant, serde_json::from_value(pod).unwrap())
}

async fn create(client: &Client, count: usize) {
    for tenant in 0..TENANTS {
        let name = format!("tenant-{tenant:02}");
        let namespace: Value = json!({ "metadata": { "name": name, "labels": { TENANT: name } } });
        let api: Api<Namespace> = Api::all(client.clone());
        api.create(&PostParams::default(), &serde_json::from_value(namespace).unwrap()).await.unwrap();
    }
    let began = Instant::now();
    let one = |place: u64| async move {
        let (namespace, pod) = pod(place);
        let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
        api.create(&PostParams::default(), &pod).await.unwrap();
    };
    futures_util::stream::iter(0..count as u64).for_each_concurrent(REQUESTS, one).await;
    eprintln!("{count} pods were created in {:.1} s", began.elapsed().as_secs_f64());
}

/// All pods of tenants.
async fn pods(client: &Client) -> Vec<Pod> {
    let api: Api<Pod> = Api::all(client.clone());
    loop {
        // The server is away for a while.
        if let Ok(Ok(found)) =
            tokio::time::timeout(Duration::from_secs(30), api.list(&ListParams::default())).await
        {
            let is_ours =
                |pod: &Pod| pod.metadata.namespace.as_ref().is_some_and(|name| name.starts_with("tenant-"));
            return found.items.into_iter().filter(is_ours).collect();
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Waits until one of these processes leads.
async fn leader(client: &Client, running: impl Iterator<Item = &String> + Clone) -> String {
    let api: Api<Lease> = Api::namespaced(client.clone(), "trueplane");
    for _ in 0..120 {
        let lease = api.get("trueplane-fair").await.unwrap();
        let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
        if running.clone().any(|name| *name == holder) {
            return holder;
        }
        sleep(Duration::from_millis(500)).await;
    }
    panic!("nobody leads");
}

fn is_over(pod: &Pod) -> bool {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Succeeded")
}

/// When a pod was admitted, and when it ended.
fn times(pod: &Pod) -> (Timestamp, Timestamp) {
    let admitted =
        pod.metadata.annotations.as_ref().and_then(|all| all.get(ADMITTED)).expect("it was admitted");
    let containers = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref()).unwrap();
    let ended = containers[0].state.as_ref().and_then(|state| state.terminated.as_ref()).unwrap();
    (admitted.parse().unwrap(), ended.finished_at.as_ref().unwrap().0)
}

/// The most pods that held what they need at one time.
fn most_at_once(pods: &[Pod]) -> i64 {
    let mut changes: BTreeMap<(Timestamp, i64), i64> = BTreeMap::new();
    for pod in pods {
        let (admitted, ended) = times(pod);
        *changes.entry((admitted, 1)).or_default() += 1;
        // Ends first: what has ended at a time has given its room away by then.
        *changes.entry((ended, 0)).or_default() -= 1;
    }
    changes
        .values()
        .scan(0, |held, change| {
            Some({
                *held += change;
                *held
            })
        })
        .max()
        .unwrap_or(0)
}

fn signal(process: &str, name: &str) {
    assert!(Command::new("kill").args([name, process]).status().unwrap().success());
}

#[tokio::test]
async fn nothing_is_lost_and_nothing_runs_without_room() {
    let (count, nodes, kills) = (number("PODS", 6000), number("TRUEPLANE_NODES", 1000), number("KILLS", 3));
    let away = Duration::from_secs(number("AWAY", 60) as u64);
    let client = client("KUBECONFIG").await;
    let mut running = BTreeMap::new();
    for name in ["controller-0", "controller-1"] {
        running.insert(name.to_owned(), start(name, policy(&["cpu", "memory"], 3600, None)).await);
    }
    create(&client, count).await;
    let began = Instant::now();
    for kill in 0..kills {
        sleep(Duration::from_secs(12)).await;
        let leader = leader(&client, running.keys()).await;
        let (_stop, task) = running.remove(&leader).unwrap();
        task.abort();
        eprintln!("{leader} was killed");
        let next = format!("controller-{}", kill + 2);
        running.insert(next.clone(), start(&next, policy(&["cpu", "memory"], 3600, None)).await);
    }
    if !away.is_zero() {
        // It is away while somebody leads and writes.
        leader(&client, running.keys()).await;
        let process = env::var("APISERVER_PID").unwrap();
        signal(&process, "-STOP");
        eprintln!("the API server is away");
        sleep(away).await;
        signal(&process, "-CONT");
        eprintln!("the API server is back");
    }
    let all = loop {
        let all = pods(&client).await;
        let over = all.iter().filter(|pod| is_over(pod)).count();
        eprintln!("{:.0} s: {over} of {count} pods have run", began.elapsed().as_secs_f64());
        if over == count {
            break all;
        }
        assert!(began.elapsed() < Duration::from_secs(900), "{over} of {count} pods have run");
        sleep(Duration::from_secs(5)).await;
    };
    let most = most_at_once(&all);
    let room = (nodes * NODE / POD) as i64;
    eprintln!("{most} pods at once, and there is room for {room}");
    assert!(most <= room);
    for (stop, task) in running.into_values() {
        drop(stop);
        task.await.unwrap().unwrap();
    }
}
