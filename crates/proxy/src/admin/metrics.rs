//! Counters for Prometheus.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use trueplane_units::Nanos;

use super::report::Report;
use crate::server::Proxy;
use crate::tally::{BOUNDS, Totals};

type Labels = Vec<(&'static str, String)>;

const NANOS_PER_SECOND: f64 = 1e9;

/// All counters as they are, in the text format of OpenMetrics.
pub(super) fn exposition(proxy: &Proxy) -> Result<String, fmt::Error> {
    let sites = proxy.sites();
    let totals = sites.all().iter().map(|site| (site.settings.name(), site.tally.totals()));
    let snapshot = Snapshot { report: Report::of(proxy, Nanos(0)), sites: totals.collect() };
    let mut registry = Registry::with_prefix("trueplane_cache");
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

/// The counters at a time.
#[derive(Debug)]
struct Snapshot {
    report: Report,
    sites: Vec<(String, Totals)>,
}

impl Snapshot {
    /// A value of each site.
    fn per_site<T>(&self, value: impl Fn(&Totals) -> T) -> Vec<(Labels, T)> {
        self.sites.iter().map(|(site, totals)| (vec![("site", site.clone())], value(totals))).collect()
    }

    /// A value of each site and each of some names.
    fn per_site_and<T>(
        &self,
        label: &'static str,
        values: impl Fn(&Totals) -> Vec<(&'static str, T)>,
    ) -> Vec<(Labels, T)> {
        let of_site = |(site, totals): &(String, Totals)| {
            let labels = |name: &str| vec![("site", site.clone()), (label, name.to_owned())];
            values(totals).into_iter().map(|(name, value)| (labels(name), value)).collect::<Vec<_>>()
        };
        self.sites.iter().flat_map(of_site).collect()
    }
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (bytes, seconds) = (Some(Unit::Bytes), Some(Unit::Seconds));
        let mut counters = |name, help, unit: &Option<Unit>, values: Vec<(Labels, u64)>| {
            let values = values.into_iter().map(|(labels, value)| (labels, ConstCounter::new(value)));
            family(&mut encoder, name, help, unit.as_ref(), MetricType::Counter, values)
        };
        let served = |totals: &Totals| {
            vec![
                ("hit", totals.hits),
                ("delayed_hit", totals.delayed),
                ("miss", totals.misses),
                ("passed", totals.passed),
            ]
        };
        counters(
            "requests",
            "Requests of clients, by how they were served",
            &None,
            self.per_site_and("served", served),
        )?;
        counters("sent", "Bytes of the bodies of answers", &bytes, self.per_site(|totals| totals.bytes))?;
        counters(
            "origin_requests",
            "Requests to the servers behind",
            &None,
            self.per_site(|totals| totals.asked),
        )?;
        counters(
            "origin_failures",
            "Requests to the servers behind that got no answer, or an error of the server",
            &None,
            self.per_site(|totals| totals.failed),
        )?;
        let stored = &self.report.stored;
        counters(
            "evictions",
            "Stored answers that have left because room was needed",
            &None,
            vec![(Vec::new(), stored.evictions)],
        )?;
        if let Some(disk) = &self.report.disk {
            let by = |name: &str| vec![("outcome", name.to_owned())];
            let written = [("written", disk.written), ("refused", disk.refused), ("dropped", disk.dropped)];
            let written = written.into_iter().map(|(name, count)| (by(name), count)).collect();
            counters(
                "disk_hits",
                "Stored answers that were read from the disk",
                &None,
                vec![(Vec::new(), disk.hits)],
            )?;
            counters("disk_writes", "Answers for the disk, by what became of them", &None, written)?;
            counters(
                "disk_written",
                "Bytes written to the disk",
                &bytes,
                vec![(Vec::new(), disk.written_bytes)],
            )?;
            counters(
                "disk_broken",
                "Answers on the disk that could not be read, or were not what had been written",
                &None,
                vec![(Vec::new(), disk.broken)],
            )?;
        }
        let fetching = self.per_site(|totals| totals.fetching / NANOS_PER_SECOND).into_iter();
        family(
            &mut encoder,
            "fetch",
            "Time that the fetches of misses took; divided by the requests it is the mean wait by the classical model",
            seconds.as_ref(),
            MetricType::Counter,
            fetching.map(|(labels, value)| (labels, ConstCounter::new(value))),
        )?;
        let means = |totals: &Totals| {
            let three = [
                ("classical", totals.classical()),
                ("refined", totals.refined()),
                ("measured", totals.measured()),
            ];
            three.into_iter().filter_map(|(by, mean)| Some((by, mean? / NANOS_PER_SECOND))).collect()
        };
        let means = self.per_site_and("by", means).into_iter();
        family(
            &mut encoder,
            "mean_wait",
            "Mean wait of a request since the start: by the hit rate (classical), by a model that knows delayed hits (refined), and as it was (measured)",
            seconds.as_ref(),
            MetricType::Gauge,
            means.map(|(labels, value)| (labels, ConstGauge::new(value))),
        )?;
        let waits = self.per_site(Histogram::of).into_iter();
        family(
            &mut encoder,
            "wait",
            "Time that requests waited for the origin; a hit waits for none",
            seconds.as_ref(),
            MetricType::Histogram,
            waits,
        )?;
        let mut gauges = |name, help, unit: &Option<Unit>, values: Vec<(Labels, u64)>| {
            let values = values
                .into_iter()
                .map(|(labels, value)| (labels, ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))));
            family(&mut encoder, name, help, unit.as_ref(), MetricType::Gauge, values)
        };
        let one = |value| vec![(Vec::new(), value)];
        gauges("used", "Bytes that stored answers take", &bytes, one(stored.used_bytes))?;
        gauges("limit", "Bytes that stored answers may take", &bytes, one(stored.limit_bytes))?;
        gauges("entries", "Stored answers", &None, one(stored.entries))?;
        gauges("connections", "Connections of clients", &None, one(self.report.connections))?;
        if let Some(disk) = &self.report.disk {
            gauges("disk_used", "Bytes that answers on the disk take", &bytes, one(disk.used_bytes))?;
            gauges("disk_limit", "Bytes that answers on the disk may take", &bytes, one(disk.limit_bytes))?;
            gauges("disk_entries", "Answers on the disk", &None, one(disk.entries))?;
            let up = one(u64::from(disk.is_in_use));
            gauges("disk_up", "Whether the disk is used: 1 if it is, 0 if it fails", &None, up)?;
        }
        let servers = self.report.sites.iter().flat_map(|site| {
            site.servers.iter().map(|server| {
                let labels = vec![("site", site.site.clone()), ("server", server.server.clone())];
                (labels, u64::from(server.is_up))
            })
        });
        gauges(
            "origin_up",
            "Whether a server behind answers: 1 if it does, 0 if not",
            &None,
            servers.collect(),
        )
    }
}

/// Writes a metric with its values.
fn family<M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    kind: MetricType,
    values: impl Iterator<Item = (Labels, M)>,
) -> Result<(), fmt::Error> {
    let mut metric = encoder.encode_descriptor(name, &format!("{help}."), unit, kind)?;
    for (labels, value) in values {
        // What is of the cache as a whole has no labels, and is one value.
        if labels.is_empty() {
            return value.encode(metric);
        }
        value.encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Waits by class.
struct Histogram {
    sum: f64,
    count: u64,
    /// Upper bounds in seconds, and the number of waits between each and the one before.
    classes: Vec<(f64, u64)>,
}

impl Histogram {
    fn of(totals: &Totals) -> Self {
        let bounds = BOUNDS.iter().map(|bound| *bound as f64 / NANOS_PER_SECOND).chain([f64::MAX]);
        // Hits wait for nothing.
        let counts = totals.classes.iter().enumerate().map(|(class, count)| match class {
            0 => count + totals.hits,
            _ => *count,
        });
        Self {
            sum: totals.waited / NANOS_PER_SECOND,
            count: totals.requests(),
            classes: bounds.zip(counts).collect(),
        }
    }
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_histogram::<NoLabelSet>(self.sum, self.count, &self.classes, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
