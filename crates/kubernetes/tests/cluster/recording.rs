//! A file of what happened to the controller's admission: a line of JSON for each step.

use std::collections::HashSet;
use std::env;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use trueplane_fair::Nanos;
use trueplane_kubernetes::admission::{Record, Step, Workload};

/// Name of the variable with the name of the file.
pub(crate) const FILE: &str = "TRUEPLANE_RECORD";

/// Somebody who writes the file, if there is to be one, until nobody tells any more.
pub(crate) fn writer() -> Option<Record> {
    let mut file = BufWriter::new(File::create(env::var(FILE).ok()?).unwrap());
    let (record, told) = channel();
    std::thread::spawn(move || {
        for (at, step) in told {
            writeln!(file, "{}", line(at, &step)).unwrap();
            // The process may end at any time.
            if matches!(step, Step::Next(None)) {
                file.flush().unwrap();
            }
        }
    });
    Some(record)
}

fn line(at: Nanos, step: &Step) -> Value {
    let workload = |id: u64, kind: &str, one: &Workload| {
        json!({ "at": at.0, kind: id, "tenant": one.tenant, "needs": one.needs, "priority": one.priority,
            "created": one.created.0, "name": one.name })
    };
    match step {
        Step::Capacity(amounts) => json!({ "at": at.0, "capacity": amounts }),
        Step::Tenant(name, weight) => json!({ "at": at.0, "join": name, "weight": weight }),
        Step::Submitted(id, one) => workload(*id, "submitted", one),
        Step::Adopted(id, one) => workload(*id, "adopted", one),
        Step::Removed(id) => json!({ "at": at.0, "removed": id }),
        Step::Next(id) => json!({ "at": at.0, "next": id }),
    }
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Vec<(Nanos, Step)> {
    let lines = BufReader::new(File::open(path).unwrap()).lines();
    lines.map(|line| step(&serde_json::from_str(&line.unwrap()).unwrap())).collect()
}

fn step(line: &Value) -> (Nanos, Step) {
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    let amounts = |key: &str| line[key].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    let workload = || Workload {
        tenant: text("tenant"),
        needs: amounts("needs"),
        priority: i32::try_from(line["priority"].as_i64().unwrap()).unwrap(),
        created: Nanos(line["created"].as_u64().unwrap()),
        name: text("name"),
    };
    let step = if let Some(id) = line["submitted"].as_u64() {
        Step::Submitted(id, workload())
    } else if let Some(id) = line["adopted"].as_u64() {
        Step::Adopted(id, workload())
    } else if let Some(id) = line["removed"].as_u64() {
        Step::Removed(id)
    } else if line["capacity"].is_array() {
        Step::Capacity(amounts("capacity"))
    } else if line["join"].is_string() {
        Step::Tenant(text("join"), u32::try_from(line["weight"].as_u64().unwrap()).unwrap())
    } else {
        Step::Next(line["next"].as_u64())
    };
    (Nanos(line["at"].as_u64().unwrap()), step)
}

/// The steps until the controller led anew, which begins with what was saved and numbers everything anew.
pub(crate) fn first_term(steps: &[(Nanos, Step)]) -> &[(Nanos, Step)] {
    let mut known = HashSet::new();
    let again = steps.iter().position(|(_, step)| match step {
        Step::Submitted(id, _) | Step::Adopted(id, _) => !known.insert(*id),
        _ => false,
    });
    &steps[..again.unwrap_or(steps.len())]
}
