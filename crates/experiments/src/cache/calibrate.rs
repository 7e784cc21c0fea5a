//! What a request takes besides the origin's latency: measured of our cache when nothing else is asked of it.

use std::fmt::Display;
use std::time::Duration;

use trueplane_cache::PolicyName;
use trueplane_study::Error;
use trueplane_study::metrics::median;
use trueplane_units::Nanos;

use super::client::Client;
use super::origin::{Origin, Served};
use super::ours::Ours;
use super::predict::Overhead;
use super::workload::Workload;

/// Objects that are asked for.
const PROBES: usize = 64;
/// Hits of each of them.
const HITS: usize = 4;
/// The origin's latency meanwhile.
const LATENCY: Duration = Duration::from_millis(5);
/// Bytes that an object may take besides its body.
const SPARE: u64 = 1 << 16;

/// The error of a server or a client that cannot be started.
pub(super) fn cannot(error: impl Display) -> Error {
    Error::Unfinished(format!("cache experiment: cannot start a server or a client: {error}"))
}

/// Measures all overheads, with bodies as long as those of the workload's requests.
pub(super) fn calibrate(workload: &Workload) -> Result<Overhead, Error> {
    let requests = workload.requests.len();
    let body = |probe: usize| workload.objects[workload.requests[probe * requests / PROBES].object].body;
    let probes: Vec<Served> =
        (0..PROBES).map(|probe| Served { body: body(probe), latency: LATENCY }).collect();
    let memory = probes.iter().map(|probe| probe.body + SPARE).sum();
    let origin = Origin::start(probes.clone()).map_err(cannot)?;
    let cache = Ours::start(origin.address, memory, PolicyName::Lru).map_err(cannot)?;
    let client = Client::new(cache.address).map_err(cannot)?;
    let (mut misses, mut hits, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (index, probe) in probes.iter().enumerate() {
        let used = cache.used();
        misses.push(client.ask(index, probe.body)?.as_nanos() as f64);
        for _ in 0..HITS {
            hits.push(client.ask(index, probe.body)?.as_nanos() as f64);
        }
        weights.push(cache.used().saturating_sub(used + probe.body) as f64);
    }
    let hit = median(&hits);
    let fetch = (median(&misses) - hit - LATENCY.as_nanos() as f64).max(0.0);
    Ok(Overhead { hit: Nanos(hit as u64), fetch: Nanos(fetch as u64), object: median(&weights) as u64 })
}
