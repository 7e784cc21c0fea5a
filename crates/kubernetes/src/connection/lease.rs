//! Who leads: a lease that one process holds and renews, and the others take when it has not been renewed for long enough.
//!
//! A process judges by its own clock since it last saw the lease change, never by the times in it: clocks of machines differ.
//!
//! Source: the API reference of Kubernetes, Lease coordination.k8s.io/v1; the documentation of `k8s.io/client-go/tools/leaderelection`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease as LeaseObject, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::sync::watch;
use trueplane_fair::Nanos;

use super::clock::Clock;
use super::shared::Place;

/// The times by which a lease is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// After this time without a renewal, others may take the lease.
    pub lease: Duration,
    /// After this time without a renewal, the process that holds the lease leads no more. Shorter than `lease` by more than a write takes.
    pub renew: Duration,
    /// Time between two tries to take or renew it.
    pub retry: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { lease: seconds(15), renew: seconds(10), retry: seconds(2) }
    }
}

/// What was last seen of the lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    holder: String,
    version: String,
    at: Nanos,
}

/// The lease.
pub(super) struct Lease {
    api: Api<LeaseObject>,
    place: Place,
    times: Times,
    clock: Clock,
    /// Until when this process leads, and in which term: each time that it begins to lead is another one.
    until: Mutex<(Nanos, u64)>,
    /// Whether the process is able to lead.
    is_well: Box<dyn Fn() -> bool + Send + Sync>,
    seen: Mutex<Seen>,
    changed: watch::Sender<()>,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Lease {
    /// A lease that nobody has looked at yet, and something that changes when this process begins to lead.
    pub(super) fn new(
        client: Client,
        place: Place,
        times: Times,
        clock: Clock,
        is_well: Box<dyn Fn() -> bool + Send + Sync>,
        log: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> (Self, watch::Receiver<()>) {
        let (changed, receiver) = watch::channel(());
        let api = Api::namespaced(client, &place.namespace);
        let (until, seen) = (Mutex::new((Nanos(0), 0)), Mutex::new(Seen::default()));
        (Self { api, place, times, clock, until, is_well, seen, changed, log }, receiver)
    }

    /// The term in which this process leads now, if it does.
    pub(super) fn term(&self) -> Option<u64> {
        let (until, term) = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        (self.clock.now() < until).then_some(term)
    }

    /// The time by which it is judged.
    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// This process leads no more from now on. It still holds the lease.
    pub(super) fn resign(&self) {
        self.until.lock().unwrap_or_else(PoisonError::into_inner).0 = Nanos(0);
    }

    /// Takes the lease when it can, and renews it, for ever.
    pub(super) async fn keep(&self) {
        let mut told = None;
        loop {
            // The time from which it counts is that before the request: the server may have written it at once.
            let began = self.clock.now();
            let patience = self.times.renew.min(Duration::from_secs(5));
            if !(self.is_well)() {
                // Who cannot work leaves it to others.
                tokio::time::sleep(self.times.retry).await;
                continue;
            }
            let taken = match tokio::time::timeout(patience, self.take()).await {
                Ok(Ok(taken)) => taken,
                Ok(Err(error)) => {
                    let text = super::problem::one_line(&error);
                    if told.as_ref() != Some(&text) {
                        (self.log)(&format!(
                            "cannot take or renew the lease {}/{}: {text}",
                            self.place.namespace, self.place.name
                        ));
                    }
                    told = Some(text);
                    false
                }
                Err(_) => false,
            };
            if taken {
                let until = Nanos(began.0.saturating_add(nanos(self.times.renew)));
                let mut held = self.until.lock().unwrap_or_else(PoisonError::into_inner);
                if held.0 <= self.clock.now() {
                    held.1 += 1;
                    self.changed.send_replace(());
                }
                held.0 = until;
            } else if let Some(holder) = self.of_another() {
                self.resign();
                let text = format!("waits: {holder} leads");
                if told.as_ref() != Some(&text) {
                    (self.log)(&text);
                }
                told = Some(text);
            }
            tokio::time::sleep(self.times.retry).await;
        }
    }

    /// The other process that was the last that was seen to hold it, if one was.
    fn of_another(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let holder = seen.holder.clone();
        (!holder.is_empty() && holder != self.place.identity).then_some(holder)
    }

    /// Takes or renews the lease if it may; whether it has it.
    async fn take(&self) -> Result<bool, kube::Error> {
        let now = self.clock.now();
        let Some(found) = self.api.get_opt(&self.place.name).await? else {
            let created = self.api.create(&PostParams::default(), &self.written(None, 0)).await;
            return settled(created);
        };
        let spec = found.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.clone().unwrap_or_default();
        let version = found.metadata.resource_version.clone().unwrap_or_default();
        let is_free = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if (&seen.holder, &seen.version) != (&holder, &version) {
                *seen = Seen { holder: holder.clone(), version, at: now };
            }
            holder.is_empty() || now.since(seen.at).0 >= nanos(self.times.lease)
        };
        let is_ours = holder == self.place.identity;
        if !is_ours && !is_free {
            return Ok(false);
        }
        let transitions = spec.lease_transitions.unwrap_or(0).saturating_add(i32::from(!is_ours));
        let written = self.written(Some(&found), transitions);
        settled(self.api.replace(&self.place.name, &PostParams::default(), &written).await)
    }

    /// The lease as this process wants it.
    fn written(&self, found: Option<&LeaseObject>, transitions: i32) -> LeaseObject {
        let now = MicroTime(Timestamp::from_nanosecond(self.clock.now().0.into()).unwrap_or_default());
        let before = found.and_then(|found| found.spec.clone()).unwrap_or_default();
        let is_ours = before.holder_identity.as_ref() == Some(&self.place.identity);
        let metadata = ObjectMeta {
            name: Some(self.place.name.clone()),
            namespace: Some(self.place.namespace.clone()),
            ..ObjectMeta::default()
        };
        LeaseObject {
            metadata: found.map_or(metadata, |found| found.metadata.clone()),
            spec: Some(LeaseSpec {
                holder_identity: Some(self.place.identity.clone()),
                lease_duration_seconds: Some(
                    i32::try_from(self.times.lease.as_secs().max(1)).unwrap_or(i32::MAX),
                ),
                acquire_time: if is_ours { before.acquire_time } else { Some(now.clone()) },
                renew_time: Some(now),
                lease_transitions: Some(transitions),
                ..LeaseSpec::default()
            }),
        }
    }

    /// Gives the lease back, so that another process need not wait for its end.
    pub(super) async fn release(&self) {
        let give = async {
            let Some(mut found) = self.api.get_opt(&self.place.name).await? else { return Ok(()) };
            if let Some(spec) = &mut found.spec
                && spec.holder_identity.as_ref() == Some(&self.place.identity)
            {
                spec.holder_identity = Some(String::new());
                self.api.replace(&self.place.name, &PostParams::default(), &found).await?;
            }
            Ok::<(), kube::Error>(())
        };
        drop(tokio::time::timeout(Duration::from_secs(2), give).await);
    }
}

/// Whether a write of the lease has come through; if another was faster, it is theirs.
fn settled(written: Result<LeaseObject, kube::Error>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
