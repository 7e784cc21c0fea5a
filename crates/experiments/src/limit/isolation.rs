//! Ten flows of one tenant against a hundred of another, which comes later: figure 16.
//!
//! Both go through one bottleneck. Without limits TCP shares it between flows, and so by one to ten between tenants; with a
//! limiter per tenant, each at half of it, by one to one.

use std::thread;
use std::time::Duration;

use trueplane_limit::classes::Class;
use trueplane_limit::live::{Direction, Mode};
use trueplane_linux::testnet::{Bottleneck, Dumbbell, Flows, Options, Sending};
use trueplane_study::Observer;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::tap::{Admitted, Limits, class_of};
use crate::conduct::{Error, step};

/// Time that each point of the series stands for.
const EVERY: Duration = Duration::from_millis(100);

/// Settings of the isolation experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bottleneck's rate.
    pub rate: BitsPerSec,
    /// Longest time that packets wait at the bottleneck.
    pub queue: Duration,
    /// The flows of the two tenants.
    pub flows: [u32; 2],
    /// The time before the second tenant comes, and half of the time that it stays.
    pub third: Duration,
}

impl Settings {
    /// 200 Mbit/s, which two busy cores forward with ease, and a queue in which each flow has room for some packets.
    pub fn new(duration: Duration) -> Self {
        Self {
            rate: BitsPerSec(200_000_000),
            queue: Duration::from_millis(20),
            flows: [10, 100],
            third: 2 * duration,
        }
    }
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Rate of each tenant behind the bottleneck, by time since the first tenant's start.
    pub series: Vec<(Nanos, [BitsPerSec; 2])>,
    /// Rate of each tenant behind the bottleneck while both sent.
    pub rates: [BitsPerSec; 2],
}

impl Run {
    /// Rate of the second tenant ÷ rate of the first, while both sent.
    pub fn ratio(&self) -> f64 {
        self.rates[1].0 as f64 / self.rates[0].0.max(1) as f64
    }

    /// The share of the first tenant while both sent.
    pub fn share(&self) -> f64 {
        self.rates[0].0 as f64 / self.rates.iter().map(|rate| rate.0).sum::<u64>().max(1) as f64
    }
}

/// Results of the isolation experiment.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The bottleneck's rate.
    pub rate_bps: BitsPerSec,
    /// The flows of the two tenants.
    pub flows: [u32; 2],
    /// Run without limits.
    pub unlimited: Run,
    /// Run with each tenant limited to half of the bottleneck.
    pub limited: Run,
}

/// Runs both.
pub fn run(settings: &Settings, observer: &dyn Observer) -> Result<Found, Error> {
    let net = network(settings.rate, settings.queue)?;
    step(observer, "two tenants without limits")?;
    let unlimited = compete(&net, settings)?;
    step(observer, "two tenants with limits")?;
    let limits = halve(&net, settings.rate)?;
    let limited = compete(&net, settings)?;
    drop(limits);
    Ok(Found { rate_bps: settings.rate, flows: settings.flows, unlimited, limited })
}

/// Two tenants and a bottleneck in front of the sink. A packet is a frame.
pub(super) fn network(rate: BitsPerSec, queue: Duration) -> Result<Dumbbell, Error> {
    let net = Dumbbell::with(2, Options { offloads: false, ..Options::default() })?;
    let bottleneck = Bottleneck { rate, burst: Bytes(16_000), queue: Nanos(queue.as_nanos() as u64) };
    net.router.set_bottleneck(&net.router.toward_sink, bottleneck)?;
    Ok(net)
}

/// Limits each tenant to half of the bottleneck.
pub(super) fn halve(net: &Dumbbell, rate: BitsPerSec) -> Result<Limits, Error> {
    let half = BitsPerSec(rate.0 / 2);
    // Room for the swings of flows that have nothing but loss to go by.
    let burst = Bytes(half.0 / 8 / 50);
    let classes = net.tenants.iter().map(|tenant| Class { burst, ..class_of(tenant, half) }).collect();
    let device = net.router.as_device(&net.router.toward_sink);
    Limits::put(device, classes, Mode::Tc, Direction::Egress)
}

fn compete(net: &Dumbbell, settings: &Settings) -> Result<Run, Error> {
    let [first, second] = [&net.tenants[0], &net.tenants[1]];
    let counts = Limits::count_at(&net.sink, &[first, second])?;
    let third = settings.third;
    let [early, late] = [(first, settings.flows[0]), (second, settings.flows[1])]
        .map(|(tenant, flows)| Flows::connect(tenant, &net.sink, flows as usize, "cubic"));
    let (early, mut late) = (early?, Some(late?));
    let early = early.send(3 * third);
    let start = counts.read()?;
    let mut run = Run::default();
    let mut before = start.clone();
    let mut late_sends = None;
    let mut both_send_since = None;
    loop {
        thread::sleep(EVERY);
        let now = counts.read()?;
        let at = now.at.since(start.at);
        run.series.push((at, [0, 1].map(|tenant| now.since(&before, tenant).rate())));
        before = now;
        let time = Duration::from_nanos(at.0);
        if time + EVERY / 2 >= third
            && let Some(late) = late.take()
        {
            late_sends = Some(late.send(2 * third));
        } else if both_send_since.is_none() && time >= 3 * third / 2 {
            both_send_since = Some(before.clone());
        } else if time + EVERY >= 3 * third {
            break;
        }
    }
    let since = both_send_since.unwrap_or(start);
    run.rates = [0, 1].map(|tenant| Admitted::rate(&before.since(&since, tenant)));
    early.finish()?;
    late_sends.map(Sending::finish).transpose()?;
    Ok(run)
}
