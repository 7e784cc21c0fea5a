//! The study: how exactly a limiter enforces its rate against senders that take no notice of it.

pub mod found;
mod report;

use rayon::prelude::*;
use trueplane_study::prose::beyond;
use trueplane_study::{Error, Observer};
use trueplane_units::{BitsPerSec, Bytes, LongTime, Nanos};

use crate::Verdict;
use crate::drain::Drain;
use crate::limiter::{Kept, Settings, Visitor, with_limiter};
use crate::policy::PolicyName;
use crate::source::{Pace, PacketSizes, Source};
use found::{Point, Precision};

/// Measured without `--duration` until the rate yields so many bytes: what lies in a bucket of 150 kB when that begins and ends
/// is then less than 0.06 % of it, and mostly much less.
const MEASURED: Bytes = Bytes(256_000_000);

/// So many times what fills the bucket is offered before anything counts.
const WARMUP: u64 = 2;

/// Packets between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 15;

/// More packets than these in one run are refused: minutes of work each.
const MOST_PACKETS: f64 = 2e10;

/// A bucket that takes longer to fill is refused: half of what a clock of nanoseconds can tell, 292 years.
const LONGEST_WARMUP: Nanos = Nanos(u64::MAX / 2);

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Configured rates.
    pub rates: Vec<BitsPerSec>,
    /// How long packets are.
    pub sizes: PacketSizes,
    /// When they come.
    pub paces: Vec<Pace>,
    /// How much is offered, in millionths of the configured rate.
    pub load: u64,
    /// How Nimble drains; other policies only compute.
    pub drains: Vec<Drain>,
    /// The policies.
    pub policies: Vec<PolicyName>,
    /// What the limiters hold.
    pub burst: Bytes,
    /// How long to measure; none: until 256 MB would have passed.
    pub duration: Option<Nanos>,
    /// Where draws begin.
    pub seed: u64,
}

/// One combination to measure.
#[derive(Clone, Debug)]
struct Case {
    rate: BitsPerSec,
    pace: Pace,
    policy: PolicyName,
    drain: Drain,
}

impl Options {
    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for &policy in &self.policies {
            let drains = if policy == PolicyName::Nimble { &self.drains[..] } else { &[Drain::Exact] };
            for &drain in drains {
                for &pace in &self.paces {
                    cases.extend(self.rates.iter().map(|&rate| Case { rate, pace, policy, drain }));
                }
            }
        }
        cases
    }

    fn offered(&self, rate: BitsPerSec) -> Result<BitsPerSec, Error> {
        let offered = u128::from(rate.0) * u128::from(self.load) / 1_000_000;
        match u64::try_from(offered) {
            Ok(offered @ 1..) => Ok(BitsPerSec(offered)),
            _ => {
                Err(Error::Parameters(format!("a load of {} at {rate} cannot be offered", self.load_ratio())))
            }
        }
    }

    /// Where marking begins: at half of the burst, for all policies that mark.
    fn mark(&self) -> Bytes {
        Bytes(self.burst.0.div_ceil(2))
    }

    fn load_ratio(&self) -> f64 {
        self.load as f64 / 1e6
    }

    /// When measuring begins and ends.
    fn window(&self, rate: BitsPerSec) -> (Nanos, Nanos) {
        let takes = |bytes: u64| {
            let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate.0.max(1));
            Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let fill = u128::from(takes(self.burst.0).0) * 1_000_000 / u128::from(self.surplus());
        let start = Nanos(u64::try_from(fill).unwrap_or(u64::MAX).saturating_mul(WARMUP));
        (start, start.after(self.duration.unwrap_or(takes(MEASURED.0))))
    }

    /// What fills the bucket: what is offered above the rate, in millionths of it.
    fn surplus(&self) -> u64 {
        match self.load.saturating_sub(1_000_000) {
            // The bucket never fills, however long one waits.
            0 => 100_000,
            surplus => surplus,
        }
    }

    /// About how many packets a case is.
    fn packets(&self, rate: BitsPerSec) -> f64 {
        let seconds = self.window(rate).1.0 as f64 / 1e9;
        seconds * rate.0 as f64 * self.load_ratio() / 8.0 / self.sizes.mean()
    }

    fn check(&self) -> Result<(), Error> {
        if Bytes(self.sizes.largest().into()) > self.burst {
            return Err(Error::Parameters(format!(
                "--burst {}B is less than a packet of {} bytes, which would never pass",
                self.burst.0,
                self.sizes.largest()
            )));
        }
        for &rate in &self.rates {
            self.check_warmup(rate)?;
            let packets = self.packets(rate);
            if packets > MOST_PACKETS {
                let (found, most) = (beyond(packets, MOST_PACKETS), format!("{MOST_PACKETS:.0e}"));
                return Err(Error::Parameters(match self.duration {
                    Some(duration) => {
                        format!(
                            "--duration {duration} at {rate} is {found} packets; at most {most} are simulated"
                        )
                    }
                    None => format!(
                        "it takes {found} packets until {MEASURED} have passed at {rate}; at most {most} are simulated: give a --duration, lower --load or send larger packets"
                    ),
                }));
            }
        }
        Ok(())
    }

    /// Whether the bucket is full within what can be simulated.
    fn check_warmup(&self, rate: BitsPerSec) -> Result<(), Error> {
        let bytes = self.burst.0 as f64 * WARMUP as f64 * 1e6 / self.surplus() as f64;
        let (packets, nanos) =
            (bytes * self.load_ratio() / self.sizes.mean(), bytes * 8e9 / rate.0.max(1) as f64);
        let (takes, most) = if packets > MOST_PACKETS {
            (format!("{} packets", beyond(packets, MOST_PACKETS)), format!("{MOST_PACKETS:.0e}"))
        } else if nanos > LONGEST_WARMUP.0 as f64 {
            let (takes, most) = (LongTime(nanos).to_string(), LongTime(LONGEST_WARMUP.0 as f64).to_string());
            // What is just beyond rounds to the limit.
            (if takes == most { format!("more than {most}") } else { takes }, most)
        } else {
            return Ok(());
        };
        Err(Error::Parameters(format!(
            "it takes {takes} at {rate} until a load of {} has filled --burst {}; at most {most} are simulated: raise --load or lower --burst",
            self.load_ratio(),
            self.burst
        )))
    }
}

/// Measures every limiter against every source at every rate.
///
/// Deterministic, whatever the number of threads.
///
/// # Errors
/// If a limiter cannot be configured so, a packet is larger than the burst, or the observer interrupts.
pub fn precision(options: &Options, observer: &dyn Observer) -> Result<Precision, Error> {
    options.check()?;
    let cases = options.cases();
    let total: f64 = cases.iter().map(|case| options.packets(case.rate)).sum();
    observer.stage("simulating", total as u64);
    let points =
        cases.par_iter().map(|case| measure(case, options, observer)).collect::<Result<Vec<_>, _>>()?;
    Ok(Precision {
        study: "limit.precision",
        version: env!("CARGO_PKG_VERSION"),
        packet_bytes: options.sizes.to_string(),
        load: options.load_ratio(),
        burst_bytes: options.burst.0,
        mark_bytes: options.mark().0,
        seed: options.seed,
        verdict: super::verdict::on_precision(&points, options.load_ratio()),
        points,
    })
}

/// Offers the packets of a case to its limiter.
struct Measuring<'a> {
    settings: Settings,
    source: Source,
    window: (Nanos, Nanos),
    observer: &'a dyn Observer,
}

/// What came of it, in packets and bytes by verdict.
#[derive(Default)]
struct Counts {
    packets: [u64; 3],
    bytes: [u64; 3],
}

impl Visitor for Measuring<'_> {
    type Output = Counts;

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Counts, Error> {
        let mut limiter = make(&self.settings)?;
        let (start, end) = self.window;
        let mut counts = Counts::default();
        let mut last = Nanos(0);
        for (packet, (time, bytes)) in (1u64..).zip(self.source) {
            if time >= end {
                break;
            }
            limiter.refresh(last, time);
            last = time;
            let verdict = limiter.offer(bytes, time);
            if time >= start {
                counts.packets[verdict as usize] += 1;
                counts.bytes[verdict as usize] += u64::from(bytes);
            }
            if packet.is_multiple_of(REPORT) {
                self.observer.advance(REPORT);
                if self.observer.interrupted() {
                    return Err(Error::Interrupted);
                }
            }
        }
        Ok(counts)
    }
}

fn measure(case: &Case, options: &Options, observer: &dyn Observer) -> Result<Point, Error> {
    let &Case { rate, pace, policy, drain } = case;
    let offered = options.offered(rate)?;
    let window = options.window(rate);
    let source = Source::new(pace, &options.sizes, offered, (rate, options.burst), options.seed);
    let settings = Settings { rate, burst: options.burst, mark: Some(options.mark()) };
    let Counts { packets, bytes } =
        with_limiter(policy, drain, Measuring { settings, source, window, observer })?;
    let seconds = window.1.since(window.0).0 as f64 / 1e9;
    let per_second = |bytes: u64| bytes as f64 * 8.0 / seconds;
    let let_through = bytes[Verdict::Pass as usize] + bytes[Verdict::Mark as usize];
    let achieved = per_second(let_through);
    Ok(Point {
        policy: policy.name(),
        drain: drain.to_string(),
        drain_error_max: drain.error_max(),
        source: pace.name(),
        rate_configured_bps: rate.0,
        rate_offered_bps: per_second(bytes.iter().sum()),
        rate_achieved_bps: achieved,
        achieved_to_configured: achieved / rate.0 as f64,
        error: achieved / rate.0 as f64 - 1.0,
        duration_ns: window.1.since(window.0).0,
        arrived_packets: packets.iter().sum(),
        passed_packets: packets[Verdict::Pass as usize],
        marked_packets: packets[Verdict::Mark as usize],
        dropped_packets: packets[Verdict::Drop as usize],
    })
}
