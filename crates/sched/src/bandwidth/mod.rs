//! The study: who gets the line while flows of increasing priority join, figure 11 of the paper.

pub mod found;
mod report;
pub mod verdict;

use rayon::prelude::*;
use trueplane_study::prose::beyond;
use trueplane_study::{Error, Observer};
use trueplane_units::{BitsPerSec, Nanos, Rank};

use crate::Packet;
use crate::options::check_buffer;
use crate::policy::{Adaptation, PushDown};
use crate::port::{Port, Ranks, Tally, go_on};
use crate::rank::PacketMeta;
use crate::scheduler::{Examined, SchedulerName, Settings, Visitor, push_down_name, with_scheduler};
use crate::traffic::cbr::{Cbr, Flows};
use crate::waiting::Tree;
use found::{BINS_PER_STEP, Bandwidth, FlowRun, SchedulerRun};

/// More flows than these are refused: every scheduler has a number for each of them in each of [`BINS_PER_STEP`] parts of as many
/// steps, which is 82,000 with 64 flows.
pub const MOST_FLOWS: u32 = 64;

/// More packets than these, under all schedulers together, are refused: minutes of work.
const MOST_PACKETS: f64 = 2e9;

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The schedulers.
    pub schedulers: Vec<SchedulerName>,
    /// How many flows there are.
    pub flows: u32,
    /// What each sends.
    pub flow_rate: BitsPerSec,
    /// How fast the line sends.
    pub rate: BitsPerSec,
    /// Number of queues.
    pub queues: u64,
    /// Packets that a queue holds.
    pub depth: u64,
    /// How long after each flow the next one starts.
    pub step: Nanos,
    /// The length of a packet.
    pub packet_bytes: u32,
    /// Bytes of every flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// How SP-PIFO pushes down.
    pub push_down: PushDown,
    /// Packets after which the gradient adapts, and over which AIFO and PACKS take their quantiles.
    pub window: usize,
    /// Where draws begin.
    pub seed: u64,
}

impl Options {
    /// How many packets come, about.
    fn packets(&self) -> f64 {
        let flow_steps = f64::from(self.flows) * f64::from(self.flows + 1) / 2.0;
        flow_steps * self.step.0 as f64 / 1e9 * self.flow_rate.0 as f64 / 8.0 / f64::from(self.packet_bytes)
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::Parameters(message));
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            return refuse(format!("expected 1 to {MOST_FLOWS} flows, got {}", self.flows));
        }
        check_buffer(self.queues, self.depth)?;
        if self.rate.0 == 0 || self.flow_rate.0 == 0 || self.packet_bytes == 0 {
            return refuse("expected rates and a length of packets above zero".to_owned());
        }
        if self.step.0 < BINS_PER_STEP {
            return refuse(format!("expected a --step of at least {BINS_PER_STEP}ns, got {}", self.step));
        }
        let packets = self.packets() * self.schedulers.len() as f64;
        if packets > MOST_PACKETS {
            return refuse(format!(
                "expected a --step so short that at most {MOST_PACKETS:.0e} packets come, under all schedulers together; with {} they are {}",
                self.step,
                beyond(packets, MOST_PACKETS)
            ));
        }
        Ok(())
    }
}

/// Starts flow after flow, each of a higher priority than those before it, and sees what each gets of the line.
///
/// Deterministic, whatever the number of threads.
///
/// # Errors
/// If the options make no sense, or the observer interrupts.
pub fn bandwidth(options: &Options, observer: &dyn Observer) -> Result<Bandwidth, Error> {
    options.check()?;
    observer.stage("simulating", (options.packets() * options.schedulers.len() as f64) as u64);
    let schedulers = (options.schedulers.par_iter())
        .map(|&scheduler| measure(options, scheduler, observer))
        .collect::<Result<Vec<_>, _>>()?;
    let mut found = Bandwidth {
        study: "sched.bandwidth",
        version: env!("CARGO_PKG_VERSION"),
        flows: options.flows,
        flow_rate_bps: options.flow_rate.0,
        rate_bps: options.rate.0,
        queues: options.queues,
        depth_packets: options.depth,
        step_ns: options.step.0,
        packet_bytes: options.packet_bytes,
        bytes_per_round: options.bytes_per_round,
        push_down: push_down_name(options.push_down),
        seed: options.seed,
        bin_ns: options.step.0 / BINS_PER_STEP,
        schedulers,
        verdict: Vec::new(),
    };
    found.verdict = verdict::on_bandwidth(&found);
    Ok(found)
}

/// The later a flow starts, the smaller is its rank.
struct Later {
    flows: u64,
}

impl Ranks for Later {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(self.flows - 1 - packet.flow)
    }
}

/// What became of a flow's packets.
#[derive(Clone, Default)]
struct Counts {
    arrivals: u64,
    departures: u64,
    drops: u64,
    /// Bytes that began to be sent in every step and in every bin.
    by_step: Vec<u64>,
    over_time: Vec<u64>,
}

struct ByFlow {
    flows: Vec<Counts>,
    step: u64,
}

impl ByFlow {
    fn new(options: &Options) -> Self {
        let steps = options.flows as usize;
        let counts = Counts {
            by_step: vec![0; steps],
            over_time: vec![0; steps * BINS_PER_STEP as usize],
            ..Counts::default()
        };
        Self { flows: vec![counts; steps], step: options.step.0 }
    }
}

impl<S> Tally<S> for ByFlow {
    fn arrives(&mut self, packet: &Packet) {
        self.flows[packet.flow as usize].arrivals += 1;
    }

    fn drops(&mut self, packet: &Packet) {
        self.flows[packet.flow as usize].drops += 1;
    }

    fn departs(&mut self, packet: &Packet, start: Nanos, _smallest: Option<u64>) {
        let counts = &mut self.flows[packet.flow as usize];
        counts.departures += 1;
        let bytes = u64::from(packet.bytes);
        // What is sent after the last step, as the port drains, belongs to no step.
        if let Some(sum) = counts.by_step.get_mut((start.0 / self.step) as usize) {
            *sum += bytes;
        }
        let bin = u128::from(start.0) * u128::from(BINS_PER_STEP) / u128::from(self.step);
        if let Some(sum) = counts.over_time.get_mut(bin as usize) {
            *sum += bytes;
        }
    }
}

/// Runs the flows through a scheduler.
struct Measuring<'a> {
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl Visitor for Measuring<'_> {
    type Output = ByFlow;

    fn visit<S: Examined>(self, scheduler: S) -> Result<ByFlow, Error> {
        let Self { options, observer } = self;
        let flows = Flows {
            flows: options.flows,
            rate: options.flow_rate,
            step: options.step,
            packet_bytes: options.packet_bytes,
            seed: options.seed,
        };
        let ranks = Later { flows: options.flows.into() };
        let port = Port::new(options.rate, scheduler, Tree::new(options.flows.into()), ByFlow::new(options));
        Ok(port.run(Cbr::new(&flows), ranks, observer)?.0)
    }
}

fn measure(
    options: &Options,
    scheduler: SchedulerName,
    observer: &dyn Observer,
) -> Result<SchedulerRun, Error> {
    // A flow of rank r sends for r + 1 steps.
    let counts: Vec<u64> = (1..=u64::from(options.flows)).collect();
    let settings = Settings {
        queues: options.queues as usize,
        depth: options.depth as usize,
        push_down: options.push_down,
        window: options.window,
        adaptation: Adaptation::OneStep,
        bytes_per_round: options.bytes_per_round,
        counts: Some(&counts),
        optimum: None,
    };
    go_on(observer)?;
    let tally = with_scheduler(scheduler, &settings, Measuring { options, observer })?;
    let flows: Vec<FlowRun> =
        (0..).zip(&tally.flows).map(|(flow, counts)| flow_run(options, flow, counts)).collect();
    let sum = |of: fn(&FlowRun) -> u64| flows.iter().map(of).sum();
    Ok(SchedulerRun {
        scheduler: scheduler.name(),
        arrivals: sum(|flow| flow.arrivals),
        departures: sum(|flow| flow.departures),
        drops: sum(|flow| flow.drops),
        flows,
    })
}

fn flow_run(options: &Options, flow: u32, counts: &Counts) -> FlowRun {
    let rates = |bytes: &[u64], parts: u64| -> Vec<u64> {
        let rate = |&bytes: &u64| {
            let bits = u128::from(bytes) * 8_000_000_000 * u128::from(parts);
            u64::try_from(bits / u128::from(options.step.0)).unwrap_or(u64::MAX)
        };
        bytes.iter().map(rate).collect()
    };
    FlowRun {
        flow,
        rank: u64::from(options.flows - 1 - flow),
        arrivals: counts.arrivals,
        departures: counts.departures,
        drops: counts.drops,
        by_step_bps: rates(&counts.by_step, 1),
        over_time_bps: rates(&counts.over_time, BINS_PER_STEP),
    }
}
