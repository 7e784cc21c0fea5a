//! The controller on a real control plane with simulated nodes (kwok).
//!
//! `make test-kubernetes` runs it. It is not part of `cargo test`, since it needs Kubernetes, which takes about twenty minutes to build.
//! `scripts/kubernetes-test` starts a cluster for each test.

mod beside;
mod faults;
mod job_log;
mod live;
mod load;
mod order;
mod process;
mod recording;
mod report;
mod seen;

#[path = "../replay/lines.rs"]
mod lines;
#[path = "../replay/replay.rs"]
mod replay;

use std::env;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use trueplane_fair::{Memory, Nanos};
use trueplane_kubernetes::admission::Record;
use trueplane_kubernetes::connection::{Error, Place, Times, run};
use trueplane_kubernetes::controller::Policy;
use trueplane_kubernetes::resources::ResourceNames;

fn number(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}: {text}")))
}

async fn client(variable: &str) -> Client {
    let path =
        env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run `make test-kubernetes`"));
    let kubeconfig = Kubeconfig::read_from(path).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// What the controller is to do: these resources count, half of what a tenant had above its part is forgotten after so many seconds, and `record` is told what
/// happens.
fn policy(resources: &[&str], half_life_seconds: u64, record: Option<Record>) -> Policy {
    let resources = resources.iter().map(|&name| name.to_owned()).collect();
    Policy {
        resources: ResourceNames::new(resources).unwrap(),
        memory: Some(Memory::half_life(Nanos(half_life_seconds * 1_000_000_000)).unwrap()),
        backfill: false,
        record,
    }
}

/// A controller that runs with the rights of its service account.
async fn start(identity: &str, policy: Policy) -> (watch::Sender<()>, JoinHandle<Result<(), Error>>) {
    let place = Place {
        namespace: "trueplane".to_owned(),
        name: "trueplane-fair".to_owned(),
        identity: identity.to_owned(),
    };
    let (stop, stopped) = watch::channel(());
    let name = identity.to_owned();
    let log = move |line: &str| eprintln!("{name}: {line}");
    let controller =
        run(client("TRUEPLANE_CONTROLLER").await, policy, place, Times::default(), None, log, stopped);
    (stop, tokio::spawn(controller))
}
