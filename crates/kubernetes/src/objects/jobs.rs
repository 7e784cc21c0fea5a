//! Jobs and sets of jobs.

use kube::core::ObjectMeta;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trueplane_fair::Nanos;

use super::{Condition, Item, Kind, PodSpec, RawJob, is_true, map, or_default, read, since, time};
use crate::names::JOB;
use crate::resources::ResourceNames;

/// The spec of a job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JobSpec {
    parallelism: Option<u32>,
    completions: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    template: Template<PodSpec>,
}

/// A template of pods or of jobs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Template<T: DeserializeOwned + Default> {
    #[serde(deserialize_with = "or_default")]
    spec: T,
}

/// The spec of a set of jobs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JobSetSpec {
    #[serde(deserialize_with = "or_default")]
    replicated_jobs: Vec<ReplicatedJob>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ReplicatedJob {
    replicas: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    template: Template<JobSpec>,
}

impl JobSpec {
    /// Amounts that all pods of the job need which can run at once.
    fn needs(&self, resources: &ResourceNames) -> Vec<u64> {
        let pods = self.parallelism.unwrap_or(1).min(self.completions.unwrap_or(u32::MAX));
        let needs = self.template.spec.needs(resources);
        needs.iter().map(|amount| amount.saturating_mul(pods.into())).collect()
    }
}

impl Item {
    /// Reads a job; `None` if it is not for us.
    pub fn job(job: &RawJob, resources: &ResourceNames) -> Option<Self> {
        let owners = job.metadata.owner_references.as_deref().unwrap_or_default();
        if !is_ours(&job.metadata) || owners.iter().any(|owner| owner.kind == Kind::JobSet.name()) {
            return None;
        }
        let (spec, problem) = spec::<JobSpec>(job);
        let mut item = Self::new(Kind::Job, &job.metadata, spec.needs(resources));
        item.priority = spec.template.spec.priority.unwrap_or(0);
        item.problem = problem;
        item.run(job, ["Complete", "Failed"]);
        let started = job.status.as_ref().and_then(|status| time(status.get("startTime")?.as_str()?));
        item.started = started.filter(|_| !item.is_held);
        Some(item)
    }

    /// Reads a set of jobs; `None` if it is not for us.
    pub fn job_set(set: &RawJob, resources: &ResourceNames) -> Option<Self> {
        if !is_ours(&set.metadata) {
            return None;
        }
        let (spec, problem) = spec::<JobSetSpec>(set);
        let mut needs = vec![0u64; resources.names().len()];
        for jobs in &spec.replicated_jobs {
            let replicas = u64::from(jobs.replicas.unwrap_or(1));
            for (sum, amount) in needs.iter_mut().zip(jobs.template.spec.needs(resources)) {
                *sum = sum.saturating_add(amount.saturating_mul(replicas));
            }
        }
        let mut item = Self::new(Kind::JobSet, &set.metadata, needs);
        let priorities = spec.replicated_jobs.iter().map(|jobs| &jobs.template.spec.template.spec.priority);
        item.priority = priorities.map(|priority| priority.unwrap_or(0)).max().unwrap_or(0);
        item.problem = problem;
        item.run(set, ["Completed", "Failed"]);
        // It has no time of its start, unless it was suspended before.
        let conditions = set.status.as_ref().and_then(|status| status.get("conditions"));
        let conditions: Vec<Condition> = read("conditions", conditions).unwrap_or_default();
        let resumed = conditions.iter().find(|one| one.r#type == "Suspended" && one.status == "False");
        let resumed = resumed.and_then(|one| time(one.last_transition_time.as_deref()?));
        item.started = resumed.or(Some(item.created)).filter(|_| !item.is_held);
        Some(item)
    }

    /// Reads whether it waits, runs or has ended: with one of these conditions.
    fn run(&mut self, raw: &RawJob, ends: [&str; 2]) {
        let conditions = raw.status.as_ref().and_then(|status| status.get("conditions"));
        let conditions: Vec<Condition> = read("conditions", conditions).unwrap_or_default();
        self.is_held = raw.spec["suspend"] == true;
        let has_ended = ends.iter().any(|end| is_true(&conditions, end));
        self.is_over = has_ended || self.is_held && raw.metadata.deletion_timestamp.is_some();
        self.ended = ends.iter().find_map(|end| -> Option<Nanos> { since(&conditions, end) });
    }
}

fn is_ours(metadata: &ObjectMeta) -> bool {
    map(metadata.labels.as_ref(), JOB) == Some("true")
}

/// The spec of an object; an empty one if it cannot be read, and why.
fn spec<T: DeserializeOwned + Default>(raw: &RawJob) -> (T, Option<String>) {
    match read::<T>("spec", Some(&raw.spec).filter(|spec| **spec != Value::Null)) {
        Ok(spec) => (spec, None),
        Err(problem) => (T::default(), Some(problem)),
    }
}
