//! What is written to the API server: admissions and events.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Api, Client, Error};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use trueplane_fair::Nanos;

use super::Place;
use super::lease::Lease;
use crate::controller::{Order, Outcome};
use crate::names::{ADMITTED, CONTROLLER, GATE};
use crate::objects::Kind;

/// Admissions that are written at once.
const WRITES: usize = 32;
/// Events that are written at once.
const EVENTS: usize = 2;
/// Time for one write. With the time by which the leader has to renew its lease it is shorter than the lease.
const PATIENCE: Duration = Duration::from_secs(4);

/// Writes in the background.
pub(super) struct Writer {
    client: Client,
    lease: Arc<Lease>,
    recorder: Recorder,
    writes: Arc<Semaphore>,
    events: Arc<Semaphore>,
    done: mpsc::UnboundedSender<(String, Outcome)>,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Writer {
    pub(super) fn new(
        client: Client,
        place: &Place,
        lease: Arc<Lease>,
        done: mpsc::UnboundedSender<(String, Outcome)>,
        log: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        let reporter = Reporter { controller: CONTROLLER.to_owned(), instance: Some(place.identity.clone()) };
        Self {
            recorder: Recorder::new(client.clone(), reporter),
            client,
            lease,
            writes: Arc::new(Semaphore::new(WRITES)),
            events: Arc::new(Semaphore::new(EVENTS)),
            done,
            log,
        }
    }

    /// Carries out the order in the background.
    pub(super) fn write(&self, order: Order) {
        match order {
            Order::Open { kind, namespace, name, uid, at } => {
                let (client, lease, log) = (self.client.clone(), self.lease.clone(), self.log.clone());
                let (writes, done) = (self.writes.clone(), self.done.clone());
                tokio::spawn(async move {
                    let Ok(_permit) = writes.acquire().await else { return };
                    // Whoever leads no more writes no more.
                    let outcome = if lease.leads() {
                        open(client, kind, &namespace, &name, &uid, at, &log).await
                    } else {
                        Outcome::Again(None)
                    };
                    drop(done.send((uid, outcome)));
                });
            }
            Order::Tell { kind, namespace, name, uid, is_warning, reason, text } => {
                let (recorder, events, log) = (self.recorder.clone(), self.events.clone(), self.log.clone());
                if is_warning {
                    log(&format!("{} {namespace}/{name}: {text}", kind.name()));
                }
                tokio::spawn(async move {
                    let Ok(_permit) = events.acquire().await else { return };
                    let about = ObjectReference {
                        api_version: Some(kind.resource().api_version),
                        kind: Some(kind.name().to_owned()),
                        namespace: Some(namespace).filter(|namespace| !namespace.is_empty()),
                        name: Some(name),
                        uid: Some(uid).filter(|uid| !uid.is_empty()),
                        ..ObjectReference::default()
                    };
                    let event = Event {
                        type_: if is_warning { EventType::Warning } else { EventType::Normal },
                        reason: reason.to_owned(),
                        note: Some(text),
                        action: "Admit".to_owned(),
                        secondary: None,
                    };
                    // Nobody depends on it.
                    drop(tokio::time::timeout(PATIENCE, recorder.publish(&event, &about)).await);
                });
            }
        }
    }

    /// Waits until what was ordered is written, but not for longer than `grace`.
    pub(super) async fn finish(&self, grace: Duration) {
        drop(tokio::time::timeout(grace, self.writes.acquire_many(WRITES as u32)).await);
    }
}

/// Opens a pod or a job. Twice is as once: what is open stays so.
async fn open(
    client: Client,
    kind: Kind,
    namespace: &str,
    name: &str,
    uid: &str,
    at: Nanos,
    log: &Arc<dyn Fn(&str) + Send + Sync>,
) -> Outcome {
    let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &kind.resource());
    let parameters = PatchParams::default();
    // Another object of the same name has another unique number, and is refused with 409.
    let metadata = json!({ "uid": uid, "annotations": { ADMITTED: rfc3339(at) } });
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

/// An error in one line: what the API server says, or else its innermost cause.
pub(super) fn one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(Error::Api(status)) = error.downcast_ref::<Error>() {
            let message = if status.message.is_empty() { &status.reason } else { &status.message };
            text = format!("{message} ({})", status.code);
            break;
        }
        text = error.to_string();
        next = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
