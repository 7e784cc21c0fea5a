//! What tenants and cohorts set, and what is written into them.

use serde_json::{Value, json};

use super::{Running, Server, cluster, pod, until};

fn tenant(server: &Server, name: &str, spec: &Value) {
    put(server, "tenants", name, spec);
}

fn put(server: &Server, plural: &str, name: &str, spec: &Value) {
    let before =
        server.get(plural, "", name).map_or(0, |object| object["metadata"]["generation"].as_i64().unwrap());
    server.put(plural, json!({ "metadata": { "name": name, "generation": before + 1 }, "spec": spec }));
}

/// Whether the condition of an object has this reason, and a message with this part.
fn is_told(
    server: &Server,
    plural: &'static str,
    name: &'static str,
    reason: &'static str,
    part: &'static str,
) -> impl Fn() -> bool {
    let server = server.clone();
    move || {
        let Some(object) = server.get(plural, "", name) else { return false };
        let condition = &object["status"]["conditions"][0];
        condition["type"] == "Ready"
            && condition["reason"] == reason
            && condition["observedGeneration"] == object["metadata"]["generation"]
            && condition["message"].as_str().is_some_and(|message| message.contains(part))
    }
}

/// `a` has one core of its own and borrows one; `b` has three and lends two of them.
#[tokio::test]
async fn quotas_are_kept_and_lent() {
    let server = cluster();
    server.install(&["v1alpha1"]);
    tenant(
        &server,
        "a",
        &json!({ "cohort": "all", "quotas": [{ "resource": "cpu", "nominal": 1, "borrowingLimit": "1" }] }),
    );
    tenant(
        &server,
        "b",
        &json!({ "cohort": "all", "quotas": [{ "resource": "cpu", "nominal": "3", "lendingLimit": 2 }] }),
    );
    (0..4).for_each(|place| server.put("pods", pod("a", &format!("p{place}"), 1)));
    let running = Running::start(&server);
    let told = |part: &'static str| {
        let server = server.clone();
        move || server.told().iter().any(|text| text.contains(part))
    };
    until(&server, "why is told", told("needs 1 of cpu, and 0 are left of the quota of a")).await;
    assert_eq!(server.opened(), ["a/p0", "a/p1"]);
    until(&server, "it is used", is_told(&server, "tenants", "a", "Used", "namespaces")).await;
    tenant(&server, "a", &json!({ "cohort": "all", "quotas": [{ "resource": "cpu", "nominal": 1 }] }));
    until(&server, "a borrows more", || server.opened().len() == 3).await;
    until(&server, "why is told", told("needs 1 of cpu, and the cohort all has 0 left for a")).await;
    (0..2).for_each(|place| server.put("pods", pod("b", &format!("p{place}"), 1)));
    until(&server, "b has what it keeps", || server.opened().len() == 4).await;
    assert_eq!(server.opened()[3], "b/p0");
    running.stop().await;
}

/// What cannot be used is told in a condition and an event. Nothing of that tenant is admitted, and the others go on.
#[tokio::test]
async fn settings_that_cannot_be_used_hold_their_tenant() {
    let server = cluster();
    server.install(&["v1alpha1"]);
    put(&server, "cohorts", "x", &json!({ "parent": "y" }));
    put(&server, "cohorts", "y", &json!({ "parent": "x" }));
    tenant(&server, "a", &json!({ "cohort": "x" }));
    tenant(&server, "unused", &json!({ "weight": 2 }));
    server.put("pods", pod("a", "p", 1));
    server.put("pods", pod("b", "p", 1));
    let running = Running::start(&server);
    until(&server, "b goes on", || server.opened() == ["b/p"]).await;
    until(&server, "the cycle is told", is_told(&server, "cohorts", "y", "Unusable", "below itself")).await;
    until(&server, "the tenant is told", is_told(&server, "tenants", "a", "CohortUnusable", "the cohort x"))
        .await;
    until(
        &server,
        "the other is told",
        is_told(&server, "tenants", "unused", "NoNamespace", "tenant=unused"),
    )
    .await;
    until(&server, "an event tells it", || {
        server.told().iter().any(|text| text.contains("the cohort x, or one above it"))
    })
    .await;
    put(&server, "cohorts", "y", &json!({ "quotas": [{ "resource": "gpu", "nominal": 1 }] }));
    until(
        &server,
        "the resource is told",
        is_told(&server, "cohorts", "y", "Invalid", "that count, cpu, got gpu"),
    )
    .await;
    put(&server, "cohorts", "y", &json!({}));
    until(&server, "a goes on", || server.opened().len() == 2).await;
    until(&server, "it is used", is_told(&server, "cohorts", "y", "Used", "tree")).await;
    tenant(&server, "a", &json!({ "weight": 0 }));
    until(&server, "the weight is told", is_told(&server, "tenants", "a", "Invalid", "1 to 65536, got 0"))
        .await;
    tenant(&server, "a", &json!({ "later": "field" }));
    until(&server, "the field is told", is_told(&server, "tenants", "a", "Invalid", "unknown field `later`"))
        .await;
    server.put("pods", pod("a", "q", 1));
    server.put("pods", pod("b", "q", 1));
    until(&server, "b goes on", || server.opened().len() == 3).await;
    server.delete("tenants", "", "a");
    until(&server, "a goes on without an object", || server.opened().len() == 4).await;
    running.stop().await;
}

/// The kinds have a version of the future: nothing is admitted by settings that nobody can read.
#[tokio::test]
async fn a_version_of_the_future_is_told() {
    let server = cluster();
    server.install(&["v2"]);
    server.put("pods", pod("a", "p", 1));
    let running = Running::start(&server);
    until(&server, "it is told", || {
        let is_told = |kind: &str| {
            let text =
                format!("the cluster has {kind}.trueplane.dev in v2, and this controller reads v1alpha1");
            server.told().iter().any(|told| told.contains(&text))
        };
        is_told("tenants") && is_told("cohorts")
    })
    .await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert!(server.opened().is_empty());
    server.install(&["v1alpha1", "v2"]);
    until(&server, "it goes on", || server.opened().len() == 1).await;
    running.stop().await;
}

/// The kinds are removed and come back while the controller runs: what tenants set goes and comes with them.
#[tokio::test]
async fn kinds_may_go_and_come_back() {
    let server = cluster();
    server.install(&["v1alpha1"]);
    tenant(&server, "a", &json!({ "hold": true }));
    server.put("pods", pod("a", "p", 1));
    let running = Running::start(&server);
    until(&server, "the hold is told", is_told(&server, "tenants", "a", "OnHold", "on hold")).await;
    assert!(server.opened().is_empty());
    server.install(&[]);
    until(&server, "nothing holds a", || server.opened().len() == 1).await;
    tenant(&server, "b", &json!({ "hold": true }));
    server.install(&["v1alpha1"]);
    until(&server, "the hold of b is told", is_told(&server, "tenants", "b", "OnHold", "on hold")).await;
    server.put("pods", pod("b", "p", 1));
    server.put("pods", pod("a", "q", 1));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(server.opened(), ["a/p"], "both are on hold again");
    running.stop().await;
}
