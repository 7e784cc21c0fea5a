//! Pods of Kubernetes and workloads of Kueue, as `kubectl get … -A -o json` prints them.
//!
//! A pod or a workload is a task of its namespace or local queue. It is submitted when it is created, and starts when it is scheduled (a pod) or
//! admitted (a workload). A file may have several lists one after the other, taken at different times: of an object that is in several of them,
//! the last counts.
//!
//! 1. `quantity`: amounts such as `500m` and `2Gi`.
//! 2. `needs`: what a pod needs of its node.
//! 3. `object`: what is read of an object.
//! 4. `snapshots`: objects by their uid, in the order in which they are first seen.
//! 5. Here: what the log makes of them.

mod needs;
mod object;
mod quantity;
mod snapshots;

use trueplane_study::Error;
use trueplane_trace::{LogText, TraceError};
use trueplane_units::Nanos;

use super::builder::{Builder, MOST_AMOUNT, whole};
use super::{JobLog, LogFormat, LogOptions, Partial, Task};
use crate::workload::reading::{NEED_NOTHING, NEVER_RAN, Progress};
pub use needs::{Amounts, Container, Resources, pod_needs};
use object::{Kind, Object, Times};
pub use quantity::Quantity;
use snapshots::{Seen, Snapshots, Until};

const BACKWARDS: &str = "tasks whose times run backwards";
const EVERYWHERE: &str = "pods that belong to a node or a DaemonSet";
const OTHER_KINDS: &str = "objects of another kind";
const UNKNOWN_END: &str = "tasks that have ended, nobody knows when";
const NO_QUEUE: &str = "workloads without a queue";

/// Resources that are read by default, if anybody needs them.
const USUAL: [&str; 3] = ["cpu", "memory", "gpu"];

/// Billionths of a byte in a billionth of a GiB.
const GIB: u128 = 1 << 30;

/// Where the name of an object's user stands.
#[derive(Clone, Debug)]
enum Owner {
    Namespace,
    ServiceAccount,
    Queue,
    ClusterQueue,
    Label(String),
}

impl Owner {
    fn of(kind: Kind, name: Option<&str>) -> Result<Self, String> {
        let found = match (kind, name) {
            (Kind::Pod, None) | (_, Some("namespace")) => Some(Self::Namespace),
            (Kind::Workload, None | Some("queue")) => Some(Self::Queue),
            (Kind::Workload, Some("clusterqueue")) => Some(Self::ClusterQueue),
            (Kind::Pod, Some("serviceaccount")) => Some(Self::ServiceAccount),
            (_, Some(name)) => name
                .strip_prefix("label:")
                .filter(|key| !key.is_empty())
                .map(|key| Self::Label(key.to_owned())),
        };
        found.ok_or_else(|| {
            let known = match kind {
                Kind::Pod => "namespace, serviceaccount",
                Kind::Workload => "queue, clusterqueue, namespace",
            };
            let found = name.unwrap_or_default().escape_debug();
            format!("expected --user to be one of {known} or label:KEY, got \"{found}\"")
        })
    }

    /// The name of the user, if the object has one.
    fn name(&self, object: &Object) -> Option<String> {
        let metadata = &object.metadata;
        match self {
            Self::Namespace => Some(metadata.namespace.clone()),
            // Kubernetes puts this one in where nobody names another.
            Self::ServiceAccount => {
                let account = object.spec.service_account_name.as_deref().unwrap_or("default");
                Some(format!("{}/{account}", metadata.namespace))
            }
            Self::Queue => {
                object.spec.queue_name.as_ref().map(|queue| format!("{}/{queue}", metadata.namespace))
            }
            Self::ClusterQueue => object.status.admission.as_ref()?.cluster_queue.clone(),
            Self::Label(key) => metadata.labels.as_ref()?.get(key).cloned(),
        }
        .filter(|name| !name.is_empty())
    }
}

/// Reads the lists of `text`. With a `format`, objects of other kinds are left out.
///
/// # Errors
///
/// The text is not what it should be, or the observer interrupts.
pub(super) fn read(
    name: String,
    mut text: LogText,
    options: &LogOptions,
    progress: &mut Progress<'_>,
) -> Result<JobLog, Error> {
    let snapshots = Snapshots::read(&mut text, progress)?;
    let wanted = match options.format {
        Some(LogFormat::Kueue) => Some(Kind::Workload),
        Some(_) => Some(Kind::Pod),
        None => snapshots.objects.iter().find_map(|seen| Kind::of(&seen.object.kind)),
    };
    let Some(kind) = wanted else {
        let problem = "expected a list of pods or of workloads of Kueue, found none of either".to_owned();
        return Err(whole(name, problem).into());
    };
    let owner = Owner::of(kind, options.user.as_deref()).map_err(|problem| whole(name.clone(), problem))?;
    let resources: Vec<String> =
        options.resources.clone().unwrap_or_else(|| USUAL.map(str::to_owned).to_vec());
    let mut builder = Builder::new(name.clone(), resources.clone());
    for (row, seen) in (1..).zip(&snapshots.objects) {
        if Kind::of(&seen.object.kind) != Some(kind) {
            builder.leave_out(OTHER_KINDS);
            continue;
        }
        let refuse = |problem: String| -> TraceError {
            let object = &seen.object.metadata;
            let problem = format!("{}/{}: {problem}", object.namespace, object.name);
            text.error(seen.line, problem)
        };
        let Some(amounts) = needed(&resources, &seen.object.needs(kind)) else {
            return Err(refuse("expected amounts up to 10^18 in all".to_owned()).into());
        };
        match seen.object.times(kind) {
            Err(problem) => return Err(refuse(problem).into()),
            Ok(times) => {
                add(&mut builder, seen, snapshots.latest, times, &owner, &amounts, row).map_err(refuse)?;
            }
        }
    }
    if options.resources.is_none() {
        builder.drop_unused();
    }
    let log = builder.finish(Nanos(0))?;
    match (0..log.resources.len()).find(|&place| log.demands.iter().all(|demand| demand[place] == 0)) {
        Some(place) => {
            let found = log.resources[place].escape_debug();
            Err(whole(name, format!("expected resources that somebody needs, and nobody needs {found}"))
                .into())
        }
        None => Ok(log),
    }
}

/// Adds the task of an object, or counts why it is none.
fn add(
    builder: &mut Builder,
    seen: &Seen,
    latest: Nanos,
    times: Times,
    owner: &Owner,
    amounts: &[u128],
    row: u64,
) -> Result<(), String> {
    let object = &seen.object;
    if object.is_everywhere() {
        builder.leave_out(EVERYWHERE);
        return Ok(());
    }
    let Some(user) = owner.name(object) else {
        match owner {
            Owner::Queue => builder.leave_out(NO_QUEUE),
            Owner::ClusterQueue => builder.leave_out(NEVER_RAN),
            Owner::Label(key) => {
                builder.leave_out(&format!("tasks without the label {}", key.escape_debug()));
            }
            Owner::Namespace | Owner::ServiceAccount => {
                return Err("expected a namespace, found none".to_owned());
            }
        }
        return Ok(());
    };
    let Some(start) = times.start else {
        builder.leave_out(NEVER_RAN);
        return Ok(());
    };
    if object.is_over() && times.end.is_none() {
        builder.leave_out(UNKNOWN_END);
        return Ok(());
    }
    // What is still there runs at least until its list was made.
    let until = match seen.until {
        Until::List(time) => time,
        Until::End => latest,
    };
    let end = times.end.unwrap_or(until.max(start));
    if start < times.submitted || end < start {
        builder.leave_out(BACKWARDS);
        return Ok(());
    }
    let Some(demand) = builder.demand(amounts) else {
        builder.leave_out(NEED_NOTHING);
        return Ok(());
    };
    let user = builder.user(&user);
    let task = Task { submitted: times.submitted, duration: end.since(start), user, demand };
    let index = builder
        .push_started(task, start, row)
        .ok_or_else(|| "expected fewer than 2^32 tasks, found more".to_owned())?;
    if times.end.is_none() {
        builder.censor(index);
        builder.cut(Partial::End);
    }
    Ok(())
}

/// The amounts of `resources` in billionths of the log's units, GiB for memory and storage; none if they are too large.
fn needed(resources: &[String], amounts: &Amounts) -> Option<Vec<u128>> {
    let amount = |resource: &String| {
        let is_bytes =
            |name: &str| name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
        let is_named = |name: &str| {
            // NVIDIA's, AMD's and Intel's have the names of their companies before the slash.
            name == resource || (resource == "gpu" && name.ends_with("/gpu"))
        };
        let named = amounts.iter().filter(|(name, _)| is_named(name));
        let sum = named.map(|(_, amount)| amount.0).try_fold(0u128, u128::checked_add)?;
        let sum = if is_bytes(resource) { sum.div_ceil(GIB) } else { sum };
        (sum <= MOST_AMOUNT).then_some(sum)
    };
    resources.iter().map(amount).collect()
}
