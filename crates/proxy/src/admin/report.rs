//! How a cache does, as JSON says it.

use serde::{Deserialize, Serialize};
use trueplane_units::Nanos;

use crate::server::Proxy;
use crate::tally::Totals;
use crate::top::Most;

/// The numbers of a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Seconds since it began to serve.
    pub uptime_s: u64,
    /// All sites together.
    pub all: Counts,
    /// Each of the sites.
    pub sites: Vec<SiteReport>,
    /// The answers that are stored in memory.
    pub stored: Stored,
    /// The tier on disk, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskReport>,
    /// Connections of clients.
    pub connections: u64,
    /// Whether another policy would make requests wait less, in words; by a simulation of all policies on a sample of the requests.
    pub advice: String,
}

/// The numbers of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SiteReport {
    /// The name of the site: its first host, or its first server.
    pub site: String,
    /// Its requests.
    pub counts: Counts,
    /// The servers behind it.
    pub servers: Vec<ServerReport>,
}

/// A server behind a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerReport {
    /// Its URL.
    pub server: String,
    /// Whether it answers, as far as is known.
    pub is_up: bool,
}

/// Requests, and how long they waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Requests that were answered from what is stored.
    pub hits: u64,
    /// Requests that waited for a fetch that an earlier one had begun.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// Requests that no cache may answer, such as those for private answers.
    pub passed: u64,
    /// Bytes of bodies.
    pub sent_bytes: u64,
    /// Requests to servers behind.
    pub origin_requests: u64,
    /// Those of them that got no answer, or an error of the server.
    pub origin_failures: u64,
    /// Mean wait of a request by the classical model: share of misses × mean time of a fetch.
    pub classical_ns: Option<u64>,
    /// Mean wait of a request by a model that knows delayed hits: each waits for the rest of a fetch, at any time of which it may come.
    pub refined_ns: Option<u64>,
    /// Mean wait of a request as it was.
    pub measured_ns: Option<u64>,
    /// The wait that half of the requests do not exceed.
    pub wait_p50_ns: Option<u64>,
    /// The wait that 99 of 100 requests do not exceed.
    pub wait_p99_ns: Option<u64>,
}

/// The answers that a cache has stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stored {
    /// Number of answers.
    pub entries: u64,
    /// Bytes that they take.
    pub used_bytes: u64,
    /// Bytes that they may take.
    pub limit_bytes: u64,
    /// Answers that have left because room was needed.
    pub evictions: u64,
    /// Policy that says who leaves.
    pub policy: String,
}

/// What a tier on disk holds, and what it has done since the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DiskReport {
    /// Whether it is read and written now.
    pub is_in_use: bool,
    /// Number of answers.
    pub entries: u64,
    /// Bytes that they take.
    pub used_bytes: u64,
    /// Bytes that they may take.
    pub limit_bytes: u64,
    /// Answers that were read.
    pub hits: u64,
    /// Answers that were written.
    pub written: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Answers that were not worth a write, were there already, or were out of date.
    pub refused: u64,
    /// Answers that came while the disk failed, or faster than it could write.
    pub dropped: u64,
    /// Answers that could not be read, or were not what had been written.
    pub broken: u64,
}

impl DiskReport {
    fn of(proxy: &Proxy) -> Option<Self> {
        let stats = proxy.disk_stats()?;
        Some(Self {
            is_in_use: stats.is_in_use,
            entries: stats.objects,
            used_bytes: stats.bytes,
            limit_bytes: proxy.settings().disk_size.map_or(0, |size| size.0),
            hits: stats.hits,
            written: stats.written,
            written_bytes: stats.written_bytes,
            refused: stats.refused,
            dropped: stats.dropped,
            broken: stats.broken,
        })
    }
}

/// The URLs that matter most, over the last half hour to hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TopReport {
    /// Those whose requests waited most, together.
    pub waits: Vec<TopWait>,
    /// Those with the most requests.
    pub requests: Vec<TopRequests>,
}

/// A URL, and how long its requests waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopWait {
    /// The URL, as far as it is kept.
    pub url: String,
    /// Time that its requests waited together; about, and never more than it was.
    pub wait_ns: u64,
}

/// A URL, and how often it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopRequests {
    /// The URL, as far as it is kept.
    pub url: String,
    /// Requests for it; about, as hits are sampled.
    pub requests: u64,
}

impl Counts {
    pub(super) fn of(totals: &Totals) -> Self {
        let whole = |nanos: Option<f64>| nanos.map(|nanos| nanos.round() as u64);
        Self {
            hits: totals.hits,
            delayed_hits: totals.delayed,
            misses: totals.misses,
            passed: totals.passed,
            sent_bytes: totals.bytes,
            origin_requests: totals.asked,
            origin_failures: totals.failed,
            classical_ns: whole(totals.classical()),
            refined_ns: whole(totals.refined()),
            measured_ns: whole(totals.measured()),
            wait_p50_ns: totals.quantile(0.5),
            wait_p99_ns: totals.quantile(0.99),
        }
    }

    /// Requests that a cache may answer.
    pub fn requests(&self) -> u64 {
        self.hits + self.delayed_hits + self.misses
    }
}

impl Report {
    /// The numbers of a cache that has served for so long.
    pub(super) fn of(proxy: &Proxy, uptime: Nanos) -> Self {
        let (sites, stats, store) = (proxy.sites(), proxy.stats(), &proxy.common().store);
        let totals: Vec<Totals> = sites.all().iter().map(|site| site.tally.totals()).collect();
        let server = |(server, is_up)| ServerReport { server, is_up };
        let of_sites = sites.all().iter().zip(&totals).map(|(site, totals)| SiteReport {
            site: site.settings.name(),
            counts: Counts::of(totals),
            servers: site.origin.servers().map(server).collect(),
        });
        Self {
            uptime_s: uptime.0 / 1_000_000_000,
            all: Counts::of(&totals.iter().sum()),
            sites: of_sites.collect(),
            stored: Stored {
                entries: store.objects.len() as u64,
                used_bytes: store.objects.weight(),
                limit_bytes: store.objects.capacity(),
                evictions: stats.evictions,
                policy: proxy.settings().policy.to_string(),
            },
            disk: DiskReport::of(proxy),
            connections: proxy.connections() as u64,
            advice: stats.advice().to_string(),
        }
    }
}

impl TopReport {
    /// So many URLs of each kind.
    pub(super) fn of(proxy: &Proxy, count: usize, now: Nanos) -> Self {
        let (requests, waits) =
            proxy.common().top.as_ref().map(|top| top.most(count, now)).unwrap_or_default();
        let requests = requests.into_iter().map(|Most { url, weight }| TopRequests { url, requests: weight });
        let waits = waits.into_iter().map(|Most { url, weight }| TopWait { url, wait_ns: weight });
        Self { waits: waits.collect(), requests: requests.collect() }
    }
}
