//! Namespaces, nodes, and jobs as they come.

use std::collections::HashMap;
use std::sync::Mutex;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use trueplane_fair::Nanos;
use trueplane_kubernetes::connection::time_since_1970;
use trueplane_kubernetes::names;
use trueplane_kubernetes::objects::Kind;

use super::job_log::{Job, JobLog, RESOURCES};

/// Requests that are under way at once.
const REQUESTS: usize = 32;
/// Label of all that the test creates.
pub(crate) const LABEL: &str = "trueplane.test/jobs";

/// As what jobs come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Pods.
    Pods,
    /// Jobs of Kubernetes that `trueplane fair admit` resumes.
    Jobs,
    /// JobSets of up to two jobs each that `trueplane fair admit` resumes.
    JobSets,
    /// Jobs of Kubernetes that Kueue resumes.
    Kueue,
}

impl Form {
    /// The place of the kind in the API.
    pub(crate) fn resource(self) -> ApiResource {
        match self {
            Self::Pods => Kind::Pod.resource(),
            Self::JobSets => Kind::JobSet.resource(),
            Self::Jobs | Self::Kueue => Kind::Job.resource(),
        }
    }

    fn object(self, job: &Job) -> Value {
        let mut metadata = json!({ "name": job.name, "namespace": job.tenant, "labels": { LABEL: "yes" } });
        let pods = |needs| pod_template(job, needs);
        if self == Self::Pods {
            let template = pods(job.needs);
            metadata["annotations"] = template["metadata"]["annotations"].clone();
            return json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] });
        }
        let (label, value) = match self {
            Self::Kueue => ("kueue.x-k8s.io/queue-name", "queue"),
            _ => (names::JOB, "true"),
        };
        metadata["labels"][label] = json!(value);
        if self == Self::JobSets {
            // Two pods in one job, and what is left in another.
            let halves = job.needs.map(|amount| amount / 2);
            let third = job.needs.map(|amount| amount - amount / 2 * 2);
            let one = |name: &str, count: u32, needs| {
                json!({ "name": name, "replicas": 1, "template": { "spec": {
                    "parallelism": count, "completions": count, "backoffLimit": 0, "template": pods(needs),
                } } })
            };
            let jobs = [("pair", 2, halves), ("rest", 1, third)];
            let jobs = jobs.into_iter().filter(|&(.., needs)| needs != [0, 0]);
            let jobs: Vec<Value> = jobs.map(|(name, count, needs)| one(name, count, needs)).collect();
            return json!({
                "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata,
                "spec": { "suspend": true, "replicatedJobs": jobs },
            });
        }
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": { "suspend": true, "backoffLimit": 0, "template": pods(job.needs) },
        })
    }
}

/// The template of a pod of a job that needs so much.
fn pod_template(job: &Job, needs: [u64; 2]) -> Value {
    let amounts: HashMap<&str, String> =
        RESOURCES.into_iter().zip(needs.map(|amount| amount.to_string())).collect();
    json!({
        "metadata": { "annotations": { "trueplane.test/run-for": format!("{}ms", job.runs.as_millis().max(1)) } },
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "tolerations": [{ "operator": "Exists" }],
            "containers": [{ "name": "main", "image": "none", "resources": { "requests": amounts, "limits": amounts } }],
        },
    })
}

/// Gives every node so much of [`RESOURCES`]. Returns the number of nodes.
pub(crate) async fn set_nodes(client: &Client, of: impl Fn(usize) -> [u64; 2]) -> usize {
    let api: Api<Node> = Api::all(client.clone());
    let nodes = api.list(&ListParams::default()).await.unwrap().items;
    let amounts: HashMap<&str, String> =
        RESOURCES.into_iter().zip(of(nodes.len()).map(|amount| amount.to_string())).collect();
    let patch = Patch::Merge(json!({ "status": { "allocatable": amounts, "capacity": amounts } }));
    let one = |node: &Node| {
        let (api, name, patch) = (api.clone(), node.metadata.name.clone().unwrap(), patch.clone());
        async move { drop(api.patch_status(&name, &PatchParams::default(), &patch).await.unwrap()) }
    };
    futures_util::stream::iter(&nodes).for_each_concurrent(REQUESTS, one).await;
    nodes.len()
}

/// A namespace for each tenant.
pub(crate) async fn create_tenants(client: &Client, form: Form) {
    let api: Api<Namespace> = Api::all(client.clone());
    for name in JobLog::tenants() {
        let labels = if form == Form::Kueue { json!({}) } else { json!({ names::TENANT: name }) };
        let namespace = json!({ "metadata": { "name": name, "labels": labels } });
        api.create(&PostParams::default(), &serde_json::from_value(namespace).unwrap()).await.unwrap();
    }
}

/// Creates each job when it comes. Returns when each was there, by its name.
pub(crate) async fn create(client: &Client, jobs: &[Job], form: Form) -> HashMap<String, Nanos> {
    let created = Mutex::new(HashMap::new());
    let (began, late) = (Instant::now(), Mutex::new(0f64));
    let resource = form.resource();
    let one = |job: &'static Job| {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &job.tenant, &resource);
        let (created, late) = (&created, &late);
        async move {
            sleep_until(began + job.comes).await;
            let object = serde_json::from_value(form.object(job)).unwrap();
            api.create(&PostParams::default(), &object).await.unwrap();
            created.lock().unwrap().insert(job.name.clone(), time_since_1970());
            let delay = began.elapsed().saturating_sub(job.comes).as_secs_f64();
            let mut late = late.lock().unwrap();
            *late = late.max(delay);
        }
    };
    // Jobs that are to come hold none of the requests that are under way.
    let jobs: &'static [Job] = Box::leak(jobs.to_vec().into_boxed_slice());
    futures_util::stream::iter(jobs).for_each_concurrent(REQUESTS, one).await;
    let late = late.into_inner().unwrap();
    eprintln!(
        "{} jobs came in {:.1} s; the latest was {late:.1} s late",
        jobs.len(),
        began.elapsed().as_secs_f64()
    );
    created.into_inner().unwrap()
}
