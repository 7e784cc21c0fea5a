//! What people see of `limit isolation`: what each tenant gets under each policy, and how long probes take.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{BitsPerSec, Bytes, Percent};

use super::found::{Found, Run, TenantRun};
use super::options::Options;
use super::plots;
use super::verdict::best;

/// Fewest probes of which a 99th percentile says something.
const FEWEST: u64 = 100;

/// A tenant in a run.
type Row<'a> = (&'a Run, &'a TenantRun);

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("measured from", "measured_from_ns", found.measured.from);
    page.fact("measured until", "measured_until_ns", found.measured.until);
    page.fact("round-trip time without packets", "round_trip_ns", found.round_trip);
    warnings(options, found, page);
    let (fewest, _) = found.extremes();
    for run in &found.runs {
        let tenant = &run.tenants[fewest];
        page.numbers(
            format!("goodput of {} under {} with {}", tenant.tenant.title(), run.policy, run.transport),
            "goodput_bps",
            rate(found.fair_bps),
            rate(tenant.goodput_bps),
            Measured::By("trueplane limit experiment isolation"),
        );
    }
    policies(options, found, page);
    tenants(found, page);
    counts(found, page);
    plots::present(found, page);
}

fn rate(bits_per_sec: f64) -> BitsPerSec {
    BitsPerSec(bits_per_sec.round() as u64)
}

fn warnings(options: &Options, found: &Found, page: &mut Page) {
    if let Some(run) = found.runs.iter().find(|run| run.probes.count() < FEWEST) {
        page.warn(format!(
            "Only {} probes came back in one run, too few for a 99th percentile: raise --duration or lower --probe-interval.",
            run.probes.count()
        ));
    }
    let limits: u64 = found.tenants.iter().map(|tenant| tenant.limit.0).fold(0, u64::saturating_add);
    if limits > options.rate.0 {
        page.warn(format!(
            "The limits are {} together, more than the {} of the link: limiters cannot keep tenants apart then.",
            BitsPerSec(limits),
            *options.rate
        ));
    }
}

fn policies(options: &Options, found: &Found, page: &mut Page) {
    let mut table = page
        .table("policies", "What tenants get while all send", &found.runs)
        .col("senders", "transport", |run| run.transport.name())
        .col("policy", "policy", |run| run.policy.name());
    for (place, tenant) in found.tenants.iter().enumerate() {
        let column = format!("goodput_tenant{}_bps", tenant.number);
        table = table.col(tenant.title(), column, |run| rate(run.tenants[place].goodput_bps));
    }
    table
        .col("furthest from its share", "share_error", |run| Cell::Change(run.worst_error()))
        .col("of the link", "link_share", |run| Percent(run.rate_bps() / options.rate.0 as f64))
        .col("drops", "drop_share", |run| Percent(run.drop_share()))
        .col("marks", "mark_share", |run| Percent(run.mark_share()))
        .col("probes: mean", "probe_mean_ns", |run| run.probe_mean_ns().map(Cell::Nanos))
        .col("99th percentile", "probe_p99_ns", |run| run.probe_p99())
        .mark(|run| best(found, run.transport).filter(|best| *best == run.policy).map(|_| "deploy this"));
}

fn tenants(found: &Found, page: &mut Page) {
    let rows: Vec<Row<'_>> =
        found.runs.iter().flat_map(|run| run.tenants.iter().map(move |tenant| (run, tenant))).collect();
    let of_backlog = |tenant: &TenantRun, value: u64| (tenant.backlog.count() > 0).then_some(Bytes(value));
    page.table("tenants", "Tenants one by one, while all send", rows)
        .col("senders", "transport", |(run, _)| run.transport.name())
        .col("policy", "policy", |(run, _)| run.policy.name())
        .col("tenant", "tenant", |(_, tenant)| tenant.tenant.number)
        .col("flows", "flows", |(_, tenant)| tenant.tenant.flows)
        .col("limit", "limit_bps", |(_, tenant)| tenant.tenant.limit)
        .col("goodput by the classical model", "goodput_classical_bps", |_| rate(found.fair_bps))
        .col("goodput", "goodput_bps", |(_, tenant)| rate(tenant.goodput_bps))
        .col("on the link", "link_bps", |(_, tenant)| rate(tenant.rate_bps))
        .col("from its share", "share_error", |(run, tenant)| Cell::Change(run.share_error(tenant)))
        .col("drops", "drop_share", |(_, tenant)| Percent(tenant.drop_share()))
        .col("marks", "mark_share", |(_, tenant)| Percent(tenant.mark_share()))
        .col("in its bucket or queue: mean", "backlog_mean_bytes", |(_, tenant)| {
            of_backlog(tenant, tenant.backlog.mean() as u64)
        })
        .when_any()
        .col("99th percentile", "backlog_p99_bytes", |(_, tenant)| {
            of_backlog(tenant, tenant.backlog.quantile(0.99))
        })
        .when_any()
        .col("packets offered", "offered", |(_, tenant)| tenant.counts.offered)
        .col("dropped", "dropped", |(_, tenant)| tenant.counts.dropped)
        .col("marked", "marked", |(_, tenant)| tenant.counts.marked)
        .detail();
}

fn counts(found: &Found, page: &mut Page) {
    page.table("counts", "Probes, the queue of the link, and packets of the whole run", &found.runs)
        .col("senders", "transport", |run| run.transport.name())
        .col("policy", "policy", |run| run.policy.name())
        .col("probes", "probes", |run| run.probes.count())
        .col("on their way at the end", "probes_unfinished", |run| run.probes_unfinished)
        .col("packets of probes dropped", "probe_drops", |run| run.probe_counts.dropped)
        .col("median probe", "probe_median_ns", |run| {
            (run.probes.count() > 0).then(|| Cell::Nanos(run.probes.quantile(0.5) as f64))
        })
        .col("bytes that packets find waiting: mean", "queue_mean_bytes", |run| {
            Bytes(run.queue.mean().round() as u64)
        })
        .col("99th percentile", "queue_p99_bytes", |run| Bytes(run.queue.quantile(0.99)))
        .col("first tenant alone", "alone_bps", |run| run.alone_bps.map(rate))
        .when_any()
        .col("packets sent", "sent", |run| run.sent)
        .col("delivered", "delivered", |run| run.delivered)
        .col("drops", "drops", |run| run.drops)
        .col("in the network at the end", "in_network", |run| run.in_network)
        .detail();
}
