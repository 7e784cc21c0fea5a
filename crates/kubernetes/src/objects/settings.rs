//! Tenants and cohorts: what is set for them by objects of our own kinds, and what the controller writes into these.

use kube::core::ObjectMeta;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trueplane_fair::Nanos;
use trueplane_fair::cluster::MOST_WEIGHT;
use trueplane_fair::span::Span;
use trueplane_units::Value as _;

use super::RawSettings;
use crate::admission::{CohortSettings, Quota};
use crate::resources::ResourceNames;

/// The condition `Ready` of an object: whether the controller uses what is set there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Whether it does.
    pub is_ready: bool,
    /// A word for machines, such as `Invalid`.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// The generation of the object of which it is said.
    pub generation: i64,
}

/// What is set for a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSpec {
    /// Its weight.
    pub weight: u32,
    /// Its cohort and its quotas.
    pub quotas: CohortSettings,
    /// Time that its first workload has to wait for other tenants at most.
    pub longest_wait: Option<Nanos>,
    /// Whether nothing of it is to be admitted.
    pub is_on_hold: bool,
}

/// An object that sets something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings<T> {
    /// Its name, which is that of the tenant or cohort.
    pub name: String,
    /// The number of changes of what is set.
    pub generation: i64,
    /// What is set, or what is wrong with it.
    pub spec: Result<T, String>,
    /// What a controller has written of it.
    pub ready: Option<Ready>,
    /// When that began to be so, as it is written.
    pub ready_since: Option<String>,
}

/// A tenant.
pub type TenantObject = Settings<TenantSpec>;
/// A cohort.
pub type CohortObject = Settings<CohortSettings>;

/// An amount, which people write as a number or as a text.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

/// A quota as it is written. What is not known here would be a limit that is not kept, and so is refused.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawQuota {
    resource: String,
    flavor: Option<String>,
    #[serde(default, deserialize_with = "amount")]
    nominal: Option<String>,
    #[serde(default, deserialize_with = "amount")]
    borrowing_limit: Option<String>,
    #[serde(default, deserialize_with = "amount")]
    lending_limit: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawTenant {
    weight: Option<Value>,
    cohort: Option<String>,
    #[serde(default)]
    quotas: Vec<RawQuota>,
    longest_wait: Option<String>,
    #[serde(default)]
    hold: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawCohort {
    parent: Option<String>,
    #[serde(default)]
    quotas: Vec<RawQuota>,
}

/// A condition of an object, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawCondition {
    r#type: String,
    status: String,
    reason: String,
    message: String,
    observed_generation: i64,
    last_transition_time: Option<String>,
}

fn quotas(raw: &[RawQuota], resources: &ResourceNames) -> Result<Vec<Option<Quota>>, String> {
    let mut quotas = vec![None; resources.names().len()];
    for quota in raw {
        let place = resources.place(quota.flavor.as_deref(), &quota.resource).ok_or_else(|| {
            let flavor = quota.flavor.as_ref().map_or_else(String::new, |flavor| format!("{flavor}:"));
            let known = resources.names().join(", ");
            format!(
                "quotas: expected one of the resources that count, {known}, got {flavor}{}",
                quota.resource
            )
        })?;
        let read = |name: &str, text: &Option<String>| {
            let parse = |text: &String| {
                resources
                    .amount(place, text)
                    .ok_or_else(|| format!("quotas: expected an amount such as 64Gi as {name}, got {text:?}"))
            };
            text.as_ref().map(parse).transpose()
        };
        let read = Quota {
            nominal: read("nominal", &quota.nominal)?.unwrap_or(0),
            borrowing_limit: read("borrowingLimit", &quota.borrowing_limit)?,
            lending_limit: read("lendingLimit", &quota.lending_limit)?,
        };
        if quotas[place].replace(read).is_some() {
            let name = &resources.names()[place];
            return Err(format!("quotas: expected one for each resource, got two for {name}"));
        }
    }
    Ok(quotas)
}

fn named(field: &str, name: Option<String>) -> Result<Option<String>, String> {
    match name {
        Some(name) if name.is_empty() => Err(format!("{field}: expected a name, got an empty one")),
        name => Ok(name),
    }
}

fn tenant(spec: &Value, resources: &ResourceNames) -> Result<TenantSpec, String> {
    let raw = RawTenant::deserialize(spec).map_err(|error| error.to_string())?;
    let weight = raw.weight.map_or(Ok(1), |weight| {
        let found = weight.as_u64().and_then(|weight| u32::try_from(weight).ok());
        let found = found.filter(|weight| (1..=MOST_WEIGHT).contains(weight));
        found.ok_or_else(|| format!("weight: expected 1 to {MOST_WEIGHT}, got {weight}"))
    });
    let weight = weight?;
    let longest_wait = raw.longest_wait.map(|text| {
        let wait = Span::parse(&text).map_err(|problem| format!("longestWait: {problem}"))?;
        Ok::<_, String>(wait.get())
    });
    Ok(TenantSpec {
        weight,
        quotas: CohortSettings {
            parent: named("cohort", raw.cohort)?,
            quotas: quotas(&raw.quotas, resources)?,
            is_unusable: false,
        },
        longest_wait: longest_wait.transpose()?,
        is_on_hold: raw.hold,
    })
}

fn cohort(spec: &Value, resources: &ResourceNames) -> Result<CohortSettings, String> {
    let raw = RawCohort::deserialize(spec).map_err(|error| error.to_string())?;
    Ok(CohortSettings {
        parent: named("parent", raw.parent)?,
        quotas: quotas(&raw.quotas, resources)?,
        is_unusable: false,
    })
}

impl<T> Settings<T> {
    fn new(raw: &RawSettings, spec: Result<T, String>) -> Self {
        let ObjectMeta { name, generation, .. } = &raw.metadata;
        let conditions = raw.status.as_ref().and_then(|status| status.get("conditions"));
        let conditions: Vec<RawCondition> = super::read("conditions", conditions).unwrap_or_default();
        let ready = conditions.into_iter().find(|one| one.r#type == "Ready");
        Self {
            name: name.clone().unwrap_or_default(),
            generation: generation.unwrap_or_default(),
            spec,
            ready_since: ready.as_ref().and_then(|one| one.last_transition_time.clone()),
            ready: ready.map(|one| Ready {
                is_ready: one.status == "True",
                reason: one.reason,
                message: one.message,
                generation: one.observed_generation,
            }),
        }
    }
}

impl TenantObject {
    /// Reads a tenant.
    pub fn read(raw: &RawSettings, resources: &ResourceNames) -> Self {
        Self::new(raw, tenant(&raw.spec, resources))
    }
}

impl CohortObject {
    /// Reads a cohort.
    pub fn read(raw: &RawSettings, resources: &ResourceNames) -> Self {
        Self::new(raw, cohort(&raw.spec, resources))
    }
}
