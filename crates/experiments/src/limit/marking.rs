//! Where a limiter should mark so that DCTCP neither loses a packet nor leaves the rate unused.
//!
//! What was learnt, and what to configure for a rate and a round trip; BDP is their product:
//!
//! - A limiter is no queue: it delays nothing, so a window of a BDP fills the rate and a larger one exceeds it at once. When a
//!   mark makes the window smaller, nothing stored goes on being sent: the rate stays unused until the window has grown
//!   again, which the bucket's later filling cannot make good. Hence the threshold has to be larger than the BDP ÷ 7 that a
//!   real queue needs: with packets of the wire's size, a flow uses 97% from 1.5 BDP on where the round trip is steady; 3 BDP
//!   leave room for one that is not.
//! - With offloads, a packet before the limiter is up to 64 KB of frames, it is marked as one and acknowledged as few, and
//!   the window swings more widely: one flow alone needs some 6 to 8 BDP for 95%, several flows together no more than without.
//! - The burst has to hold the threshold and what slow start overshoots by: twice the BDP, and the largest offloaded packet
//!   for each flow; 4 to 8 times the threshold is on the safe side, and costs nothing while nobody uses it.
//! - TCP's smallest window is two segments, RFC 5681 §3.1: below rate = flows × 2 × 1514 B ÷ round trip marks hold nobody
//!   back and the bucket fills until it drops. Between namespaces, 20 µs apart, that is 1.2 Gbit/s for a single flow; a
//!   [`DelayLine`] makes the path as long as that of a data centre.
//! - 95% of a limit is nearly all that there is: of a full frame 95.6% are payload ([`PAYLOAD_SHARE`]).
//!
//! [`threshold`] is the first of these rules.

use std::thread;
use std::time::Duration;

use trueplane_limit::classes::Class;
use trueplane_limit::live::{Direction, Mode};
use trueplane_linux::clock;
use trueplane_linux::testnet::{DelayLine, Dumbbell, Iperf, Options, Probe, Transport};
use trueplane_study::Observer;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::tap::{Limits, PAYLOAD_SHARE, class_of};
use crate::conduct::{Error, REST, step, whole_seconds};
use crate::dctcp;

/// Until the window has found its size.
const WARMUP: Duration = Duration::from_millis(400);

/// Marking threshold at which DCTCP uses the rate, for packets of the wire's size: 3 BDP, at least ten frames.
pub fn threshold(rate: BitsPerSec, round_trip: Duration) -> Bytes {
    Bytes((product(rate, round_trip) * 3).max(10 * 1514))
}

/// The bytes that a rate yields within a round trip.
fn product(rate: BitsPerSec, round_trip: Duration) -> u64 {
    u64::try_from(u128::from(rate.0) * round_trip.as_nanos() / 8_000_000_000).unwrap_or(u64::MAX)
}

/// Settings of the marking experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limiter's rate.
    pub rate: BitsPerSec,
    /// Capacity of the limiter's bucket.
    pub burst: Bytes,
    /// Delay that is added to the round trip between namespaces.
    pub delay: Duration,
    /// Marking thresholds to compare: occupancies of the bucket.
    pub marks: Vec<Bytes>,
    /// Numbers of flows.
    pub flows: Vec<u32>,
    /// Variants to measure: true with offloads, false without.
    pub offloads: Vec<bool>,
    /// Length of each measurement.
    pub duration: Duration,
}

impl Settings {
    /// 1 Gbit/s on a path of 100 µs more than none.
    pub fn new(duration: Duration) -> Self {
        Self {
            rate: BitsPerSec(1_000_000_000),
            burst: Bytes(1 << 20),
            delay: Duration::from_micros(100),
            marks: [8, 32, 128].map(|kib| Bytes(kib << 10)).to_vec(),
            flows: vec![1, 4],
            offloads: vec![false, true],
            duration,
        }
    }
}

/// One threshold for so many flows.
#[derive(Clone, Debug)]
pub struct Point {
    /// Whether a packet may be many frames.
    pub offloads: bool,
    /// Number of flows.
    pub flows: u32,
    /// The threshold.
    pub mark_bytes: Bytes,
    /// Rate of frames that the limiter admitted, once the window had found its size.
    pub admitted_bps: BitsPerSec,
    /// Rate of payload that programs received, over the whole run.
    pub goodput_bps: BitsPerSec,
    /// Bytes marked ÷ bytes arrived.
    pub marked_share: f64,
    /// Packets dropped, over the whole run.
    pub dropped_packets: u64,
    /// Segments sent again, over the whole run.
    pub retransmits: u64,
    /// The median of the occupancy.
    pub occupancy_p50_bytes: Bytes,
    /// Its maximum, as far as seen.
    pub occupancy_max_bytes: Bytes,
}

/// Results of the marking experiment.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The limiter's rate.
    pub rate_bps: BitsPerSec,
    /// Capacity of the limiter's bucket.
    pub burst_bytes: Bytes,
    /// The round trip of the path while nothing else was on it.
    pub round_trip_ns: Nanos,
    /// Measurements, in their order.
    pub points: Vec<Point>,
}

impl Found {
    /// Frames admitted ÷ configured.
    pub fn used(&self, point: &Point) -> f64 {
        point.admitted_bps.0 as f64 / self.rate_bps.0 as f64
    }

    /// Payload delivered ÷ configured, which counts headers: at most [`PAYLOAD_SHARE`].
    pub fn goodput(&self, point: &Point) -> f64 {
        point.goodput_bps.0 as f64 / self.rate_bps.0 as f64
    }

    /// Payload delivered ÷ the payload that full frames at the configured rate carry.
    pub fn goodput_of_payload(&self, point: &Point) -> f64 {
        self.goodput(point) / PAYLOAD_SHARE
    }
}

/// Measures every threshold with all numbers of flows.
pub fn run(settings: &Settings, observer: &dyn Observer) -> Result<Found, Error> {
    let mut found = Found { rate_bps: settings.rate, burst_bytes: settings.burst, ..Found::default() };
    for &offloads in &settings.offloads {
        let net = Dumbbell::with(1, Options { offloads, ..Options::default() })?;
        let _line = DelayLine::new(&net.sink, &net.tenants[0], settings.delay)?;
        found.round_trip_ns = round_trip(&net)?;
        for &flows in &settings.flows {
            for &mark in &settings.marks {
                let packets = if offloads { "offloaded packets" } else { "frames" };
                step(observer, &format!("{flows} flows of DCTCP in {packets}, marked above {mark}"))?;
                let limit = Class {
                    burst: settings.burst,
                    mark: Some(mark),
                    ..class_of(&net.tenants[0], settings.rate)
                };
                let point = measure(&net, limit, flows, settings.duration)?;
                found.points.push(Point { offloads, ..point });
            }
        }
    }
    Ok(found)
}

/// The median round trip of a path that nobody else uses.
pub(super) fn round_trip(net: &Dumbbell) -> Result<Nanos, Error> {
    let probe = Probe {
        transport: Transport::Udp,
        duration: Duration::from_millis(60),
        gap: Duration::from_micros(200),
    };
    Ok(Nanos(probe.run(&net.tenants[0], &net.sink)?.rtt_ns.quantile(0.5)))
}

/// DCTCP through one limiter.
fn measure(net: &Dumbbell, limit: Class, flows: u32, duration: Duration) -> Result<Point, Error> {
    let dctcp = dctcp::shared()?;
    let mark_bytes = limit.mark.unwrap_or_default();
    let device = net.router.as_device(&net.router.toward_sink);
    let limits = Limits::put(device, vec![limit], Mode::Tc, Direction::Egress)?;
    let start = limits.read()?;
    let iperf = Iperf::tcp(whole_seconds(WARMUP + duration + REST)).flows(flows).congestion(dctcp.name());
    let iperf = iperf.start(&net.tenants[0], &net.sink)?;
    thread::sleep(WARMUP);
    let before = limits.read()?;
    let mut occupancies = Vec::new();
    while clock::monotonic().since(before.at).0 < duration.as_nanos() as u64 {
        occupancies.push(limits.attached().occupancy(0));
        thread::sleep(Duration::from_millis(1));
    }
    let admitted = limits.read()?.since(&before, 0);
    let report = iperf.finish()?;
    let all = limits.read()?.since(&start, 0).counter;
    occupancies.sort_unstable();
    Ok(Point {
        offloads: false,
        flows,
        mark_bytes,
        admitted_bps: admitted.rate(),
        goodput_bps: report.goodput,
        marked_share: all.marked_bytes as f64 / all.arrived_bytes().max(1) as f64,
        dropped_packets: all.dropped_packets,
        retransmits: report.retransmits,
        occupancy_p50_bytes: occupancies.get(occupancies.len() / 2).copied().unwrap_or_default(),
        occupancy_max_bytes: occupancies.last().copied().unwrap_or_default(),
    })
}
