//! What is read of a pod or a workload.
//!
//! Sources: the API reference of Kubernetes (Pod v1); the API reference of Kueue (Workload v1beta1 and v1beta2).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use trueplane_units::Nanos;

use super::needs::{Amounts, Container, Resources, add, pod_needs};
use crate::workload::MOST_TIME;

/// The kind of the objects that are tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pod,
    Workload,
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "Pod" | "PodList" => Some(Self::Pod),
            "Workload" | "WorkloadList" => Some(Self::Workload),
            _ => None,
        }
    }
}

/// When an object was submitted, started and ended, as far as it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) submitted: Nanos,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
}

/// A pod, or a workload of Kueue: what counts of either.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) metadata: Metadata,
    pub(super) spec: Spec,
    pub(super) status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) uid: String,
    creation_timestamp: Option<String>,
    deletion_timestamp: Option<String>,
    pub(super) labels: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "or_default")]
    owner_references: Vec<Named>,
}

/// What is null is as what is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Something of which only the kind counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    kind: String,
}

/// The spec of a pod, or of a workload, which has those of its pods.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spec {
    #[serde(deserialize_with = "or_default")]
    containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    init_containers: Vec<Container>,
    overhead: Option<Amounts>,
    resources: Option<Resources>,
    pub(super) service_account_name: Option<String>,
    pub(super) queue_name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pod_sets: Vec<PodSet>,
}

/// Pods that are alike.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct PodSet {
    count: u32,
    template: Template,
}

impl Default for PodSet {
    /// A workload that does not say how many has one.
    fn default() -> Self {
        Self { count: 1, template: Template::default() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    phase: String,
    start_time: Option<String>,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "or_default")]
    container_statuses: Vec<ContainerStatus>,
    #[serde(deserialize_with = "or_default")]
    init_container_statuses: Vec<ContainerStatus>,
    pub(super) admission: Option<Admission>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    r#type: String,
    status: String,
    last_transition_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    state: State,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    terminated: Option<Terminated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    finished_at: Option<String>,
}

/// What Kueue has reserved for a workload.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Admission {
    pub(super) cluster_queue: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pod_set_assignments: Vec<Assignment>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Assignment {
    /// For all pods of the set.
    resource_usage: Option<Amounts>,
}

impl Object {
    /// Whether the object has a place on a node from the start, and waits for no other.
    pub(super) fn is_everywhere(&self) -> bool {
        self.metadata.owner_references.iter().any(|owner| matches!(owner.kind.as_str(), "DaemonSet" | "Node"))
    }

    /// What the object needs. Sums that do not fit are as large as can be.
    pub(super) fn needs(&self, kind: Kind) -> Amounts {
        if kind == Kind::Pod {
            return self.spec.pod_needs();
        }
        let mut needs = Amounts::new();
        let reserved = self.status.admission.iter().flat_map(|admission| &admission.pod_set_assignments);
        reserved
            .filter_map(|assignment| assignment.resource_usage.as_ref())
            .for_each(|used| add(&mut needs, used, 1));
        if needs.is_empty() {
            self.spec
                .pod_sets
                .iter()
                .for_each(|set| add(&mut needs, &set.template.spec.pod_needs(), set.count));
        }
        needs
    }

    /// When it was submitted, started and ended. The error names the field that is wrong.
    pub(super) fn times(&self, kind: Kind) -> Result<Times, String> {
        let submitted = read("creationTimestamp", &self.metadata.creation_timestamp)?
            .ok_or_else(|| "expected a creationTimestamp, found none".to_owned())?;
        let (start, end) = match kind {
            Kind::Pod => {
                let scheduled = self.condition("PodScheduled")?;
                let start = scheduled.or(read("startTime", &self.status.start_time)?);
                (start, if self.is_over() { self.last_end()? } else { None })
            }
            Kind::Workload => (self.condition("Admitted")?, self.condition("Finished")?),
        };
        Ok(Times { submitted, start, end })
    }

    /// When the condition became true, if it is.
    fn condition(&self, kind: &str) -> Result<Option<Nanos>, String> {
        let found = self.status.conditions.iter().find(|one| one.r#type == kind && one.status == "True");
        found.map_or(Ok(None), |found| read("lastTransitionTime", &found.last_transition_time))
    }

    /// Whether it has ended, or will soon.
    pub(super) fn is_over(&self) -> bool {
        let is_finished =
            self.status.conditions.iter().any(|one| one.r#type == "Finished" && one.status == "True");
        is_finished || self.has_ended() || self.metadata.deletion_timestamp.is_some()
    }

    /// Whether all containers of a pod have ended.
    fn has_ended(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// When the last of its containers ended; if none ever started, when it was evicted; and if it is being deleted, when that is over.
    fn last_end(&self) -> Result<Option<Nanos>, String> {
        let deleted = read("deletionTimestamp", &self.metadata.deletion_timestamp)?;
        if !self.has_ended() {
            return Ok(deleted);
        }
        let mut ends = self.ended().map(|ended| read("finishedAt", &ended.finished_at));
        let last = ends.try_fold(None, |last: Option<Nanos>, end| Ok::<_, String>(last.max(end?)))?;
        Ok(last.or(self.condition("DisruptionTarget")?).or(deleted))
    }

    /// The containers that have ended.
    fn ended(&self) -> impl Iterator<Item = &Terminated> {
        let all = self.status.init_container_statuses.iter().chain(&self.status.container_statuses);
        all.filter_map(|status| status.state.terminated.as_ref())
    }

    /// The latest time that the object has.
    pub(super) fn latest(&self) -> Nanos {
        let metadata = [&self.metadata.creation_timestamp, &self.status.start_time];
        let conditions = self.status.conditions.iter().map(|condition| &condition.last_transition_time);
        let all = metadata.into_iter().chain(conditions).chain(self.ended().map(|ended| &ended.finished_at));
        all.filter_map(|text| time(text.as_deref()?)).max().unwrap_or_default()
    }
}

impl Spec {
    fn pod_needs(&self) -> Amounts {
        let whole = self.resources.as_ref();
        pod_needs(&self.init_containers, &self.containers, whole, self.overhead.as_ref())
    }
}

/// The time of a field; none if it has none.
fn read(field: &str, text: &Option<String>) -> Result<Option<Nanos>, String> {
    let Some(text) = text else { return Ok(None) };
    time(text).map(Some).ok_or_else(|| {
        let found = text.escape_debug();
        format!("{field}: expected a time from 1970 to 2116 such as 2026-01-31T12:00:00Z, got \"{found}\"")
    })
}

/// A time as Kubernetes writes it.
fn time(text: &str) -> Option<Nanos> {
    trueplane_trace::date_time(text).filter(|time| *time <= MOST_TIME)
}
