//! What is read of the objects of Kubernetes: as little as counts.
//!
//! Sources: the API reference of Kubernetes: Pod v1, Job batch/v1, Node v1, Namespace v1; its page "Pod Scheduling Readiness"; the API of JobSet,
//! v1alpha2.

mod jobs;
mod settings;

use std::collections::BTreeMap;

use kube::core::{ApiResource, Object, ObjectMeta};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trueplane_fair::Nanos;
use trueplane_fair::cluster::MOST_WEIGHT;
use trueplane_fair::workload::kubernetes::{Amounts, Container, Resources, pod_needs};

use crate::names::{
    ADMITTED, GATE, GROUP, GROUP_ADMITTED, GROUP_OF_KINDS, GROUP_SIZE, JOB_SET, LIMITS, TENANT,
    VERSION_OF_KINDS, WEIGHT,
};
use crate::resources::ResourceNames;

pub use settings::{CohortObject, Ready, TenantObject, TenantSpec};

/// A pod as the API server has it. What cannot be read of one object must not keep the others from being seen, so that each is read by itself.
pub type RawPod = Object<Value, Value>;
/// A job or a set of jobs as the API server has it.
pub type RawJob = Object<Value, Value>;
/// A node as the API server has it.
pub type RawNode = Object<Value, Value>;
/// A namespace as the API server has it.
pub type RawNamespace = Object<Value, Value>;

/// A tenant or a cohort as the API server has it.
pub type RawSettings = Object<Value, Value>;

/// The kinds of objects that are watched, and those of which events tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `v1 Pod`.
    Pod,
    /// `batch/v1 Job`.
    Job,
    /// `jobset.x-k8s.io JobSet`: several jobs that run together.
    JobSet,
    /// `v1 Node`.
    Node,
    /// `v1 Namespace`.
    Namespace,
    /// `trueplane.dev Tenant`.
    Tenant,
    /// `trueplane.dev Cohort`.
    Cohort,
    /// `apiextensions.k8s.io/v1 CustomResourceDefinition`. It is not watched.
    Definition,
}

impl Kind {
    /// The kinds that are watched.
    pub const WATCHED: [Self; 7] =
        [Self::Cohort, Self::Tenant, Self::Namespace, Self::Node, Self::JobSet, Self::Job, Self::Pod];

    /// Whether a cluster may not have this kind, as nobody has told it what that is.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Cohort | Self::Tenant | Self::JobSet)
    }

    /// Whether its objects have pods, and hold what these need as a whole.
    pub fn is_job(self) -> bool {
        matches!(self, Self::Job | Self::JobSet)
    }

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::Job => "Job",
            Self::JobSet => "JobSet",
            Self::Node => "Node",
            Self::Namespace => "Namespace",
            Self::Tenant => "Tenant",
            Self::Cohort => "Cohort",
            Self::Definition => "CustomResourceDefinition",
        }
    }

    /// The place of the kind in the API.
    pub fn resource(self) -> ApiResource {
        let (group, version, plural) = match self {
            Self::Pod => ("", "v1", "pods"),
            Self::Job => ("batch", "v1", "jobs"),
            Self::JobSet => ("jobset.x-k8s.io", "v1alpha2", "jobsets"),
            Self::Node => ("", "v1", "nodes"),
            Self::Namespace => ("", "v1", "namespaces"),
            Self::Tenant => (GROUP_OF_KINDS, VERSION_OF_KINDS, "tenants"),
            Self::Cohort => (GROUP_OF_KINDS, VERSION_OF_KINDS, "cohorts"),
            Self::Definition => ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        };
        ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") },
            kind: self.name().to_owned(),
            plural: plural.to_owned(),
        }
    }
}

/// Reads a part of an object; what is not there is as what is empty. The error names what is wrong.
fn read<T: DeserializeOwned + Default>(part: &str, value: Option<&Value>) -> Result<T, String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(T::default()) };
    T::deserialize(value.clone()).map_err(|error| format!("cannot read its {part}: {error}"))
}

/// What is null is as what is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The spec of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodSpec {
    #[serde(deserialize_with = "or_default")]
    containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    init_containers: Vec<Container>,
    overhead: Option<Amounts>,
    node_selector: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "or_default")]
    resources: Resources,
    priority: Option<i32>,
}

impl PodSpec {
    /// Amounts that a pod needs, of the flavor for which its node selector asks.
    fn needs(&self, resources: &ResourceNames) -> Vec<u64> {
        let (overhead, selector) = (self.overhead.as_ref(), self.node_selector.as_ref());
        let amounts = pod_needs(&self.init_containers, &self.containers, Some(&self.resources), overhead);
        resources.needs(&amounts, resources.flavor(|key| map(selector, key)))
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    r#type: String,
    status: String,
    last_transition_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    #[serde(deserialize_with = "or_default")]
    state: State,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    terminated: Option<Terminated>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    finished_at: Option<String>,
}

/// When a condition became true, if it is.
fn since(conditions: &[Condition], kind: &str) -> Option<Nanos> {
    let found = conditions.iter().find(|one| one.r#type == kind && one.status == "True")?;
    time(found.last_transition_time.as_deref()?)
}

/// Whether a condition is true.
fn is_true(conditions: &[Condition], kind: &str) -> bool {
    conditions.iter().any(|one| one.r#type == kind && one.status == "True")
}

/// A time as Kubernetes writes it.
pub(crate) fn time(text: &str) -> Option<Nanos> {
    trueplane_trace::date_time(text)
}

/// The status of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct NodeStatus {
    #[serde(deserialize_with = "or_default")]
    allocatable: Amounts,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Condition>,
}

/// What a pod and a job have in common: something that is held until it is its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Pod, job or set of jobs.
    pub kind: Kind,
    /// Its unique number.
    pub uid: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created: Nanos,
    /// Amounts that it needs of the resources that count.
    pub needs: Vec<u64>,
    /// Its priority.
    pub priority: i32,
    /// Whether it is held: the pod has our gate, or the job is suspended.
    pub is_held: bool,
    /// When it was admitted, by our annotation.
    pub admitted: Option<Nanos>,
    /// When it was admitted with its whole group, by our annotation.
    pub admitted_with_group: Option<Nanos>,
    /// When it began to use what it needs: a pod that has a node, a job that has started.
    pub started: Option<Nanos>,
    /// The node of a pod.
    pub node: Option<String>,
    /// Whether it has ended.
    pub is_over: bool,
    /// When it ended, if that is known.
    pub ended: Option<Nanos>,
    /// Name and size of its group, all of which is admitted at once.
    pub group: Option<(String, u32)>,
    /// What is wrong with it, if something is.
    pub problem: Option<String>,
    /// The unique number of the job, or of the set of jobs, to which a pod belongs.
    pub job: Option<String>,
    /// Whether it belongs to a node or a DaemonSet, so that nobody waits for it.
    pub is_everywhere: bool,
}

fn map<'m>(map: Option<&'m BTreeMap<String, String>>, key: &str) -> Option<&'m str> {
    map?.get(key).map(String::as_str)
}

impl Item {
    fn new(kind: Kind, metadata: &ObjectMeta, needs: Vec<u64>) -> Self {
        let owners = metadata.owner_references.as_deref().unwrap_or_default();
        // A job belongs to nobody: what it holds counts by itself.
        let mut owners = owners.iter().filter(|owner| owner.controller == Some(true) && kind == Kind::Pod);
        let owner = owners.next().map(|owner| (owner.kind.as_str(), &owner.uid));
        // The jobs of a set are no jobs of ours.
        let set = map(metadata.labels.as_ref(), JOB_SET);
        let annotations = metadata.annotations.as_ref();
        let created = metadata.creation_timestamp.as_ref().map(|time| time.0.as_nanosecond());
        Self {
            kind,
            uid: metadata.uid.clone().unwrap_or_default(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            created: Nanos(created.and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or_default()),
            needs,
            priority: 0,
            is_held: false,
            admitted: map(annotations, ADMITTED).and_then(time),
            admitted_with_group: map(annotations, GROUP_ADMITTED).and_then(time),
            started: None,
            node: None,
            is_over: false,
            ended: None,
            group: None,
            problem: None,
            job: owner
                .filter(|owner| owner.0 == "Job")
                .map(|owner| set.map_or_else(|| owner.1.clone(), str::to_owned)),
            is_everywhere: owner.is_some_and(|owner| matches!(owner.0, "DaemonSet" | "Node")),
        }
    }

    /// Reads a pod.
    pub fn pod(pod: &RawPod, resources: &ResourceNames) -> Self {
        let metadata = &pod.metadata;
        let (spec, problem) = match read::<PodSpec>("spec", Some(&pod.spec)) {
            Ok(spec) => (spec, None),
            Err(problem) => (PodSpec::default(), Some(problem)),
        };
        // What cannot be read of one part says nothing about another.
        let part = |name: &str| pod.status.as_ref().and_then(|status| status.get(name));
        let conditions: Vec<Condition> = read("conditions", part("conditions")).unwrap_or_default();
        let containers: Vec<ContainerStatus> =
            read("containerStatuses", part("containerStatuses")).unwrap_or_default();
        let mut item = Self::new(Kind::Pod, metadata, spec.needs(resources));
        item.problem = problem;
        item.priority = spec.priority.unwrap_or(0);
        let gates = pod.spec["schedulingGates"].as_array();
        item.is_held = gates.is_some_and(|gates| gates.iter().any(|gate| gate["name"] == GATE));
        item.node = pod.spec["nodeName"].as_str().filter(|node| !node.is_empty()).map(str::to_owned);
        item.started = since(&conditions, "PodScheduled").filter(|_| item.node.is_some());
        // A pod that is deleted before it has a node never gets one.
        let is_deleted = item.is_held && metadata.deletion_timestamp.is_some();
        item.is_over =
            is_deleted || matches!(part("phase").and_then(Value::as_str), Some("Succeeded" | "Failed"));
        let ends = containers.iter().filter_map(|one| one.state.terminated.as_ref());
        item.ended = ends.filter_map(|end| time(end.finished_at.as_deref()?)).max().filter(|_| item.is_over);
        let size = map(metadata.annotations.as_ref(), GROUP_SIZE);
        if let Some(group) = map(metadata.labels.as_ref(), GROUP).filter(|group| !group.is_empty()) {
            match size.map(str::parse::<u32>) {
                Some(Ok(size @ 1..)) => item.group = Some((group.to_owned(), size)),
                _ => {
                    let found = size.map_or_else(|| "none".to_owned(), |size| format!("{size:?}"));
                    item.problem.get_or_insert(format!(
                        "expected the annotation {GROUP_SIZE} with the number of pods of group {group:?}, got {found}"
                    ));
                }
            }
        }
        item
    }

    /// The name by which people know it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// A node, as far as it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether pods can be put on it.
    pub is_usable: bool,
    /// Amounts that it has of the resources that count, which are those of its flavor.
    pub amounts: Vec<u64>,
    /// The number of its [flavor](ResourceNames::flavor).
    pub flavor: usize,
}

impl Node {
    /// Reads a node.
    pub fn read(node: &RawNode, resources: &ResourceNames) -> Self {
        // A node that cannot be read has nothing, and is not used.
        let status: NodeStatus = read("status", node.status.as_ref()).unwrap_or_default();
        let flavor = resources.flavor(|key| map(node.metadata.labels.as_ref(), key));
        Self {
            name: node.metadata.name.clone().unwrap_or_default(),
            is_usable: is_true(&status.conditions, "Ready") && node.spec["unschedulable"] != true,
            amounts: resources.has(&status.allocatable, flavor),
            flavor,
        }
    }
}

/// A namespace, as far as it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its tenant, if it has one.
    pub tenant: Option<String>,
    /// The weight of the tenant, if it is given here.
    pub weight: Option<u32>,
    /// The limits of the tenant, if they are given here.
    pub limits: Option<Vec<Option<u64>>>,
    /// What is wrong with it: what is given there is not used.
    pub problem: Option<String>,
}

impl Namespace {
    /// Reads a namespace.
    pub fn read(namespace: &RawNamespace, resources: &ResourceNames) -> Self {
        let metadata = &namespace.metadata;
        let annotations = metadata.annotations.as_ref();
        let tenant = map(metadata.labels.as_ref(), TENANT).filter(|tenant| !tenant.is_empty());
        let mut read = Self {
            name: metadata.name.clone().unwrap_or_default(),
            tenant: tenant.map(str::to_owned),
            weight: None,
            limits: None,
            problem: None,
        };
        if let Some(text) = map(annotations, WEIGHT) {
            let weight = text.trim().parse().ok().filter(|weight| (1..=MOST_WEIGHT).contains(weight));
            read.weight = weight;
            if weight.is_none() {
                read.problem =
                    Some(format!("{WEIGHT}: expected a weight from 1 to {MOST_WEIGHT}, got {text:?}"));
            }
        }
        if let Some(text) = map(annotations, LIMITS) {
            match resources.limits(text) {
                Ok(limits) => read.limits = Some(limits),
                Err(problem) => read.problem = Some(format!("{LIMITS}: {problem}")),
            }
        }
        read
    }
}

#[cfg(test)]
mod tests;
