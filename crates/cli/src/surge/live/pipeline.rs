//! `trueplane surge pipeline`

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trueplane_study::{Error, Observer as _};
use trueplane_surge::Packet;
use trueplane_surge::live::compare as live;
use trueplane_surge::live::compare::compare;
use trueplane_surge::live::document::Compare;
use trueplane_surge::live::options::{Options, Queue};
use trueplane_surge::live::pipeline::Settings;
use trueplane_surge::live::pipeline::service::{Really, Spin, Work, measure};
use trueplane_surge::live::pipeline::tally::{Class, Task};
use trueplane_surge::live::pipeline::traffic::MOST_PACKETS;
#[cfg(feature = "pcre2")]
use trueplane_surge::matching::engine::Pcre2;
use trueplane_surge::matching::engine::{Backtracking, Engine, Linear, STEP_LIMIT};
use trueplane_surge::matching::{Costs, Matcher, Rules, Search, search};
use trueplane_surge::rate::{Rate, Sweep};
use trueplane_surge::segments::{Segments, Wanted};
use trueplane_surge::traffic::{Load, Offered};
use trueplane_surge::workload::Workload;
use trueplane_surge::workload::iid::{Distribution, Iid};
use trueplane_surge::workload::size::Size;
use trueplane_trace::{Trace, TraceError};
use trueplane_units::{BitsPerSec, Nanos, scale_share};

use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reading::OrderArgs;
use crate::values::{NameList, Named, count, named, time};
use crate::watch::Watch;

/// So many different packets are drawn; they are sent round and round.
const DRAWN: u64 = 1 << 13;

/// A real packet is matched so often to know what it takes; the quickest counts.
const TRIES: u32 = 3;

/// Run a scheduler and a worker on two cores under flood, and measure the goodput that each queue leaves: figure 3.20.
///
/// Packets come by the clock into a receive ring, as from a network card. One thread schedules them, least work per bit first, out of a
/// bounded buffer; another works on one after the other. heap finds only the best packet, and drops newcomers when it is full;
/// two-ended also finds the worst, by comparing; ffs does in constant time, by the first set bit; fcfs is first come, first served.
///
/// Without WORKLOAD a job passes the time that its packet says. With match:FILE --rules FILE the worker matches the payloads of a capture
/// against rules, and the attacker sends the packet with the most work per bit that a search finds for them.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane surge pipeline [WORKLOAD] [OPTIONS]",
    next_help_heading = "Pipeline",
    after_help = "\
Examples:
  trueplane surge pipeline --report out
  trueplane surge pipeline --queues heap,ffs --attack-rate 10Mbps..1Gbps:5 --duration 1s --json
  trueplane surge pipeline match:web.pcap --rules web.rules --attack-rate 10Mbps --innocent 80%"
)]
pub(crate) struct Args {
    /// What the worker works on: match:FILE, a capture [default: nothing, it passes the time]
    #[arg(value_name = "WORKLOAD", help_heading = None)]
    workload: Option<Workload>,

    /// Queues: heap, two-ended, ffs, fcfs, or all
    #[arg(long, value_name = "LIST", default_value = "all")]
    queues: NameList<Queue>,

    /// Packets of users: their mean size
    #[arg(long, value_name = "SIZE", default_value = "1250B", conflicts_with = "workload")]
    packet: Size,

    /// Packets of users: their mean job
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = time, conflicts_with = "workload")]
    job: Nanos,

    /// Packets of users: the standard deviation of sizes and jobs, of their means; up to 50%
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = spread, conflicts_with = "workload")]
    spread: Share,

    /// The largest job, which all packets of the attacker have
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = time, conflicts_with = "workload")]
    largest_job: Nanos,

    /// How fast users send: a rate such as 9Gbps, or a share of r_max, what the worker can serve of them
    #[arg(long, value_name = "RATE", default_value = "90%")]
    innocent: Rate,

    /// How fast the attacker sends: rates such as 10Mbps, shares of r_max such as 5%, or sweeps with even ratios such as 1Mbps..5Gbps:9
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1Mbps..5Gbps")]
    attack_rate: Vec<Sweep>,

    /// The size of the attacker's packets
    #[arg(long, value_name = "SIZE", default_value = "64B", conflicts_with = "workload")]
    attack_packet: Size,

    /// Packets that may wait
    #[arg(long, value_name = "PACKETS", default_value = "1024", value_parser = packets)]
    buffer: usize,

    /// Descriptors of the receive ring
    #[arg(long, value_name = "PACKETS", default_value = "1024", value_parser = packets)]
    ring: usize,

    /// Packets that are chosen before the worker is done with the last; 1 to 64
    #[arg(long, value_name = "PACKETS", default_value = "1", value_parser = packets)]
    depth: usize,

    /// How long to measure each queue at each rate
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = time)]
    duration: Nanos,

    /// How long to wait before, until the buffer is as full as it will be [default: a third of --duration]
    #[arg(long, value_name = "TIME")]
    warmup: Option<Nanos>,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    matching: Matching,

    #[command(flatten)]
    reading: OrderArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// Real work.
#[derive(clap::Args)]
#[command(next_help_heading = "Matching")]
struct Matching {
    /// For match: the rules, a subset of the syntax of Suricata and Snort
    #[arg(long, value_name = "FILE", requires = "workload")]
    rules: Option<PathBuf>,

    /// For match: what tries regular expressions: backtracking, for which the attack is searched, linear, or pcre2 (in builds with
    /// the feature of that name)
    #[arg(long, value_name = "NAME", default_value = "backtracking", value_parser = named::<Tries>)]
    engine: Tries,
}

/// What tries regular expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tries {
    #[cfg(feature = "pcre2")]
    Pcre2,
    Backtracking,
    Linear,
}

impl Named for Tries {
    const WHAT: &'static str = "engine";
    const NAMES: &'static [(&'static str, Self)] = &[
        #[cfg(feature = "pcre2")]
        ("pcre2", Tries::Pcre2),
        ("backtracking", Tries::Backtracking),
        ("linear", Tries::Linear),
    ];
}

impl Named for Queue {
    const WHAT: &'static str = "queue";
    const NAMES: &'static [(&'static str, Self)] = &Queue::NAMES;
}

/// A share in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share(u64);

impl Share {
    fn of(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0) / 1_000_000) as u64
    }
}

fn spread(text: &str) -> Result<Share, String> {
    let millionths = scale_share(text, 1_000_000);
    let share = millionths.filter(|share| *share <= 500_000).map(Share);
    share.ok_or_else(|| format!("expected a share from 0% to 50%, got \"{text}\""))
}

fn packets(text: &str) -> Result<usize, String> {
    let packets = count(text)?;
    usize::try_from(packets).map_err(|_| format!("expected fewer packets, got {text}"))
}

/// A bar of runs.
struct Bar<'w>(&'w Watch);

impl live::Observer for Bar<'_> {
    fn begin(&self, runs: u64) {
        self.0.stage("measuring", runs);
    }

    fn advance(&self) {
        self.0.advance(1);
    }

    fn interrupted(&self) -> &AtomicBool {
        self.0.interrupted_flag()
    }
}

fn failure(error: trueplane_surge::live::Error) -> Failure {
    match error {
        trueplane_surge::live::Error::Live(error) => error.into(),
        trueplane_surge::live::Error::Interrupted => Error::Interrupted.into(),
    }
}

/// What is worked on.
struct Offer {
    workload: String,
    is_real: bool,
    innocent: Vec<Packet>,
    attack: Packet,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        if let (Some(flag), None) = (self.reading.given(), &self.workload) {
            return Err(Failure::input(format!("{flag} is for captures, and there is no match:FILE")));
        }
        let found = match (&self.workload, &self.matching.rules) {
            (None, _) => self.emulated(&Watch::start()?)?,
            (Some(Workload::Match(capture)), Some(rules)) => {
                let watch = Watch::start()?;
                match self.matching.engine {
                    #[cfg(feature = "pcre2")]
                    Tries::Pcre2 => self.matched::<Pcre2>(capture, rules, &watch)?,
                    Tries::Backtracking => self.matched::<Backtracking>(capture, rules, &watch)?,
                    Tries::Linear => self.matched::<Linear>(capture, rules, &watch)?,
                }
            }
            (Some(Workload::Match(_)), None) => {
                return Err(Failure::input("match:… needs rules: name their file with --rules"));
            }
            (Some(_), _) => {
                return Err(Failure::input(
                    "expected match:FILE, or no workload for jobs that pass the time",
                ));
            }
        };
        self.output.emit(&found.report())
    }

    /// Jobs that pass the time.
    fn emulated(&self, watch: &Watch) -> Result<Compare, Failure> {
        if self.job > self.largest_job {
            return Err(Failure::input(format!(
                "expected a --largest-job of {} or more, as users have on average, got {}",
                self.job, self.largest_job
            )));
        }
        let drawn = |mean: u64| match self.spread.of(mean) {
            0 => Distribution::Constant(mean),
            deviation => Distribution::Normal(mean, deviation),
        };
        let (size, job) = (drawn(self.packet.bits().into()), drawn(self.job.0));
        let iid = Iid { size, job, packets: DRAWN, flows: 1 };
        let packet = |offered: Offered<()>| {
            let work = match offered.load {
                Load::Given { job, .. } => job.min(self.largest_job),
                Load::Real(()) => self.job,
            };
            Packet { flow: offered.flow, bits: offered.bits, work }
        };
        let offer = Offer {
            workload: "jobs that pass the time".to_owned(),
            is_real: false,
            innocent: iid.draw(self.seed).into_iter().map(packet).collect(),
            attack: Packet { flow: 1, bits: self.attack_packet.bits(), work: self.largest_job },
        };
        self.compared(offer, || Spin, watch)
    }

    /// Payloads that are matched against rules.
    fn matched<E: Engine>(&self, capture: &Path, rules: &Path, watch: &Watch) -> Result<Compare, Failure> {
        let name = rules.display().to_string();
        let text = std::fs::read(rules)
            .map_err(|source| Error::from(TraceError::Io { trace: name.clone(), source }))?;
        let rules = Rules::parse(&name, &text).map_err(Error::from)?;
        let trace = Trace::open(capture, &self.reading.capture()).map_err(Error::from)?;
        let wanted = Wanted { packets: MOST_PACKETS as u64, ..Wanted::default() };
        let segments = Segments::read(&trace, &wanted, watch)?;
        let matcher = Matcher::<E>::new(&rules, STEP_LIMIT).map_err(Error::from)?;
        // The search counts steps, and so is for the engine that does. Another may find the packet harmless, as PCRE2 does a payload that
        // lacks a character which every match would have to have; what it really takes is measured below, and told.
        let counting = Matcher::<Backtracking>::new(&rules, STEP_LIMIT).map_err(Error::from)?;
        let attempts = Search { seed: self.seed, ..Search::default() };
        let worst = search(&rules, &counting, &Costs::default(), &attempts, watch)?;

        watch.stage("matching", segments.all().len() as u64);
        let mut scratch = Default::default();
        let mut took = |payload: &[u8]| {
            measure(TRIES, || {
                black_box(matcher.matches(payload, &mut scratch));
            })
        };
        let mut innocent = Vec::with_capacity(segments.all().len());
        for segment in segments.all() {
            let work = took(segments.payload(segment));
            innocent.push(Packet { flow: segment.flow, bits: segment.bits, work });
            watch.advance(1);
            if watch.interrupted() {
                return Err(Error::Interrupted.into());
            }
        }
        let work = took(&worst.payload);
        let workload = format!("matching {} against {name} with {}", segments.name(), self.engine());
        let attack = Packet { flow: u64::MAX, bits: worst.bits, work };
        let worker = || {
            let mut scratch = Default::default();
            let (matcher, segments, worst) = (&matcher, &segments, &worst.payload);
            Really(move |task: &Task| {
                let payload = match task.ticket.class() {
                    Class::Innocent => segments.payload(&segments.all()[task.ticket.index()]),
                    Class::Attack => worst,
                };
                black_box(matcher.matches(payload, &mut scratch));
            })
        };
        self.compared(Offer { workload, is_real: true, innocent, attack }, worker, watch)
    }

    /// The name of the engine.
    fn engine(&self) -> &'static str {
        let engine = self.matching.engine;
        Tries::NAMES.iter().find(|(_, other)| *other == engine).map_or("", |(name, _)| name)
    }

    fn compared<W: Work + Send>(
        &self,
        offer: Offer,
        worker: impl Fn() -> W,
        watch: &Watch,
    ) -> Result<Compare, Failure> {
        let mut options = Options {
            workload: offer.workload,
            is_real: offer.is_real,
            queues: self.queues.0.clone(),
            innocent: Arc::from(offer.innocent),
            innocent_rate: BitsPerSec(0),
            attack: offer.attack,
            attack_rates: Vec::new(),
            buffer: self.buffer,
            settings: Settings {
                ring: self.ring,
                depth: self.depth,
                warm_up: self.warmup.unwrap_or(Nanos(self.duration.0 / 3)),
                duration: self.duration,
                pin: true,
            },
            seed: self.seed,
        };
        let most = options.most_rate() / 1e9;
        options.innocent_rate = self.innocent.resolve(most, None)?;
        for sweep in &self.attack_rate {
            options.attack_rates.extend(sweep.resolve(most)?);
        }
        options.attack_rates.sort_unstable();
        options.attack_rates.dedup();
        let found = compare(&options, worker, &Bar(watch)).map_err(failure);
        watch.finish();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_shares() {
        assert_eq!(
            [spread("10%"), spread("0%"), spread("0.5%")],
            [Ok(Share(100_000)), Ok(Share(0)), Ok(Share(5_000))]
        );
        assert!(["", "10", "51%", "-1%", "x%"].iter().all(|bad| spread(bad).is_err()));
        assert_eq!(Share(100_000).of(10_000), 1_000);
    }
}
