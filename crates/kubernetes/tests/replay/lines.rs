//! A line of JSON for each step of a recording.

use serde_json::{Value, json};
use trueplane_fair::Nanos;
use trueplane_kubernetes::admission::{Saved, Step, Workload};

/// The line of a step.
pub(crate) fn line(at: Nanos, step: &Step) -> Value {
    let workload = |id: u64, kind: &str, one: &Workload| {
        json!({ "at": at.0, kind: id, "tenant": one.tenant, "needs": one.needs, "priority": one.priority,
            "created": one.created.0, "name": one.name })
    };
    match step {
        Step::Began(saved) => {
            json!({ "at": at.0, "began": saved.tenants, "got": saved.got, "scheduler": saved.scheduler })
        }
        Step::Capacity(amounts) => json!({ "at": at.0, "capacity": amounts }),
        Step::Tenant(name, weight) => json!({ "at": at.0, "join": name, "weight": weight }),
        Step::TenantGone(name) => json!({ "at": at.0, "left": name }),
        Step::Submitted(id, one) => workload(*id, "submitted", one),
        Step::Adopted(id, one) => workload(*id, "adopted", one),
        Step::Removed(id) => json!({ "at": at.0, "removed": id }),
        Step::Next(id) => json!({ "at": at.0, "next": id }),
    }
}

/// The step of a line.
pub(crate) fn step(line: &Value) -> (Nanos, Step) {
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    let amounts = |key: &str| line[key].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    let workload = || Workload {
        tenant: text("tenant"),
        needs: amounts("needs"),
        priority: i32::try_from(line["priority"].as_i64().unwrap()).unwrap(),
        created: Nanos(line["created"].as_u64().unwrap()),
        name: text("name"),
    };
    let step = if line["began"].is_object() {
        Step::Began(Saved {
            tenants: serde_json::from_value(line["began"].clone()).unwrap(),
            got: serde_json::from_value(line["got"].clone()).unwrap(),
            scheduler: serde_json::from_value(line["scheduler"].clone()).unwrap(),
        })
    } else if let Some(id) = line["submitted"].as_u64() {
        Step::Submitted(id, workload())
    } else if let Some(id) = line["adopted"].as_u64() {
        Step::Adopted(id, workload())
    } else if let Some(id) = line["removed"].as_u64() {
        Step::Removed(id)
    } else if line["capacity"].is_array() {
        Step::Capacity(amounts("capacity"))
    } else if line["join"].is_string() {
        Step::Tenant(text("join"), u32::try_from(line["weight"].as_u64().unwrap()).unwrap())
    } else if line["left"].is_string() {
        Step::TenantGone(text("left"))
    } else {
        Step::Next(line["next"].as_u64())
    };
    (Nanos(line["at"].as_u64().unwrap()), step)
}
