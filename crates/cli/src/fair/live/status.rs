//! `trueplane fair status`

use std::time::Duration;

use trueplane_kubernetes::connection::state;
use trueplane_kubernetes::controller::{Status, TenantStatus};
use trueplane_study::Page;
use trueplane_study::report::Report;
use trueplane_study::study::{Words, page_report};
use trueplane_trace::without_code;
use trueplane_units::{Percent, parameters};

use super::cluster::Cluster;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;

/// Show who is next on a Kubernetes cluster that trueplane fair admit shares, and why.
///
/// For each tenant, the command shows what it holds, what it had above its part and is remembered, and how much of it waits. Tenants are in the
/// order in which it is their turn. The numbers are those that the leading controller wrote last, at most five seconds ago.
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
        self.output.emit(&report(&found?))
    }
}

fn report(status: &Status) -> Report {
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
        .col("waiting", "waiting", |tenant| tenant.waiting)
        .col("admitted", "admitted", |tenant| tenant.admitted);
    let next = status.tenants.iter().find(|tenant| tenant.waiting > 0);
    let verdict = match next {
        Some(next) => format!(
            "{} is next: it holds {:.1}% of the cluster and had {:.1}% above its part of {:.1}%.",
            next.name,
            100.0 * next.held,
            100.0 * next.remembered,
            100.0 * next.entitled
        ),
        None => "Nobody waits.".to_owned(),
    };
    let words = Words {
        name: "fair.status",
        title: "Who is next on the cluster".to_owned(),
        belief: trueplane_fair::BELIEF,
        verdict: vec![verdict],
        advice: String::new(),
    };
    page_report(words, &[], page)
}
