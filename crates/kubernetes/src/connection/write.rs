//! What is written to the API server: admissions, events and conditions.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{DynamicObject, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, Client, Error};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use trueplane_fair::Nanos;

use super::lease::Lease;
use super::problem::one_line;
use super::shared::Place;
use crate::controller::{Order, Outcome};
use crate::names::{ADMITTED, CONTROLLER, GATE, GROUP_ADMITTED};
use crate::objects::Kind;

/// Admissions that are written at once.
const WRITES: usize = 32;
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// Events that are written at once.
const EVENTS: usize = 2;
/// Time for one write. With the time by which the leader has to renew its lease it is shorter than the lease.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// Writes in the background while one term lasts: so many orders at once, and the others wait in their order.
pub(super) struct Writer {
    opens: mpsc::UnboundedSender<Order>,
    tells: mpsc::UnboundedSender<Order>,
    workers: JoinSet<()>,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// One of those who write.
#[derive(Clone)]
struct Worker {
    client: Client,
    lease: Arc<Lease>,
    /// What is ordered in one term is not written in another.
    term: u64,
    /// The name of this process, which could be longer than an event allows.
    identity: String,
    done: mpsc::UnboundedSender<(String, Outcome)>,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Writer {
    pub(super) fn new(
        client: Client,
        place: &Place,
        (lease, term): (Arc<Lease>, u64),
        done: mpsc::UnboundedSender<(String, Outcome)>,
        log: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        let identity = place.identity.chars().take(128).collect();
        let worker = Worker { client, lease, term, identity, done, log: log.clone() };
        let mut workers = JoinSet::new();
        let mut queue = |count: usize| {
            let (sender, receiver) = mpsc::unbounded_channel();
            let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
            (0..count).for_each(|_| drop(workers.spawn(worker.clone().work(receiver.clone()))));
            sender
        };
        let (opens, tells) = (queue(WRITES), queue(EVENTS));
        Self { opens, tells, workers, log }
    }

    /// Carries out the order in the background.
    pub(super) fn write(&self, order: Order) {
        if let Order::Tell { kind, namespace, name, is_warning: true, text, .. } = &order {
            let slash = if namespace.is_empty() { "" } else { "/" };
            (self.log)(&format!("{} {namespace}{slash}{name}: {text}", kind.name()));
        }
        let queue = if matches!(order, Order::Open { .. }) { &self.opens } else { &self.tells };
        drop(queue.send(order));
    }

    /// Waits until nothing is written any more, after the term has ended; whether nothing is.
    pub(super) async fn finish(self) -> bool {
        let Self { opens, tells, mut workers, .. } = self;
        drop((opens, tells));
        let all = async { while workers.join_next().await.is_some() {} };
        tokio::time::timeout(PATIENCE + Duration::from_secs(1), all).await.is_ok()
    }
}

impl Worker {
    async fn work(self, orders: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Order>>>) {
        loop {
            let order = orders.lock().await.recv().await;
            let Some(order) = order else { return };
            if self.lease.term() == Some(self.term) {
                self.carry_out(order).await;
            }
        }
    }

    async fn carry_out(&self, order: Order) {
        match order {
            Order::Open { kind, namespace, name, uid, at, with_group } => {
                let mut annotations = json!({ ADMITTED: rfc3339(at) });
                if with_group {
                    annotations[GROUP_ADMITTED] = json!(rfc3339(at));
                }
                // Another object of the same name has another unique number, and is refused.
                let metadata = json!({ "uid": uid, "annotations": annotations });
                let outcome = open(self.client.clone(), kind, &namespace, &name, metadata, &self.log).await;
                drop(self.done.send((uid, outcome)));
            }
            Order::Condition { kind, name, ready, since } => {
                let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind.resource());
                let second = Nanos(self.lease.now().0 / SECOND * SECOND);
                let condition = json!({
                    "type": "Ready",
                    "status": if ready.is_ready { "True" } else { "False" },
                    "reason": ready.reason,
                    "message": ready.message,
                    "observedGeneration": ready.generation,
                    "lastTransitionTime": since.unwrap_or_else(|| rfc3339(second)),
                });
                let resource = kind.resource();
                let body = Patch::Merge(json!({
                    "apiVersion": resource.api_version,
                    "kind": resource.kind,
                    "status": { "conditions": [condition] },
                }));
                let parameters = PatchParams::default();
                let writing = api.patch_status(&name, &parameters, &body);
                let problem = match tokio::time::timeout(PATIENCE, writing).await {
                    Ok(Ok(_)) | Err(_) => return,
                    Ok(Err(error)) => one_line(&error),
                };
                (self.log)(&format!("the condition of {} {name} is not written: {problem}", kind.name()));
            }
            Order::Tell { kind, namespace, name, uid, is_warning, reason, text } => {
                let about = ObjectReference {
                    api_version: Some(kind.resource().api_version),
                    kind: Some(kind.name().to_owned()),
                    namespace: Some(namespace.clone()).filter(|namespace| !namespace.is_empty()),
                    name: Some(name.clone()),
                    uid: Some(uid).filter(|uid| !uid.is_empty()),
                    ..ObjectReference::default()
                };
                // Events of what has no namespace belong here.
                let namespace = if namespace.is_empty() { "default" } else { &namespace };
                let now = Timestamp::from_nanosecond(self.lease.now().0.into()).unwrap_or_default();
                let event = Event {
                    metadata: ObjectMeta {
                        name: Some(format!("{name}.{:x}", now.as_nanosecond())),
                        namespace: Some(namespace.to_owned()),
                        ..ObjectMeta::default()
                    },
                    event_time: Some(MicroTime(now)),
                    reporting_controller: Some(CONTROLLER.to_owned()),
                    reporting_instance: Some(self.identity.clone()),
                    type_: Some(if is_warning { "Warning" } else { "Normal" }.to_owned()),
                    reason: Some(reason.to_owned()),
                    action: Some("Admit".to_owned()),
                    note: Some(text),
                    regarding: Some(about),
                    ..Event::default()
                };
                let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
                // Nobody depends on it.
                drop(tokio::time::timeout(PATIENCE, api.create(&PostParams::default(), &event)).await);
            }
        }
    }
}

/// Opens a pod or a job. Twice is as once: what is open stays so.
async fn open(
    client: Client,
    kind: Kind,
    namespace: &str,
    name: &str,
    metadata: Value,
    log: &Arc<dyn Fn(&str) + Send + Sync>,
) -> Outcome {
    let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &kind.resource());
    let parameters = PatchParams::default();
    let body: Value = match kind {
        Kind::Pod => json!({
            "metadata": metadata,
            "spec": { "schedulingGates": [{ "$patch": "delete", "name": GATE }] },
        }),
        _ => json!({ "metadata": metadata, "spec": { "suspend": false } }),
    };
    let patch = if kind == Kind::Pod { Patch::Strategic(body) } else { Patch::Merge(body) };
    let outcome = match tokio::time::timeout(PATIENCE, api.patch_metadata(name, &parameters, &patch)).await {
        Err(_) => return Outcome::Again(None),
        Ok(Ok(_)) => return Outcome::Done,
        Ok(Err(error)) => error,
    };
    match &outcome {
        Error::Api(status) => match status.code {
            404 => Outcome::Gone,
            409 => Outcome::Conflict,
            429 => {
                let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
                Outcome::Again(Some(Duration::from_secs(seconds.into())))
            }
            408 => Outcome::Again(None),
            400..=499 => {
                log(&format!("{} {namespace}/{name} is not opened: {}", kind.name(), one_line(&outcome)));
                Outcome::Refused
            }
            _ => Outcome::Again(None),
        },
        _ => Outcome::Again(None),
    }
}

/// A time as Kubernetes writes it, to the nanosecond.
pub(super) fn rfc3339(time: Nanos) -> String {
    Timestamp::from_nanosecond(time.0.into()).unwrap_or_default().to_string()
}
