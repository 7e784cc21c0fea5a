//! What happens when the API server fails.

use std::time::Duration;

use serde_json::json;

use super::{Running, cluster, drain, pods, until};

/// Conflicts, too many requests, errors of the server, and answers that are lost after the write.
#[tokio::test]
async fn writes_that_fail_are_tried_again() {
    let server = cluster();
    pods(&server, 0..12);
    server.faults(|faults| faults.patches.extend([409, 500, 429, 503, 0, 409, 504, 0, 422, 500]));
    let running = Running::start(&server);
    drain(&server, 12).await;
    running.stop().await;
}

#[tokio::test]
async fn watches_that_break_miss_nothing() {
    let server = cluster();
    let running = Running::start(&server);
    let breaks = {
        let server = server.clone();
        tokio::spawn(async move {
            for round in 0..6 {
                pods(&server, round * 4..round * 4 + 4);
                server.cut_watches(round % 2 == 1);
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
        })
    };
    drain(&server, 24).await;
    breaks.await.unwrap();
    running.stop().await;
}

/// Longer than a lease: the process leads no more, and leads again when the server is back.
#[tokio::test]
async fn the_server_may_be_away() {
    let server = cluster();
    pods(&server, 0..8);
    let running = Running::start_briefly(&server, "one");
    until(&server, "the cluster is full", || server.opened().len() == 4).await;
    server.faults(|faults| faults.is_away = true);
    server.cut_watches(true);
    tokio::time::sleep(Duration::from_millis(2500)).await;
    pods(&server, 8..12);
    server.faults(|faults| faults.is_away = false);
    drain(&server, 12).await;
    running.stop().await;
}

/// A pod that is deleted and made anew under its name is another one.
#[tokio::test]
async fn another_pod_of_the_same_name_is_another_one() {
    let server = cluster();
    pods(&server, 0..1);
    server.faults(|faults| faults.patches.extend([500, 500, 500]));
    let running = Running::start(&server);
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.delete("pods", "a", "p000");
    let mut other = super::pod("a", "p000", 4);
    other["metadata"]["uid"] = json!("another");
    server.put("pods", other);
    drain(&server, 1).await;
    running.stop().await;
}

/// Nothing is admitted while the state cannot be used, and the process does not end; it goes on when somebody deletes the state.
#[tokio::test]
async fn a_state_that_is_damaged_waits_for_somebody() {
    let server = cluster();
    pods(&server, 0..2);
    server.put(
        "configmaps",
        json!({
            "metadata": { "name": "trueplane-fair", "namespace": "trueplane" },
            "data": { "version": "7" },
        }),
    );
    let running = Running::start(&server);
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(server.opened().is_empty() && !running.task.is_finished());
    server.delete("configmaps", "trueplane", "trueplane-fair");
    drain(&server, 2).await;
    running.stop().await;
}

/// An amount that nobody can read is told, and everybody else goes on.
#[tokio::test]
async fn a_pod_that_cannot_be_read_stops_nobody() {
    let server = cluster();
    pods(&server, 0..2);
    let mut unreadable = super::pod("a", "unreadable", 1);
    unreadable["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("1e99");
    server.put("pods", unreadable);
    let running = Running::start(&server);
    drain(&server, 2).await;
    until(&server, "it is told", || server.told().iter().any(|text| text.contains("1e99"))).await;
    running.stop().await;
}
