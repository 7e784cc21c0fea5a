//! What rate passes a limiter: ours, and `tc`'s token bucket filter and hierarchical token bucket in the same run.
//!
//! UDP is offered at more than the rate, and TCP takes what it can get. Measured is between two instants while the bucket is
//! full, so that the burst at the beginning is left aside; by the limiter's own counters and, behind it, at the receiver. All
//! rates are of frames with their Ethernet headers, which is what all three limiters count.

use std::thread;
use std::time::Duration;

use trueplane_limit::classes::Class;
use trueplane_limit::live::{Direction, Mode};
use trueplane_linux::testnet::{Bottleneck, DelayLine, Dumbbell, Iperf, Options, Paced, Sink};
use trueplane_study::Observer;
use trueplane_units::{BitsPerSec, Bytes, Nanos, choices};

use super::tap::{Both, Limits, class_of, watch};
use crate::conduct::{Error, LeftOut, REST, step, whole_seconds};
use crate::dctcp;

/// Time for which the full rate may pass at once. It is longer than a busy machine keeps the sender from running; otherwise the bucket
/// would run empty and the rate would not be used, which is not the limiter's doing.
const BURST: Duration = Duration::from_millis(20);

/// Until the bucket is full.
const WARMUP: Duration = Duration::from_millis(120);

/// Until TCP has found its window.
const WARMUP_TCP: Duration = Duration::from_millis(400);

/// Less than so much more than the rate is no test of the limiter.
const LEAST_LOAD: f64 = 1.15;

/// Packets within a measurement, so that one more or less makes no difference.
const LEAST_PACKETS: u64 = 2000;

/// Delay that is added to the round trip of TCP's path, so that a window of ten frames or more yields the rate. With a window of less
/// than two, TCP would not obey marks; see [`super::marking`].
fn delay(rate: BitsPerSec) -> Duration {
    Duration::from_nanos(10 * 1514 * 8_000_000_000 / rate.0.max(1)).max(Duration::from_micros(100))
}

/// About what a round trip takes without that, while packets go.
const PATH: Duration = Duration::from_micros(100);

/// Settings of the precision experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rates for UDP, in increasing order; after the first one that cannot be offered, the others are left out.
    pub udp_rates: Vec<BitsPerSec>,
    /// Rates for TCP.
    pub tcp_rates: Vec<BitsPerSec>,
    /// Length of each measurement.
    pub duration: Duration,
}

impl Settings {
    /// Rates from 1 Mbit/s to more than one sender can offer.
    pub fn new(duration: Duration) -> Self {
        let rates = |megabits: &[u64]| megabits.iter().map(|rate| BitsPerSec(rate * 1_000_000)).collect();
        Self { udp_rates: rates(&[1, 10, 100, 1000, 3000]), tcp_rates: rates(&[100, 1000]), duration }
    }
}

choices! {
    /// A limiter that is compared.
    pub enum Limiter {
        /// Nimble, which is ours.
        Nimble = "nimble",
        /// Token bucket filter.
        Tbf = "tc tbf",
        /// Hierarchical token bucket, with one class.
        Htb = "tc htb",
    }
}

choices! {
    /// A sender whose traffic is limited.
    pub enum Source {
        /// UDP at a constant rate, whether or not packets are lost.
        Udp = "UDP",
        /// One flow that obeys loss.
        Cubic = "TCP cubic",
        /// One flow that obeys marks: our DCTCP.
        Dctcp = "TCP tp_dctcp",
    }
}

/// One limiter at one rate.
#[derive(Clone, Debug)]
pub struct Point {
    /// Sender of the traffic.
    pub source: Source,
    /// Limiter that the traffic passes.
    pub limiter: Limiter,
    /// Rate to which the limiter was set.
    pub rate_configured_bps: BitsPerSec,
    /// Rate of frames offered to the limiter, if it counts them.
    pub offered_bps: Option<BitsPerSec>,
    /// Rate of frames that the limiter admitted by its own counters, if it has any.
    pub admitted_bps: Option<BitsPerSec>,
    /// Rate of frames that arrived at the receiver.
    pub received_bps: BitsPerSec,
    /// Frames that it dropped.
    pub dropped_packets: Option<u64>,
    /// Frames' bytes.
    pub frame_bytes: Bytes,
}

impl Point {
    /// Admitted ÷ configured, or where the limiter does not tell, received ÷ configured.
    pub fn achieved(&self) -> f64 {
        self.admitted_bps.unwrap_or(self.received_bps).0 as f64 / self.rate_configured_bps.0 as f64
    }

    /// Received ÷ configured.
    pub fn received(&self) -> f64 {
        self.received_bps.0 as f64 / self.rate_configured_bps.0 as f64
    }
}

/// Results of the precision experiment.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Measurements, in their order.
    pub points: Vec<Point>,
    /// Measurements that were left out.
    pub left_out: Vec<LeftOut>,
}

/// Measures all limiters with all sources at all rates.
pub fn run(settings: &Settings, observer: &dyn Observer) -> Result<Found, Error> {
    let mut found = Found::default();
    // Without offloads a packet is a frame, and headers are counted alike everywhere.
    let net = Dumbbell::with(1, Options { offloads: false, ..Options::default() })?;
    let bed = Bed { counts: Limits::count_at(&net.sink, &[&net.tenants[0]])?, net: &net };
    for (index, &rate) in settings.udp_rates.iter().enumerate() {
        if !bed.udp(rate, settings.duration, observer, &mut found)? {
            let rest = settings.udp_rates[index..].iter().map(ToString::to_string).collect::<Vec<_>>();
            found.left_out.push(LeftOut {
                what: format!("UDP at {}", rest.join(", ")),
                reason: "more than this machine's sender offers now".to_owned(),
            });
            break;
        }
    }
    for &rate in &settings.tcp_rates {
        let _line = DelayLine::new(&net.sink, &net.tenants[0], delay(rate))?;
        bed.tcp(rate, settings.duration, observer, &mut found)?;
    }
    Ok(found)
}

/// The network, and what counts at its end.
struct Bed<'a> {
    counts: Limits,
    net: &'a Dumbbell,
}

impl Bed<'_> {
    /// Returns whether the rate could be exceeded.
    fn udp(
        &self,
        rate: BitsPerSec,
        duration: Duration,
        observer: &dyn Observer,
        found: &mut Found,
    ) -> Result<bool, Error> {
        let load = if rate.0 <= 100_000_000 { 2.0 } else { 1.5 };
        let bytes = BURST.max(duration).as_secs_f64() * rate.0 as f64 / 8.0;
        let frame = Bytes((bytes as u64 / LEAST_PACKETS).clamp(64, 1514));
        let paced =
            Paced { rate: BitsPerSec((rate.0 as f64 * load) as u64), frame, duration: 2 * WARMUP + duration };
        for &limiter in Limiter::ALL {
            step(observer, &format!("UDP through {limiter} at {rate}"))?;
            // A machine that is busy with other things for a moment gets a second chance.
            let once = || self.offer(&paced, limiter, rate, duration);
            let (mut offered, mut both) = once()?;
            if !is_enough(offered, rate) {
                (offered, both) = once()?;
            }
            if !is_enough(offered, rate) {
                // Ours is the first, and the cheapest: where it is not offered enough, higher rates will not be either.
                if limiter == Limiter::Nimble {
                    return Ok(false);
                }
                found.left_out.push(LeftOut {
                    what: format!("UDP through {limiter} at {rate}"),
                    reason: format!("it slows the sender to {offered}"),
                });
                continue;
            }
            found.points.push(point(Source::Udp, limiter, rate, frame, &both));
        }
        Ok(true)
    }

    /// Offers traffic to a limiter and measures what passes.
    fn offer(
        &self,
        paced: &Paced,
        limiter: Limiter,
        rate: BitsPerSec,
        duration: Duration,
    ) -> Result<(BitsPerSec, Both), Error> {
        let class = class_of(&self.net.tenants[0], rate);
        let limits = self.limit(limiter, rate, class, Mode::Xdp)?;
        let sink = Sink::listen(&self.net.sink, (self.net.sink.v4, 0).into())?;
        let sender = paced.start(&self.net.tenants[0], sink.address())?;
        thread::sleep(WARMUP);
        let both = watch(limits.as_ref(), &self.counts, duration)?;
        let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        sink.stop()?;
        let offered = both.limiter.map_or(sent.rate(), |admitted| admitted.offered());
        Ok((offered, both))
    }

    fn tcp(
        &self,
        rate: BitsPerSec,
        duration: Duration,
        observer: &dyn Observer,
        found: &mut Found,
    ) -> Result<(), Error> {
        let dctcp = dctcp::shared()?;
        let [tenant, sink] = [&self.net.tenants[0], &self.net.sink];
        let cases = [
            (Source::Cubic, Limiter::Nimble),
            (Source::Dctcp, Limiter::Nimble),
            (Source::Cubic, Limiter::Tbf),
            (Source::Cubic, Limiter::Htb),
        ];
        for (source, limiter) in cases {
            step(observer, &format!("{source} through {limiter} at {rate}"))?;
            let mut class = class_of(tenant, rate);
            class.mark =
                (source == Source::Dctcp).then(|| super::marking::threshold(rate, delay(rate) + PATH));
            let limits = self.limit(limiter, rate, class, Mode::Tc)?;
            let control = if source == Source::Dctcp { dctcp.name() } else { "cubic" };
            let iperf = Iperf::tcp(whole_seconds(WARMUP_TCP + duration + REST))
                .congestion(control)
                .start(tenant, sink)?;
            thread::sleep(WARMUP_TCP);
            let both = watch(limits.as_ref(), &self.counts, duration)?;
            iperf.finish()?;
            found.points.push(point(source, limiter, rate, Bytes(1514), &both));
        }
        Ok(())
    }

    /// Limits what goes to the sink, in one way or another.
    fn limit(
        &self,
        limiter: Limiter,
        rate: BitsPerSec,
        class: Class,
        mode: Mode,
    ) -> Result<Option<Limits>, Error> {
        let router = &self.net.router;
        let burst = Bytes((BURST.as_secs_f64() * rate.0 as f64 / 8.0) as u64).max(Bytes(2 * 1514));
        // What was there before goes.
        let _ = router.ns.output(&["tc", "qdisc", "delete", "dev", &router.toward_sink, "root"]);
        match limiter {
            Limiter::Nimble => {
                let class = Class { burst, ..class };
                let (device, direction) = match mode {
                    Mode::Xdp => (&router.toward_tenants[0], Direction::Ingress),
                    Mode::Tc => (&router.toward_sink, Direction::Egress),
                };
                return Limits::put(router.as_device(device), vec![class], mode, direction).map(Some);
            }
            Limiter::Tbf => {
                let queue = Nanos(BURST.as_nanos() as u64);
                router.set_bottleneck(&router.toward_sink, Bottleneck { rate, burst, queue })?;
            }
            Limiter::Htb => {
                let [rate, burst] = [format!("{}bit", rate.0), format!("{}b", burst.0)];
                let device = &router.toward_sink;
                let root =
                    ["tc", "qdisc", "add", "dev", device, "root", "handle", "1:", "htb", "default", "1"];
                router.ns.output(&root)?;
                let class = ["tc", "class", "add", "dev", device, "parent", "1:", "classid", "1:1", "htb"];
                router
                    .ns
                    .output(&[&class[..], &["rate", &rate, "burst", &burst, "cburst", &burst]].concat())?;
            }
        }
        Ok(None)
    }
}

fn is_enough(offered: BitsPerSec, rate: BitsPerSec) -> bool {
    offered.0 as f64 >= rate.0 as f64 * LEAST_LOAD
}

fn point(source: Source, limiter: Limiter, rate: BitsPerSec, frame: Bytes, both: &Both) -> Point {
    Point {
        source,
        limiter,
        rate_configured_bps: rate,
        offered_bps: both.limiter.map(|admitted| admitted.offered()),
        admitted_bps: both.limiter.map(|admitted| admitted.rate()),
        received_bps: both.received.rate(),
        dropped_packets: both.limiter.map(|admitted| admitted.counter.dropped_packets),
        frame_bytes: frame,
    }
}
