//! What a quiet tenant waits while the other sends a hundred flows: figure 17.
//!
//! The round trip of questions on one TCP connection, as sockperf asks them. Without limits the other tenant's flows keep the
//! bottleneck's queue full, and the quiet one waits in it; with a limiter per tenant there is no queue.

use std::time::Duration;

use trueplane_linux::testnet::{Dumbbell, Flows, Probe, Transport};
use trueplane_study::Observer;
use trueplane_study::metrics::Distribution;
use trueplane_units::{BitsPerSec, Nanos};

use super::isolation::{halve, network};
use crate::conduct::{Error, step};

/// Time in which the flows fill the queue. The few round trips of this time are counted as well.
const WARMUP: Duration = Duration::from_millis(100);

/// Settings of the latency experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bottleneck's rate.
    pub rate: BitsPerSec,
    /// Longest time that packets wait at the bottleneck.
    pub queue: Duration,
    /// The busy tenant's flows.
    pub flows: u32,
    /// Time for which round trips are measured in each run.
    pub duration: Duration,
}

impl Settings {
    /// 200 Mbit/s, which two busy cores forward with ease, with a queue as many a switch has.
    pub fn new(duration: Duration) -> Self {
        Self {
            rate: BitsPerSec(200_000_000),
            queue: Duration::from_millis(20),
            flows: 100,
            duration: 2 * duration,
        }
    }
}

/// Round-trip times of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Distribution of the round-trip times, in ns.
    pub rtt_ns: Distribution,
}

impl Run {
    /// The time that a share of all round trips does not exceed.
    pub fn quantile(&self, share: f64) -> Nanos {
        Nanos(self.rtt_ns.quantile(share))
    }
}

/// Results of the latency experiment.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The bottleneck's rate.
    pub rate_bps: BitsPerSec,
    /// The busy tenant's flows.
    pub flows: u32,
    /// Run in which the other tenant does not send.
    pub idle: Run,
    /// Run in which the other tenant sends, without limits.
    pub unlimited: Run,
    /// Run in which the other tenant sends, with each limited to half of the bottleneck.
    pub limited: Run,
}

/// Runs all three.
pub fn run(settings: &Settings, observer: &dyn Observer) -> Result<Found, Error> {
    let net = network(settings.rate, settings.queue)?;
    step(observer, "a tenant alone")?;
    let idle = ask(&net, settings.duration / 4)?;
    step(observer, "a quiet tenant beside a busy one, without limits")?;
    let unlimited = ask_beside(&net, settings)?;
    step(observer, "a quiet tenant beside a busy one, with limits")?;
    let limits = halve(&net, settings.rate)?;
    let limited = ask_beside(&net, settings)?;
    drop(limits);
    Ok(Found { rate_bps: settings.rate, flows: settings.flows, idle, unlimited, limited })
}

fn probe(duration: Duration) -> Probe {
    Probe { transport: Transport::Tcp, duration, gap: Duration::from_millis(1) }
}

fn ask(net: &Dumbbell, duration: Duration) -> Result<Run, Error> {
    let report = probe(duration).run(&net.tenants[1], &net.sink)?;
    Ok(Run { rtt_ns: report.rtt_ns })
}

fn ask_beside(net: &Dumbbell, settings: &Settings) -> Result<Run, Error> {
    let flows = Flows::connect(&net.tenants[0], &net.sink, settings.flows as usize, "cubic")?;
    // Its connection stands before there is a queue in which to lose a SYN.
    let probe = probe(WARMUP + settings.duration).start(&net.tenants[1], &net.sink)?;
    let sending = flows.send(WARMUP + settings.duration);
    let report = probe.finish()?;
    sending.finish()?;
    Ok(Run { rtt_ns: report.rtt_ns })
}

/// The quantiles that are told, with what they are called.
pub const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
