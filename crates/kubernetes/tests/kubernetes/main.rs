//! The controller against an API server without Kubernetes, which fails as it is told.

mod faults;
mod replicas;
mod server;
mod settings;
mod usual;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use trueplane_fair::{Memory, Nanos};
use trueplane_kubernetes::connection::{Error, Place, Times, run};
use trueplane_kubernetes::controller::Policy;
use trueplane_kubernetes::names::{GATE, TENANT};
use trueplane_kubernetes::resources::ResourceNames;

use server::Server;

/// A controller that runs.
struct Running {
    stop: watch::Sender<()>,
    task: JoinHandle<Result<(), Error>>,
}

impl Running {
    /// Starts the only process. Its lease does not end while a busy machine stops it for a few seconds.
    fn start(server: &Server) -> Self {
        let seconds = Duration::from_secs;
        let retry = Duration::from_millis(100);
        Self::with(server, "one", Times { lease: seconds(60), renew: seconds(40), retry })
    }

    /// Starts a process whose lease ends soon after it no longer runs, or no longer reaches the server.
    fn start_briefly(server: &Server, identity: &str) -> Self {
        let millis = Duration::from_millis;
        Self::with(server, identity, Times { lease: millis(1500), renew: millis(900), retry: millis(100) })
    }

    fn with(server: &Server, identity: &str, times: Times) -> Self {
        let policy = Policy {
            resources: ResourceNames::new(vec!["cpu".to_owned()]).unwrap(),
            memory: Some(Memory::half_life(Nanos(3_600_000_000_000)).unwrap()),
            backfill: false,
            record: None,
        };
        let place = Place {
            namespace: "trueplane".to_owned(),
            name: "trueplane-fair".to_owned(),
            identity: identity.to_owned(),
        };
        let (stop, stopped) = watch::channel(());
        let log = |line: &str| eprintln!("{line}");
        let task = tokio::spawn(run(server.client(), policy, place, times, None, log, stopped));
        Self { stop, task }
    }

    /// Ends it as an operator does.
    async fn stop(self) {
        drop(self.stop);
        self.task.await.unwrap().unwrap();
    }

    /// Kills it: whatever it was about to write is not written.
    fn kill(self) {
        self.task.abort();
    }
}

/// Waits until it is so, for as long as a slow machine may take.
async fn until(server: &Server, what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        server.check();
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{what} does not happen; opened: {:?}",
            server.opened()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.check();
}

fn namespace(name: &str) -> Value {
    json!({ "metadata": { "name": name, "labels": { TENANT: name } }, "spec": {} })
}

fn node(name: &str, cores: u64) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": {},
        "status": {
            "allocatable": { "cpu": cores.to_string() },
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}

fn pod(namespace: &str, name: &str, cores: u64) -> Value {
    json!({
        "metadata": { "name": name, "namespace": namespace, "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": {
            "schedulingGates": [{ "name": GATE }],
            "containers": [{ "resources": { "requests": { "cpu": cores.to_string() } } }],
        },
        "status": { "phase": "Pending" },
    })
}

/// A cluster of two tenants and a node of four cores.
fn cluster() -> Server {
    let server = Server::new();
    ["a", "b"].iter().for_each(|name| server.put("namespaces", namespace(name)));
    server.put("nodes", node("one", 4));
    server
}

/// Pods of `a` and `b` by turns, each of one core.
fn pods(server: &Server, names: std::ops::Range<u64>) {
    for place in names {
        server.put("pods", pod(["a", "b"][(place % 2) as usize], &format!("p{place:03}"), 1));
    }
}

/// Lets every pod that is open end, until as many were opened.
async fn drain(server: &Server, count: usize) {
    let mut ended = 0;
    let began = Instant::now();
    while ended < count {
        let opened = server.opened();
        for name in &opened[ended..] {
            let (namespace, name) = name.split_once('/').unwrap();
            server.end(namespace, name, "2026-01-01T00:00:01Z");
        }
        ended = opened.len();
        server.check();
        assert!(began.elapsed() < Duration::from_secs(120), "{ended} of {count} were opened");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut names = server.opened();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "each once");
}
