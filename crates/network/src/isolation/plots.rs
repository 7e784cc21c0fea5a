//! The pictures of `limit isolation`: rates over time, what is charged to tenants over time, and the times of probes.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Found, Run, TenantRun};
use super::policy::TransportName;

/// The lead shows the rates with the first senders.
pub(super) fn present(found: &Found, page: &mut Page) {
    for (place, transport) in found.transports().into_iter().enumerate() {
        if place == 0 {
            page.lead(rates(found, transport));
        } else {
            page.plot(rates(found, transport));
        }
        page.plot(backlogs(found, transport));
        page.plot(probes(found, transport));
    }
}

fn runs(found: &Found, transport: TransportName) -> impl Iterator<Item = &Run> {
    found.runs.iter().filter(move |run| run.transport == transport)
}

fn time() -> Axis {
    Axis { label: "time".to_owned(), unit: Unit::Nanos, log: false }
}

/// A curve of a tenant over time, in the panel of its policy: a value for each interval, at the middle of it.
fn over_time(
    found: &Found,
    run: &Run,
    tenant: &TenantRun,
    values: impl Iterator<Item = Option<f64>>,
) -> Series {
    let width = found.interval.0 as f64;
    let points =
        (0_u64..).zip(values).filter_map(|(place, value)| Some(((place as f64 + 0.5) * width, value?)));
    Series {
        name: tenant.tenant.title(),
        points: points.collect(),
        panel: run.policy.name().to_owned(),
        color: Some(tenant.tenant.number - 1),
        ..Series::default()
    }
}

/// Figure 16: the rates of tenants over time.
fn rates(found: &Found, transport: TransportName) -> Plot {
    let mut series = Vec::new();
    for run in runs(found, transport) {
        for tenant in &run.tenants {
            series.push(over_time(found, run, tenant, tenant.rates.iter().map(|rate| Some(*rate))));
        }
    }
    let end = found.measured.until.0 as f64;
    series.push(Series {
        name: "equal shares".to_owned(),
        points: [0.0, end].map(|time| (time, found.fair_link_bps)).to_vec(),
        dashed: true,
        muted: true,
        ..Series::default()
    });
    Plot {
        id: format!("rates-{transport}"),
        title: format!("Rate of each tenant on the shared link, senders: {transport}"),
        note: "Each tenant after the first starts later. Dashed: what the classical model gives each of them once all send.".to_owned(),
        x: time(),
        y: Axis { label: "rate".to_owned(), unit: Unit::BitsPerSec, log: false },
        series,
    }
}

/// Figure 14: the logical queues over time, and the queues of tenants beside them.
fn backlogs(found: &Found, transport: TransportName) -> Plot {
    let mut series = Vec::new();
    for run in runs(found, transport) {
        for tenant in run.tenants.iter().filter(|tenant| tenant.backlogs.iter().any(Option::is_some)) {
            let values = tenant.backlogs.iter().map(|bytes| bytes.map(|bytes| bytes as f64));
            series.push(over_time(found, run, tenant, values));
        }
    }
    Plot {
        id: format!("backlogs-{transport}"),
        title: format!("The most bytes in the bucket or queue of each tenant, senders: {transport}"),
        note: "Nothing waits in a bucket: it counts what would wait if the tenant had a link of its limit."
            .to_owned(),
        x: time(),
        y: Axis { label: "bytes".to_owned(), unit: Unit::Plain, log: false },
        series,
    }
}

/// Figure 17: the distribution of the times of probes.
fn probes(found: &Found, transport: TransportName) -> Plot {
    let curve = |run: &Run| Series {
        name: run.policy.name().to_owned(),
        points: run.probes.cumulative().into_iter().map(|(time, share)| (time as f64, share)).collect(),
        color: color_of(run.policy),
        ..Series::default()
    };
    Plot {
        id: format!("probes-{transport}"),
        title: format!("Completion times of probes beside the tenants, senders: {transport}"),
        note: "The share of probes that take no longer.".to_owned(),
        x: Axis { label: "completion time".to_owned(), unit: Unit::Nanos, log: true },
        y: Axis { label: "share of probes".to_owned(), unit: Unit::Percent, log: false },
        series: runs(found, transport).map(curve).filter(|series| !series.points.is_empty()).collect(),
    }
}
