//! Counters for Prometheus.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::controller::{Status, TenantStatus};

/// The status in the text format of OpenMetrics.
pub(super) fn exposition(status: Status, watch_errors: u64) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("trueplane_fair");
    registry.register_collector(Box::new(Snapshot { status, watch_errors }));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

/// Something of a tenant that is measured.
type Measure = fn(&TenantStatus) -> f64;

/// The status at a time.
#[derive(Debug)]
struct Snapshot {
    status: Status,
    watch_errors: u64,
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let counters = &self.status.counters;
        plain(
            &mut encoder,
            "leads",
            "Whether this process leads",
            &ConstGauge::new(i64::from(self.status.leads)),
        )?;
        for (name, help, value) in [
            ("opened", "Pods and jobs that were opened", counters.opened),
            ("opened_by_hand", "Pods and jobs that somebody else opened", counters.opened_by_hand),
            ("writes_tried_again", "Writes that failed and were tried again", counters.tried_again),
            ("conflicts", "Writes that met a change of somebody else", counters.conflicts),
            ("gone", "Pods and jobs that were gone when they were to be opened", counters.gone),
            ("refused", "Writes that the server did not allow", counters.refused),
            ("problems", "Objects with something wrong", counters.problems),
            ("clock_jumps", "Times at which the clock was found to have gone back", counters.clock_jumps),
            ("watch_errors", "Watches that ended with an error and began again", self.watch_errors),
        ] {
            plain(&mut encoder, name, help, &ConstCounter::new(value))?;
        }
        let tenants = &self.status.tenants;
        let gauges: [(&str, &str, Measure); 5] = [
            ("tenant_weight", "Weight of the tenant", |tenant| f64::from(tenant.weight)),
            ("tenant_entitled_ratio", "Part of the cluster that the tenant is entitled to", |tenant| {
                tenant.entitled
            }),
            ("tenant_held_ratio", "Part of the cluster that the tenant holds", |tenant| tenant.held),
            (
                "tenant_remembered_ratio",
                "Part of the cluster that the tenant has had above what it is entitled to",
                |tenant| tenant.remembered,
            ),
            ("tenant_waiting", "Workloads of the tenant that wait", |tenant| tenant.waiting as f64),
        ];
        for (name, help, value) in gauges {
            family(&mut encoder, name, help, tenants, |tenant| ConstGauge::new(value(tenant)))?;
        }
        family(
            &mut encoder,
            "tenant_admitted",
            "Workloads of the tenant that were admitted",
            tenants,
            |tenant| ConstCounter::new(tenant.admitted),
        )
    }
}

fn plain(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &impl EncodeMetric,
) -> Result<(), fmt::Error> {
    let encoder = encoder.encode_descriptor(name, help, None, metric.metric_type())?;
    metric.encode(encoder)
}

fn family<M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    tenants: &[TenantStatus],
    metric: impl Fn(&TenantStatus) -> M,
) -> Result<(), fmt::Error> {
    let Some(kind) = tenants.first().map(|tenant| metric(tenant).metric_type()) else { return Ok(()) };
    let mut encoder = encoder.encode_descriptor(name, help, None, kind)?;
    for tenant in tenants {
        let labels = [("tenant", tenant.name.as_str())];
        metric(tenant).encode(encoder.encode_family(&labels)?)?;
    }
    Ok(())
}
