//! What somebody saw who watched: when jobs were opened, and when they ended.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use kube::api::DynamicObject;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use tokio::task::JoinHandle;
use trueplane_fair::Nanos;
use trueplane_kubernetes::connection::time_since_1970;
use trueplane_kubernetes::names::{ADMITTED, GATE};

use super::load::{Form, LABEL};

/// A job as it was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// When it was first seen open, and the version of the write that opened it.
    pub(crate) opened: Option<(Nanos, u64)>,
    /// When it was first seen to have ended, and the version of the write that ended it.
    pub(crate) ended: Option<(Nanos, u64)>,
    /// When it was admitted, as the controller wrote it.
    pub(crate) admitted: Option<Nanos>,
    /// What must not be: it was closed again, or admitted at another time.
    pub(crate) wrong: Option<&'static str>,
}

/// Somebody who watches.
pub(crate) struct Watcher {
    seen: Arc<Mutex<HashMap<String, Seen>>>,
    task: JoinHandle<()>,
}

fn is_open(object: &DynamicObject, form: Form) -> bool {
    let spec = &object.data["spec"];
    if form != Form::Pods {
        return spec["suspend"] != true;
    }
    !spec["schedulingGates"].as_array().is_some_and(|gates| gates.iter().any(|gate| gate["name"] == GATE))
}

fn is_over(object: &DynamicObject, form: Form) -> bool {
    let status = &object.data["status"];
    if form == Form::Pods {
        return matches!(status["phase"].as_str(), Some("Succeeded" | "Failed"));
    }
    let is_end = |one: &serde_json::Value| {
        one["status"] == "True" && matches!(one["type"].as_str(), Some("Complete" | "Completed" | "Failed"))
    };
    status["conditions"].as_array().is_some_and(|all| all.iter().any(is_end))
}

/// A time as Kubernetes writes it.
fn time(text: &str) -> Option<Nanos> {
    let time: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(time.as_nanosecond()).ok().map(Nanos)
}

impl Seen {
    fn note(&mut self, object: &DynamicObject, form: Form, now: Nanos) {
        let annotation = object.metadata.annotations.as_ref().and_then(|all| all.get(ADMITTED));
        let admitted = annotation.and_then(|text| time(text));
        let version = object.metadata.resource_version.as_ref().unwrap().parse().unwrap();
        if is_open(object, form) {
            self.opened.get_or_insert((now, version));
        } else if self.opened.is_some() {
            self.wrong = Some("it was closed again");
        }
        if is_over(object, form) {
            self.ended.get_or_insert((now, version));
        } else if self.ended.is_some() {
            self.wrong = Some("it ran again");
        }
        if self.admitted.is_some() && admitted != self.admitted {
            self.wrong = Some("it was admitted twice");
        }
        self.admitted = admitted;
    }
}

impl Watcher {
    /// Watches all jobs of the test from now on.
    pub(crate) fn start(client: Client, form: Form) -> Self {
        let seen: Arc<Mutex<HashMap<String, Seen>>> = Arc::default();
        let noted = seen.clone();
        let task = tokio::spawn(async move {
            let api: Api<DynamicObject> = Api::all_with(client, &form.resource());
            let config = watcher::Config::default().labels(LABEL);
            let mut events = pin!(watcher(api, config).default_backoff());
            while let Some(event) = events.next().await {
                if let Ok(Event::InitApply(object) | Event::Apply(object)) = event {
                    let now = time_since_1970();
                    let name = object.metadata.name.clone().unwrap();
                    let mut noted = noted.lock().unwrap();
                    noted.entry(name).or_default().note(&object, form, now);
                }
            }
        });
        Self { seen, task }
    }

    /// Number of jobs that came, were opened and have ended.
    pub(crate) fn count(&self) -> [usize; 3] {
        let seen = self.seen.lock().unwrap();
        let count = |is_so: fn(&Seen) -> bool| seen.values().filter(|&one| is_so(one)).count();
        [seen.len(), count(|one| one.opened.is_some()), count(|one| one.ended.is_some())]
    }

    /// Ends the watch, and returns what was seen of each job by its name.
    pub(crate) fn stop(self) -> HashMap<String, Seen> {
        self.task.abort();
        self.seen.lock().unwrap().clone()
    }
}
