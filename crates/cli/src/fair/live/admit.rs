//! `trueplane fair admit`

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trueplane_fair::Memory;
use trueplane_fair::span::Span;
use trueplane_kubernetes::connection::{self, Place, Times};
use trueplane_kubernetes::controller::Policy;
use trueplane_kubernetes::resources::{Flavors, ResourceNames};
use trueplane_trace::without_code;
use trueplane_units::{Address, parameters, text_value};

use super::cluster::Cluster;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Share a Kubernetes cluster fairly in the long run: hold pods and jobs, and let them go when it is their tenant's turn.
///
/// The controller runs beside your scheduler, which it does not change. It holds pods that have the scheduling gate trueplane.dev/fair, and
/// suspended jobs with the label trueplane.dev/fair=true, until there is room and until it is the turn of their tenant. The tenant with the least
/// of what it holds and of what it had above its part is next (SDRF). What a tenant had is forgotten by half with each --half-life; trueplane
/// fair recommend finds the half-life for your log. A tenant is the label trueplane.dev/tenant of a namespace. The annotations
/// trueplane.dev/weight and trueplane.dev/limits of the namespace give it a weight and limits. Objects of the kinds Tenant and Cohort
/// (packaging/kubernetes/kinds.yaml) give it quotas, and let tenants lend them to each other.
///
/// Several of these processes may run. One leads, and the others wait for its end. Nothing is lost when a process ends: what tenants have had is
/// in a ConfigMap, and what they hold is in the cluster. The command runs until Ctrl-C or SIGTERM. The folder packaging/kubernetes has what you
/// need to run it in the cluster.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane fair admit
  trueplane fair admit --kubeconfig test.yaml --resources cpu,memory,nvidia.com/gpu --listen 0.0.0.0:9464
  trueplane fair admit --flavors a100:nvidia.com/gpu.product=A100,spot:cloud.google.com/gke-spot=true
  kubectl label namespace ml trueplane.dev/tenant=ml && kubectl annotate namespace ml trueplane.dev/weight=3")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

/// The resources that count.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Resources(ResourceNames);

impl FromStr for Resources {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ResourceNames::new(text.split(',').map(|name| name.trim().to_owned()).collect()).map(Self)
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.names().join(","))
    }
}

text_value!(Resources, "names of resources such as cpu,memory");

/// Nodes that are counted by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CountedNodes(Flavors);

impl FromStr for CountedNodes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl fmt::Display for CountedNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_value!(CountedNodes, "flavors such as a100:gpu=a100");

parameters! {
    /// Parameters of `fair admit`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Time after which half of what a tenant had above its part is forgotten.
        half_life: Span => { value: "TIME", default: "7d" },
        /// Remember nothing: share by what tenants hold now (DRF).
        forget: bool => { conflicts: "half_life" },
        /// Resources that count. Amounts of others may be exceeded.
        resources: Resources => { value: "NAMES", default: "cpu,memory" },
        /// Count nodes with these labels separately, under this name. Pods that ask for the labels with their node selector count there.
        flavors: Option<CountedNodes> => { value: "NAME:LABEL=VALUE,…" },
        /// Let workloads of other tenants pass one that does not fit yet. Less of the cluster is idle, and large workloads can wait for long.
        backfill: bool => {},
        /// Address of the dashboard, of /metrics, /status and /healthz.
        listen: Address => { value: "ADDRESS:PORT", default: "127.0.0.1:9464" },
    }
    including {
        /// The cluster.
        cluster: Cluster,
    }
}

/// Time that a first answer of the API server may take. After that the controller waits for it.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| Failure::other(without_code(&error));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let ran = runtime.block_on(admit(&self.flags.0));
        runtime.shutdown_timeout(Duration::from_secs(1));
        ran
    }
}

async fn admit(options: &Options) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::other(without_code(&error));
    let mut terminated = signal(SignalKind::terminate()).map_err(cannot)?;
    let client = options.cluster.client().await?;
    let Address(address) = options.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let reason = without_code(&error);
        Failure::other(format!("cannot listen on {address}: {reason}; name another address with --listen"))
    })?;
    print(&format!("Dashboard: http://{}/\n", listener.local_addr().map_err(cannot)?))?;
    match tokio::time::timeout(FIRST_ANSWER, client.apiserver_version()).await {
        Ok(Ok(version)) => print(&format!("Kubernetes {}\n", version.git_version))?,
        Ok(Err(error)) => eprintln!(
            "the API server does not answer as it should, and is tried again: {}",
            connection::one_line(&error)
        ),
        Err(_) => eprintln!("the API server does not answer, and is tried again"),
    }
    let memory =
        Memory::half_life(options.half_life.get()).map_err(|error| Failure::input(error.to_string()))?;
    let flavors = options.flavors.clone().map(|CountedNodes(flavors)| flavors).unwrap_or_default();
    let resources = options.resources.0.clone().with_flavors(flavors);
    let policy = Policy {
        resources: resources.map_err(|problem| Failure::input(format!("--flavors: {problem}")))?,
        memory: (!options.forget).then_some(memory),
        backfill: options.backfill,
        record: None,
    };
    let place = Place {
        namespace: options.cluster.namespace.0.clone(),
        name: options.cluster.name.0.clone(),
        identity: connection::identity(),
    };
    let (stop, stopped) = watch::channel(());
    let log = |line: &str| eprintln!("{line}");
    let mut running =
        Box::pin(connection::run(client, policy, place, Times::default(), Some(listener), log, stopped));
    let ended = tokio::select! {
        ended = &mut running => ended,
        _ = async { tokio::select! { _ = tokio::signal::ctrl_c() => {}, _ = terminated.recv() => {} } } => {
            drop(stop);
            running.await
        }
    };
    ended.map_err(|error| Failure::other(error.to_string()))
}
