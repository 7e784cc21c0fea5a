//! How full a limiter gets with marks and without: figure 14.
//!
//! One flow of our DCTCP on a path as long as a data centre's. Marked, it holds the bucket near the threshold; unmarked, it has
//! only loss to go by, and fills the bucket until it drops.

use std::thread;
use std::time::Duration;

use trueplane_limit::classes::Class;
use trueplane_limit::live::{Counter, Direction, Mode};
use trueplane_linux::clock;
use trueplane_linux::testnet::{DelayLine, Dumbbell, Iperf, Options};
use trueplane_study::Observer;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::tap::{Limits, class_of};
use crate::conduct::{Error, step, whole_seconds};
use crate::dctcp;

/// Time between two samples of the occupancy.
const EVERY: Duration = Duration::from_millis(1);

/// Settings of the occupancy experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limiter's rate.
    pub rate: BitsPerSec,
    /// Capacity of the limiter's bucket.
    pub burst: Bytes,
    /// The threshold, of the run that has one.
    pub mark: Bytes,
    /// Delay that is added to the round trip between namespaces.
    pub delay: Duration,
    /// Length of each run.
    pub duration: Duration,
}

impl Settings {
    /// The paper's bucket of 1 MB, at 1 Gbit/s and 100 µs.
    pub fn new(duration: Duration) -> Self {
        Self {
            rate: BitsPerSec(1_000_000_000),
            burst: Bytes(1_000_000),
            mark: Bytes(64 << 10),
            delay: Duration::from_micros(100),
            duration: 2 * duration,
        }
    }
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Bytes in the bucket, by time since the flow was started.
    pub series: Vec<(Nanos, Bytes)>,
    /// Counter of the limiter over the run.
    pub counter: Counter,
}

impl Run {
    /// The value that a share of all samples does not exceed.
    pub fn quantile(&self, share: f64) -> Bytes {
        let mut values: Vec<Bytes> = self.series.iter().map(|&(_, value)| value).collect();
        values.sort_unstable();
        let rank = (share * values.len() as f64).ceil() as usize;
        values.get(rank.clamp(1, values.len().max(1)) - 1).copied().unwrap_or_default()
    }
}

/// Results of the occupancy experiment.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The limiter's rate.
    pub rate_bps: BitsPerSec,
    /// Capacity of the limiter's bucket.
    pub burst_bytes: Bytes,
    /// The threshold.
    pub mark_bytes: Bytes,
    /// Run with marks.
    pub marked: Run,
    /// Run without marks.
    pub unmarked: Run,
}

/// Watches both.
pub fn run(settings: &Settings, observer: &dyn Observer) -> Result<Found, Error> {
    let net = Dumbbell::with(1, Options { offloads: false, ..Options::default() })?;
    let _line = DelayLine::new(&net.sink, &net.tenants[0], settings.delay)?;
    step(observer, "a limiter that marks")?;
    let marked = watch(&net, settings, Some(settings.mark))?;
    step(observer, "a limiter that does not mark")?;
    let unmarked = watch(&net, settings, None)?;
    let &Settings { rate, burst, mark, .. } = settings;
    Ok(Found { rate_bps: rate, burst_bytes: burst, mark_bytes: mark, marked, unmarked })
}

fn watch(net: &Dumbbell, settings: &Settings, mark: Option<Bytes>) -> Result<Run, Error> {
    let dctcp = dctcp::shared()?;
    let limit = Class { burst: settings.burst, mark, ..class_of(&net.tenants[0], settings.rate) };
    let device = net.router.as_device(&net.router.toward_sink);
    let limits = Limits::put(device, vec![limit], Mode::Tc, Direction::Egress)?;
    let before = limits.read()?;
    let iperf = Iperf::tcp(whole_seconds(settings.duration)).congestion(dctcp.name());
    let iperf = iperf.start(&net.tenants[0], &net.sink)?;
    let mut series = Vec::new();
    let start = clock::monotonic();
    while clock::monotonic().since(start).0 < settings.duration.as_nanos() as u64 {
        let now = clock::monotonic().since(start);
        series.push((now, limits.attached().occupancy(0)));
        thread::sleep(EVERY);
    }
    let counter = limits.read()?.since(&before, 0).counter;
    iperf.finish()?;
    Ok(Run { series, counter })
}
