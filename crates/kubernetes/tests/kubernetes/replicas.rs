//! Two processes, of which one leads.

use std::time::Duration;

use super::{Running, cluster, drain, pods, until};

/// The one that leads is killed while it admits: nothing is admitted twice and nothing is forgotten.
#[tokio::test]
async fn another_process_goes_on_when_one_is_killed() {
    let server = cluster();
    pods(&server, 0..40);
    let mut names = 0..;
    let mut start = || Running::start_briefly(&server, &format!("process {}", names.next().unwrap()));
    let mut leader = start();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut other = start();
    for round in 1..=3 {
        let opened = server.opened().len();
        let stop = opened + 4;
        // Writes fail now and then, so that some are on their way when the process dies.
        server.faults(|faults| faults.patches.extend([500, 0, 503]));
        let drained = tokio::spawn({
            let server = server.clone();
            async move { drain_until(&server, stop).await }
        });
        drained.await.unwrap();
        leader.kill();
        (leader, other) = (other, start());
        assert!(server.opened().len() < 40, "round {round}");
    }
    drain(&server, 40).await;
    leader.stop().await;
    other.stop().await;
}

/// Lets pods end until so many were opened.
async fn drain_until(server: &super::Server, count: usize) {
    until(server, "the next ones are open", || {
        for name in server.opened() {
            let (namespace, name) = name.split_once('/').unwrap();
            let pod = server.get("pods", namespace, name).unwrap();
            if pod["status"]["phase"] == "Pending" {
                server.end(namespace, name, "2026-01-01T00:00:01Z");
            }
        }
        server.opened().len() >= count
    })
    .await;
}
