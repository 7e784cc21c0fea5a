//! `trueplane fair status`

use std::time::Duration;

use trueplane_kubernetes::connection::{self, state};
use trueplane_kubernetes::controller::{Status, TenantStatus};
use trueplane_study::Page;
use trueplane_study::report::Report;
use trueplane_study::study::{Words, page_report};
use trueplane_trace::without_code;
use trueplane_units::{Nanos, Percent, parameters};

use super::cluster::Cluster;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;

/// Show who is next on a Kubernetes cluster that trueplane fair admit shares, and why.
///
/// For each tenant, the command shows what it holds, what it had above its part and is remembered, and how much of it waits. Tenants are in the
/// order in which it is their turn, and those that cannot have their turn come last. The numbers are those that the leading controller wrote last,
/// which it does every five seconds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane fair status
  trueplane fair status --kubeconfig test.yaml --json")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `fair status`.
    #[derive(Clone, Debug)]
    struct Options {}
    including {
        /// The cluster.
        cluster: Cluster,
    }
}

/// A controller that leads writes its status more often than this.
const STALE: Nanos = Nanos(30_000_000_000);

/// Time for the answer of the API server.
const PATIENCE: Duration = Duration::from_secs(15);

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let cannot = |error: std::io::Error| Failure::other(without_code(&error));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let cluster = self.flags.0.cluster;
        let found = runtime.block_on(async {
            let client = cluster.client().await?;
            let asked = state::status(client, &cluster.namespace.0, &cluster.name.0);
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(found) => found.map_err(Failure::input),
                Err(_) => Err(Failure::other("the API server does not answer")),
            }
        });
        let found = found?;
        let age = connection::time_since_1970().since(Nanos(found.at_ns));
        self.output.emit(&report(&found, age))
    }
}

fn report(status: &Status, age: Nanos) -> Report {
    let mut page = Page::default();
    page.fact("opened", "opened", status.counters.opened);
    page.fact("opened by hand", "opened_by_hand", status.counters.opened_by_hand);
    page.fact("writes tried again", "tried_again", status.counters.tried_again + status.counters.conflicts);
    page.fact("with something wrong", "problems", status.counters.problems);
    let resources = status.resources.iter().zip(&status.held).zip(&status.capacity);
    page.table("resources", "Resources", resources)
        .col("resource", "resource", |((resource, _), _)| resource.to_string())
        .col("held by tenants", "held", |((_, held), _)| held.to_string())
        .col("capacity", "capacity", |(_, capacity)| capacity.to_string());
    page.table("tenants", "Tenants, the next one first", &status.tenants)
        .col("tenant", "tenant", |tenant: &&TenantStatus| tenant.name.clone())
        .col("weight", "weight", |tenant| tenant.weight)
        .col("part", "entitled_ratio", |tenant| Percent(tenant.entitled))
        .col("holds", "held_ratio", |tenant| Percent(tenant.held))
        .col("had above its part", "remembered_ratio", |tenant| Percent(tenant.remembered))
        .col("turn", "turn", |tenant| tenant.turn)
        .col("waiting", "waiting", |tenant| tenant.waiting)
        .col("admitted", "admitted", |tenant| tenant.admitted)
        .col("why the first one waits", "why", |tenant| tenant.why.clone());
    page.fact("written", "age_ns", age);
    let waiting: u64 = status.tenants.iter().map(|tenant| tenant.waiting).sum();
    let verdict = match status.tenants.iter().find(|tenant| tenant.turn == Some(1)) {
        Some(next) => format!(
            "{} is next: it holds {:.1}% of the cluster and had {:.1}% above its part of {:.1}%.",
            next.name,
            100.0 * next.held,
            100.0 * next.remembered,
            100.0 * next.entitled
        ),
        None if waiting > 0 => {
            format!("Nobody is next: what waits ({waiting}) is above a limit or larger than the cluster.")
        }
        None => "Nobody waits.".to_owned(),
    };
    let old = format!("No controller leads: these numbers were written {age} ago.");
    let words = Words {
        name: "fair.status",
        title: "Who is next on the cluster".to_owned(),
        belief: trueplane_fair::BELIEF,
        verdict: if age > STALE { vec![old, verdict] } else { vec![verdict] },
        advice: String::new(),
    };
    page_report(words, &[], page)
}
