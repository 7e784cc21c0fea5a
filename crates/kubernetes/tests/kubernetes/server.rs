//! An API server without Kubernetes: it keeps objects, lists and watches them, takes patches, and fails as it is told.
//!
//! It checks what must never happen: that a pod is opened twice, and that more is open than the nodes have.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt as _;
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower_service::Service;
use trueplane_kubernetes::names::{ADMITTED, GATE};

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// The place of an object: its kind in the plural, its namespace and its name.
pub(crate) type Place = (String, String, String);

/// What fails, and how.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Nothing is answered: connections fail.
    pub(crate) is_away: bool,
    /// Codes with which the next patches fail, before they are written; 0 writes the patch and loses the answer.
    pub(crate) patches: VecDeque<u16>,
}

#[derive(Debug, Default)]
struct Store {
    version: u64,
    objects: BTreeMap<Place, Value>,
    /// Version, kind in the plural, type of the event and object.
    history: Vec<(u64, String, &'static str, Value)>,
    faults: Faults,
    /// Names of pods and jobs in the order in which they were opened.
    opened: Vec<String>,
    events: Vec<Value>,
    /// What must not happen, and did.
    broken: Vec<String>,
    next_uid: u64,
    watches: u64,
    /// The versions of our own kinds that are known.
    versions: Vec<&'static str>,
    /// Whether sets of jobs are known.
    has_job_sets: bool,
}

/// A handle on the server; all of its copies are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    store: Arc<Mutex<Store>>,
    /// Changes with every version, and with every cut of watches.
    news: Arc<watch::Sender<u64>>,
}

fn milli(cpu: &Value) -> u64 {
    let text = cpu.as_str().unwrap_or("0");
    text.strip_suffix('m')
        .map_or_else(|| text.parse().unwrap_or(0) * 1000, |milli| milli.parse().unwrap_or(0))
}

/// What a pod asks for, in thousandths of a core.
fn needs(pod: &Value) -> u64 {
    let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
    containers.iter().map(|one| milli(&one["resources"]["requests"]["cpu"])).sum()
}

fn has_gate(pod: &Value) -> bool {
    let gates = pod["spec"]["schedulingGates"].as_array();
    gates.is_some_and(|gates| gates.iter().any(|gate| gate["name"] == GATE))
}

fn is_over(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
}

impl Server {
    pub(crate) fn new() -> Self {
        Self { store: Arc::default(), news: Arc::new(watch::Sender::new(0)) }
    }

    /// A client of this server.
    pub(crate) fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    fn with<T>(&self, act: impl FnOnce(&mut Store) -> T) -> T {
        act(&mut self.store.lock().unwrap())
    }

    /// Writes an object, which may be new.
    pub(crate) fn put(&self, plural: &str, mut object: Value) {
        let version = self.with(|store| {
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or("").to_owned();
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            if object["metadata"]["uid"].is_null() {
                store.next_uid += 1;
                object["metadata"]["uid"] = json!(format!("uid-{}", store.next_uid));
            }
            store.write((plural.to_owned(), namespace, name), object)
        });
        self.news.send_replace(version);
    }

    /// Deletes an object.
    pub(crate) fn delete(&self, plural: &str, namespace: &str, name: &str) {
        let version = self.with(|store| {
            store.version += 1;
            let place = (plural.to_owned(), namespace.to_owned(), name.to_owned());
            if let Some(mut object) = store.objects.remove(&place) {
                object["metadata"]["resourceVersion"] = json!(store.version.to_string());
                store.history.push((store.version, plural.to_owned(), "DELETED", object));
            }
            store.version
        });
        self.news.send_replace(version);
    }

    pub(crate) fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.with(|store| {
            store.objects.get(&(plural.to_owned(), namespace.to_owned(), name.to_owned())).cloned()
        })
    }

    pub(crate) fn faults(&self, change: impl FnOnce(&mut Faults)) {
        self.with(|store| change(&mut store.faults));
    }

    /// Our own kinds are known in these versions.
    pub(crate) fn install(&self, versions: &[&'static str]) {
        self.with(|store| store.versions = versions.to_vec());
        self.cut_watches(true);
    }

    /// Sets of jobs are known.
    pub(crate) fn install_job_sets(&self) {
        self.with(|store| store.has_job_sets = true);
        self.cut_watches(true);
    }

    /// Ends all watches; those who watch have to begin again. The history before is forgotten if `forget`.
    pub(crate) fn cut_watches(&self, forget: bool) {
        self.with(|store| {
            store.watches += 1;
            if forget {
                store.history.clear();
            }
        });
        self.news.send_modify(|_| {});
    }

    /// What was opened, in its order.
    pub(crate) fn opened(&self) -> Vec<String> {
        self.with(|store| store.opened.clone())
    }

    /// The texts of all events.
    pub(crate) fn told(&self) -> Vec<String> {
        let note = |event: &Value| event["note"].as_str().unwrap_or("").to_owned();
        self.with(|store| store.events.iter().map(note).collect())
    }

    /// Fails if something happened that must not.
    pub(crate) fn check(&self) {
        self.with(|store| assert!(store.broken.is_empty(), "{:?}", store.broken));
    }

    /// Lets a pod end well.
    pub(crate) fn end(&self, namespace: &str, name: &str, at: &str) {
        let mut pod = self.get("pods", namespace, name).unwrap();
        pod["status"] = json!({
            "phase": "Succeeded",
            "containerStatuses": [{ "state": { "terminated": { "finishedAt": at } } }],
        });
        self.put("pods", pod);
    }
}

impl Store {
    fn write(&mut self, place: Place, mut object: Value) -> u64 {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let kind = if self.objects.contains_key(&place) { "MODIFIED" } else { "ADDED" };
        self.history.push((self.version, place.0.clone(), kind, object.clone()));
        self.objects.insert(place, object);
        self.check_capacity();
        self.version
    }

    fn check_capacity(&mut self) {
        let of = |plural: &'static str| {
            self.objects.iter().filter(move |(place, _)| place.0 == plural).map(|(_, one)| one)
        };
        let has: u64 = of("nodes").map(|node| milli(&node["status"]["allocatable"]["cpu"])).sum();
        let held: u64 = of("pods").filter(|pod| !has_gate(pod) && !is_over(pod)).map(needs).sum();
        if held > has {
            self.broken.push(format!("{held} of {has} are held"));
        }
    }

    fn patch(&mut self, place: &Place, patch: &Value) -> Result<Value, StatusCode> {
        let Some(found) = self.objects.get(place) else { return Err(StatusCode::NOT_FOUND) };
        let mut object = found.clone();
        if matches!(place.0.as_str(), "tenants" | "cohorts") {
            object["status"] = patch["status"].clone();
            self.write(place.clone(), object.clone());
            return Ok(object);
        }
        if patch["metadata"]["uid"] != object["metadata"]["uid"] {
            return Err(StatusCode::CONFLICT);
        }
        for (key, value) in patch["metadata"]["annotations"].as_object().into_iter().flatten() {
            object["metadata"]["annotations"][key] = value.clone();
        }
        let name = format!("{}/{}", place.1, place.2);
        if place.0 == "pods" {
            assert_eq!(patch["spec"]["schedulingGates"], json!([{ "$patch": "delete", "name": GATE }]));
            if !has_gate(&object) {
                self.broken.push(format!("{name} is opened twice"));
            }
            if let Some(gates) = object["spec"]["schedulingGates"].as_array_mut() {
                gates.retain(|gate| gate["name"] != GATE);
            }
        } else {
            object["spec"]["suspend"] = patch["spec"]["suspend"].clone();
        }
        assert!(object["metadata"]["annotations"][ADMITTED].is_string());
        self.opened.push(name);
        self.write(place.clone(), object.clone());
        Ok(object)
    }
}

/// Our own kinds in a version.
fn kinds(version: &str) -> Answer {
    let kind = |plural: &str, kind: &str| json!({ "name": plural, "singularName": "", "namespaced": false, "kind": kind, "verbs": ["list"] });
    let resources = [kind("tenants", "Tenant"), kind("cohorts", "Cohort")];
    let group = format!("trueplane.dev/{version}");
    answer(
        StatusCode::OK,
        &json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": resources }),
    )
}

fn body(value: &Value) -> UnsyncBoxBody<Bytes, Infallible> {
    http_body_util::Full::new(Bytes::from(value.to_string())).boxed_unsync()
}

fn answer(code: StatusCode, value: &Value) -> Answer {
    Response::builder().status(code).header("content-type", "application/json").body(body(value)).unwrap()
}

fn failure(code: StatusCode) -> Answer {
    let reason = match code {
        StatusCode::NOT_FOUND => "NotFound",
        StatusCode::CONFLICT => "Conflict",
        StatusCode::TOO_MANY_REQUESTS => "TooManyRequests",
        _ => "InternalError",
    };
    let retry =
        if code == StatusCode::TOO_MANY_REQUESTS { json!({ "retryAfterSeconds": 1 }) } else { json!({}) };
    answer(
        code,
        &json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(),
        "message": "as it was told", "reason": reason, "details": retry }),
    )
}

/// Plural, namespace and name of a path; an empty name is all of them.
fn place(path: &str) -> Place {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let rest = if parts[0] == "api" { &parts[2..] } else { &parts[3..] };
    let part = |place: usize| rest.get(place).copied().unwrap_or("").to_owned();
    match rest {
        ["namespaces", _, _, ..] => (part(2), part(1), part(3)),
        _ => (part(0), String::new(), part(1)),
    }
}

fn query<'q>(query: &'q str, key: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

impl Server {
    async fn respond(self, request: Request<Body>) -> Result<Answer, std::io::Error> {
        let (head, body) = request.into_parts();
        let bytes = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
        if self.with(|store| store.faults.is_away) {
            return Err(std::io::Error::other("the server is away"));
        }
        if head.uri.path() == "/apis" {
            return Ok(self.groups());
        }
        if let Some(version) =
            head.uri.path().strip_prefix("/apis/trueplane.dev/").filter(|rest| !rest.contains('/'))
        {
            return Ok(kinds(version));
        }
        let place = place(head.uri.path());
        if head.uri.path().starts_with("/apis/jobset.x-k8s.io/") && !self.with(|store| store.has_job_sets) {
            return Ok(failure(StatusCode::NOT_FOUND));
        }
        if head.uri.path().starts_with("/apis/trueplane.dev/") {
            let is_known = self.with(|store| {
                store.versions.iter().any(|version| head.uri.path().split('/').nth(3) == Some(version))
            });
            if !is_known {
                return Ok(failure(StatusCode::NOT_FOUND));
            }
        }
        let text = head.uri.query().unwrap_or("");
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(match head.method {
            Method::GET if query(text, "watch") == Some("true") => self.follow(&place.0, text),
            Method::GET if place.2.is_empty() => self.list(&place.0),
            Method::GET => {
                let found = self.with(|store| store.objects.get(&place).cloned());
                found.map_or_else(|| failure(StatusCode::NOT_FOUND), |one| answer(StatusCode::OK, &one))
            }
            Method::PATCH if place.0 == "events" => answer(StatusCode::OK, &value),
            Method::PATCH => self.patch(&place, &value)?,
            Method::POST if place.0 == "events" => {
                self.with(|store| store.events.push(value.clone()));
                answer(StatusCode::CREATED, &value)
            }
            Method::POST | Method::PUT => self.store(place, head.method == Method::POST, value),
            _ => failure(StatusCode::METHOD_NOT_ALLOWED),
        })
    }

    /// The groups of the API: ours, if it is known.
    fn groups(&self) -> Answer {
        let version = |version: &&str| json!({ "groupVersion": format!("trueplane.dev/{version}"), "version": version });
        let versions: Vec<Value> = self.with(|store| store.versions.iter().map(version).collect());
        let group = json!({ "name": "trueplane.dev", "versions": versions });
        let groups: Vec<Value> = if versions.is_empty() { Vec::new() } else { vec![group] };
        answer(StatusCode::OK, &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
    }

    fn patch(&self, place: &Place, patch: &Value) -> Result<Answer, std::io::Error> {
        let (written, version, fault) = self.with(|store| {
            let fault = store.faults.patches.pop_front();
            let written = match fault.filter(|&code| code > 0) {
                Some(code) => Err(StatusCode::from_u16(code).unwrap()),
                None => store.patch(place, patch),
            };
            (written, store.version, fault)
        });
        self.news.send_replace(version);
        match written {
            Ok(_) if fault == Some(0) => Err(std::io::Error::other("the answer is lost")),
            Ok(object) => Ok(answer(StatusCode::OK, &object)),
            Err(code) => Ok(failure(code)),
        }
    }

    fn store(&self, mut place: Place, is_new: bool, value: Value) -> Answer {
        if is_new {
            place.2 = value["metadata"]["name"].as_str().unwrap().to_owned();
        }
        let (answer, version) = self.with(|store| {
            let found = store.objects.get(&place).map(|one| one["metadata"]["resourceVersion"].clone());
            let code = match found {
                Some(_) if is_new => StatusCode::CONFLICT,
                None if !is_new => StatusCode::NOT_FOUND,
                Some(version) if version != value["metadata"]["resourceVersion"] => StatusCode::CONFLICT,
                _ => {
                    store.write(place.clone(), value);
                    return (answer(StatusCode::OK, &store.objects[&place]), store.version);
                }
            };
            (failure(code), store.version)
        });
        self.news.send_replace(version);
        answer
    }

    fn list(&self, plural: &str) -> Answer {
        self.with(|store| {
            let items: Vec<&Value> =
                store.objects.iter().filter(|(place, _)| place.0 == plural).map(|(_, one)| one).collect();
            let metadata = json!({ "resourceVersion": store.version.to_string() });
            answer(
                StatusCode::OK,
                &json!({ "kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items }),
            )
        })
    }

    fn follow(&self, plural: &str, text: &str) -> Answer {
        let since: u64 = query(text, "resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0);
        let (watches, oldest) =
            self.with(|store| (store.watches, store.history.first().map_or(store.version + 1, |one| one.0)));
        if since + 1 < oldest {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
                "message": "too old resource version", "reason": "Expired" });
            let line = json!({ "type": "ERROR", "object": status }).to_string() + "\n";
            return Response::new(http_body_util::Full::new(Bytes::from(line)).boxed_unsync());
        }
        let (server, plural, news) = (self.clone(), plural.to_owned(), self.news.subscribe());
        let next = move |(since, mut news): (u64, watch::Receiver<u64>)| {
            let (server, plural) = (server.clone(), plural.clone());
            async move {
                loop {
                    news.mark_unchanged();
                    match server.next_event(&plural, since, watches)? {
                        Some((version, event)) => {
                            let line = Frame::data(Bytes::from(format!("{event}\n")));
                            return Some((Ok::<_, Infallible>(line), (version, news)));
                        }
                        None => news.changed().await.ok()?,
                    }
                }
            }
        };
        let lines = futures_util::stream::unfold((since, news), next);
        Response::new(StreamBody::new(lines).boxed_unsync())
    }

    /// The next event after a version, if there is one; `None` if the watch has ended.
    fn next_event(&self, plural: &str, since: u64, watches: u64) -> Option<Option<(u64, Value)>> {
        self.with(|store| {
            if store.watches != watches || store.faults.is_away {
                return None;
            }
            let next = store.history.iter().find(|(version, kind, ..)| *version > since && kind == plural);
            Some(next.map(|(version, _, kind, object)| (*version, json!({ "type": kind, "object": object }))))
        })
    }
}

impl Service<Request<Body>> for Server {
    type Response = Answer;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, std::io::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().respond(request))
    }
}
