//! The jobs of a real log, once under `trueplane fair admit` and once under Kueue: what tenants waited for, and what they had.

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use super::job_log::{JobLog, RESOURCES};
use super::live::{run, set_up};
use super::load::Form;
use super::process::{Controller, Process};
use super::{client, number, report};

fn log() -> Option<JobLog> {
    JobLog::read(number("PODS", 3000))
}

async fn by_trueplane(form: Form) {
    let Some(log) = log() else { return };
    let capacity = set_up(&log, form).await;
    let controller = Controller::start("controller", None);
    let run = run(&log, form, capacity, controller.process()).await;
    report::write(&run);
    report::print(&run);
    run.check();
    controller.stop();
}

#[tokio::test]
async fn jobs_by_trueplane() {
    by_trueplane(Form::Jobs).await;
}

#[tokio::test]
async fn job_sets_by_trueplane() {
    by_trueplane(Form::JobSets).await;
}

#[tokio::test]
async fn jobs_by_kueue() {
    let Some(log) = log() else { return };
    let capacity = set_up(&log, Form::Kueue).await;
    queues(&client("KUBECONFIG").await, capacity).await;
    let kueue = Process::named("KUEUE_PID");
    let run = run(&log, Form::Kueue, capacity, &kueue).await;
    report::write(&run);
    report::print(&run);
    run.check();
}

/// One ClusterQueue with all that there is, and a LocalQueue for each tenant; what tenants have used counts.
async fn queues(client: &Client, capacity: [u64; 2]) {
    let strategy = std::env::var("STRATEGY").unwrap_or_else(|_| "StrictFIFO".to_owned());
    let quotas: Vec<Value> = RESOURCES
        .into_iter()
        .zip(capacity)
        .map(|(name, amount)| json!({ "name": name, "nominalQuota": amount.to_string() }))
        .collect();
    put(client, "ResourceFlavor", None, json!({ "metadata": { "name": "all" }, "spec": {} })).await;
    let queue = json!({
        "metadata": { "name": "cluster" },
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": strategy,
            "admissionScope": { "admissionMode": "UsageBasedAdmissionFairSharing" },
            "resourceGroups": [{
                "coveredResources": RESOURCES,
                "flavors": [{ "name": "all", "resources": quotas }],
            }],
        },
    });
    put(client, "ClusterQueue", None, queue).await;
    for tenant in JobLog::tenants() {
        let queue = json!({
            "metadata": { "name": "queue", "namespace": tenant },
            "spec": { "clusterQueue": "cluster", "fairSharing": { "weight": "1" } },
        });
        put(client, "LocalQueue", Some(&tenant), queue).await;
    }
}

/// Creates an object of Kueue.
async fn put(client: &Client, kind: &str, namespace: Option<&str>, mut object: Value) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("kueue.x-k8s.io", "v1beta1", kind));
    object["apiVersion"] = json!(resource.api_version);
    object["kind"] = json!(kind);
    let api: Api<DynamicObject> = match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}
