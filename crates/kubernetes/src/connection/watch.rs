//! Pods, jobs, nodes, namespaces, tenants and cohorts, as they are and as they change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::core::ApiResource;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;
use trueplane_fair::Nanos;

use super::clock::Clock;
use super::shared::Shared;
use crate::controller::Controller;
use crate::objects::{
    CohortObject, Item, Kind, Namespace, Node, RawJob, RawNamespace, RawNode, RawPod, RawSettings,
    TenantObject,
};
use crate::resources::ResourceNames;

/// An object of which something counts.
#[derive(Debug)]
pub(super) enum Seen {
    /// A pod or a job.
    Item(Box<Item>),
    Node(Node),
    Namespace(Namespace),
    Tenant(TenantObject),
    Cohort(CohortObject),
    /// One of this name or unique number that is not for us, or not any more.
    Nothing(String),
}

impl Seen {
    /// The name or unique number by which the controller knows it.
    fn key(&self) -> &str {
        match self {
            Self::Item(item) => &item.uid,
            Self::Node(node) => &node.name,
            Self::Namespace(namespace) => &namespace.name,
            Self::Tenant(tenant) => &tenant.name,
            Self::Cohort(cohort) => &cohort.name,
            Self::Nothing(key) => key,
        }
    }
}

/// A change of what there is.
#[derive(Debug)]
pub(super) enum Change {
    /// All objects of the kind come next, one by one.
    Begins(Kind),
    /// An object is so: one of all, or one that has changed.
    Is(Kind, Seen),
    /// An object is gone.
    Gone(Kind, Seen),
    /// All objects of the kind were told.
    Complete(Kind),
    /// Nobody can tell of the objects of the kind, and why.
    Unreadable(Kind, String),
}

/// The objects that were told of so far.
#[derive(Debug, Default)]
pub(super) struct Watched {
    complete: BTreeSet<Kind>,
    /// What was told of a kind since its last beginning.
    there: BTreeMap<Kind, BTreeSet<String>>,
    /// Why nothing is told of a kind.
    pub(super) unreadable: BTreeMap<Kind, String>,
}

impl Watched {
    /// Whether everything was told once.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.len() == Kind::WATCHED.len()
    }

    /// Takes a change. Returns whether it is something that was not known: watches that only fail begin again and again.
    pub(super) fn apply(&mut self, controller: &mut Controller, change: Change, now: Nanos) -> bool {
        let is_news = match &change {
            Change::Begins(_) | Change::Unreadable(..) => false,
            Change::Complete(kind) => !self.complete.contains(kind),
            Change::Is(..) | Change::Gone(..) => true,
        };
        match change {
            Change::Begins(kind) => {
                self.unreadable.remove(&kind);
                self.there.insert(kind, BTreeSet::new());
            }
            Change::Unreadable(kind, problem) => drop(self.unreadable.insert(kind, problem)),
            Change::Complete(kind) => {
                if let Some(there) = self.there.remove(&kind) {
                    controller.shown_all(kind, &there, now);
                }
                self.complete.insert(kind);
            }
            Change::Is(kind, seen) => {
                if let Some(there) = self.there.get_mut(&kind)
                    && !matches!(seen, Seen::Nothing(_))
                {
                    there.insert(seen.key().to_owned());
                }
                match seen {
                    Seen::Item(item) => controller.show_item(*item, now),
                    Seen::Node(node) => controller.show_node(node, now),
                    Seen::Namespace(namespace) => controller.show_namespace(namespace, now),
                    Seen::Tenant(tenant) => controller.show_tenant(tenant, now),
                    Seen::Cohort(cohort) => controller.show_cohort(cohort, now),
                    Seen::Nothing(key) => forget(controller, kind, &key, now),
                }
            }
            Change::Gone(kind, seen) => forget(controller, kind, seen.key(), now),
        }
        is_news
    }
}

fn forget(controller: &mut Controller, kind: Kind, key: &str, now: Nanos) {
    match kind {
        Kind::Pod | Kind::Job | Kind::JobSet => controller.forget_item(key, now),
        Kind::Node => controller.forget_node(key),
        Kind::Namespace => controller.forget_namespace(key, now),
        Kind::Tenant => controller.forget_tenant(key, now),
        Kind::Cohort => controller.forget_cohort(key, now),
        Kind::Definition => {}
    }
}

/// Starts a watch of each kind. They begin again by themselves, whatever happens to them.
pub(super) fn spawn(
    tasks: &mut JoinSet<()>,
    client: &Client,
    shared: &Arc<Shared>,
    changed: &Sender<Change>,
    log: &Arc<dyn Fn(&str) + Send + Sync>,
) {
    let names = shared.controller().policy().resources.clone();
    let mut start = |kind: Kind| {
        let (client, shared, changed, log, names) =
            (client.clone(), shared.clone(), changed.clone(), log.clone(), names.clone());
        let clock = shared.clock;
        let mut told = String::new();
        let failed = move |error: &watcher::Error| {
            *shared.watch_errors.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            let text = super::problem::one_line(error);
            if text != told {
                log(&format!("the watch of {}s begins again: {text}", kind.name().to_lowercase()));
                told = text;
            }
        };
        let seen_job = move |job: &RawJob, names: &ResourceNames| {
            let uid = job.metadata.uid.clone().unwrap_or_default();
            let item = if kind == Kind::Job { Item::job(job, names) } else { Item::job_set(job, names) };
            item.map_or(Seen::Nothing(uid), |item| Seen::Item(Box::new(item)))
        };
        match kind {
            Kind::Pod => tasks.spawn(follow::<RawPod>(client, kind, clock, changed, failed, move |pod| {
                Seen::Item(Box::new(Item::pod(pod, &names)))
            })),
            Kind::Job | Kind::JobSet => {
                tasks.spawn(follow::<RawJob>(client, kind, clock, changed, failed, move |job| {
                    seen_job(job, &names)
                }))
            }
            Kind::Node => tasks.spawn(follow::<RawNode>(client, kind, clock, changed, failed, move |node| {
                Seen::Node(Node::read(node, &names))
            })),
            Kind::Namespace => {
                tasks.spawn(follow::<RawNamespace>(client, kind, clock, changed, failed, move |namespace| {
                    Seen::Namespace(Namespace::read(namespace, &names))
                }))
            }
            Kind::Tenant => {
                tasks.spawn(follow::<RawSettings>(client, kind, clock, changed, failed, move |tenant| {
                    Seen::Tenant(TenantObject::read(tenant, &names))
                }))
            }
            Kind::Cohort => {
                tasks.spawn(follow::<RawSettings>(client, kind, clock, changed, failed, move |cohort| {
                    Seen::Cohort(CohortObject::read(cohort, &names))
                }))
            }
            Kind::Definition => return,
        };
    };
    Kind::WATCHED.into_iter().for_each(&mut start);
}

/// The pauses after errors of a watch: they double with each error, and begin anew when a minute went well.
#[derive(Debug)]
struct Pauses {
    clock: Clock,
    next: Duration,
    failed: Nanos,
}

impl Pauses {
    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(10);
    const WELL: Nanos = Nanos(60_000_000_000);

    fn new(clock: Clock) -> Self {
        Self { clock, next: Self::FIRST, failed: Nanos(0) }
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.next;
        self.next = (pause * 2).min(Self::LONGEST);
        self.failed = self.clock.now();
        Some(pause)
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        if self.clock.now().since(self.failed) > Self::WELL {
            self.next = Self::FIRST;
        }
    }
}

/// A watch ends after this time, and goes on where it was: a connection that is dead is noticed by then.
const WATCH_SECONDS: u32 = 60;

/// Tells of all objects of a kind and of their changes until nobody listens.
async fn follow<K>(
    client: Client,
    kind: Kind,
    clock: Clock,
    changed: Sender<Change>,
    mut failed: impl FnMut(&watcher::Error),
    seen: impl Fn(&K) -> Seen,
) where
    K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let api: Api<K> = Api::all_with(client.clone(), &kind.resource());
    // When a kind that had gone is back, its watch begins anew, and does not go on where it was.
    loop {
        let config = watcher::Config::default().timeout(WATCH_SECONDS);
        let mut events = pin!(watcher(api.clone(), config).backoff(Pauses::new(clock)));
        while let Some(event) = events.next().await {
            let change = match event {
                Err(error) if kind.is_optional() && is_unknown(&error) => {
                    let Ok(absence) = absence(&client, kind).await else {
                        failed(&error);
                        continue;
                    };
                    if absence.is_some() {
                        failed(&error);
                    }
                    for change in changes_of_absence(kind, absence) {
                        if changed.send(change).await.is_err() {
                            return;
                        }
                    }
                    break;
                }
                Err(error) => {
                    failed(&error);
                    continue;
                }
                Ok(Event::Init) => Change::Begins(kind),
                Ok(Event::InitApply(object) | Event::Apply(object)) => Change::Is(kind, seen(&object)),
                Ok(Event::Delete(object)) => Change::Gone(kind, seen(&object)),
                Ok(Event::InitDone) => Change::Complete(kind),
            };
            if changed.send(change).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(Pauses::LONGEST).await;
    }
}

/// Tells that there are no objects of an optional kind; or, if the API server has it in another version, that nobody can read ours. Sets of jobs that
/// nobody can read are as none.
fn changes_of_absence(kind: Kind, other_version: Option<String>) -> Vec<Change> {
    match other_version.filter(|_| kind != Kind::JobSet) {
        None => vec![Change::Begins(kind), Change::Complete(kind)],
        Some(version) => {
            let ApiResource { group, plural, version: ours, .. } = kind.resource();
            let problem = format!(
                "the cluster has {plural}.{group} in {version}, and this controller reads {ours}: install a controller that reads {version}"
            );
            vec![Change::Unreadable(kind, problem)]
        }
    }
}

/// Whether the API server does not know what was asked for.
fn is_unknown(error: &watcher::Error) -> bool {
    use watcher::Error::{InitialListFailed, WatchFailed, WatchStartFailed};
    let (InitialListFailed(error) | WatchStartFailed(error) | WatchFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// The other version in which the API server has an optional kind, of which it does not know ours; none if it does not have the kind.
async fn absence(client: &Client, kind: Kind) -> Result<Option<String>, kube::Error> {
    let resource = kind.resource();
    let groups = client.list_api_groups().await?.groups;
    let group = groups.into_iter().find(|group| group.name == resource.group);
    for version in group.into_iter().flat_map(|group| group.versions) {
        let found = client.list_api_group_resources(&version.group_version).await?.resources;
        if found.iter().any(|found| found.name == resource.plural) && version.version != resource.version {
            return Ok(Some(version.version));
        }
    }
    Ok(None)
}
