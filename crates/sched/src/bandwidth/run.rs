//! Runs flow after flow through every scheduler.

use trueplane_study::{Error, Observer, cases};
use trueplane_units::{BitsPerSec, Nanos, Rank};

use super::found::{FlowRun, SchedulerRun};
use super::options::{BINS_PER_STEP, Options};
use crate::Packet;
use crate::policy::{Adaptation, SchedulerName};
use crate::port::{Port, Ranks, Tally};
use crate::rank::PacketMeta;
use crate::scheduler::{Examined, Settings, Visitor, with_scheduler};
use crate::traffic::cbr::{Cbr, Flows};
use crate::waiting::Tree;

/// Starts flow after flow, each of a higher priority than those before it, and counts what each gets of the line under each scheduler.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<SchedulerRun>, Error> {
    options.check()?;
    observer.stage("simulating", options.packets() as u64);
    cases::over(&options.policies, observer, |&scheduler| measure(options, scheduler, observer))
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

/// Packets of a flow, by what became of them.
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
        let steps = *options.flows as usize;
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
            flows: *options.flows,
            rate: *options.flow_rate,
            step: *options.step,
            packet_bytes: *options.packet_size,
            seed: options.seed,
        };
        let ranks = Later { flows: u64::from(*options.flows) };
        let port =
            Port::new(*options.rate, scheduler, Tree::new(u64::from(*options.flows)), ByFlow::new(options));
        Ok(port.run(Cbr::new(&flows), ranks, observer)?.0)
    }
}

fn measure(
    options: &Options,
    scheduler: SchedulerName,
    observer: &dyn Observer,
) -> Result<SchedulerRun, Error> {
    // A flow of rank r sends for r + 1 steps.
    let counts: Vec<u64> = (1..=u64::from(*options.flows)).collect();
    let settings = Settings {
        queues: *options.queues as usize,
        depth: *options.depth as usize,
        push_down: options.push_down,
        window: *options.window as usize,
        adaptation: Adaptation::OneStep,
        bytes_per_round: *options.bytes_per_round,
        counts: Some(&counts),
        optimum: None,
    };
    let tally = with_scheduler(scheduler, &settings, Measuring { options, observer })?;
    let flows = (0..).zip(&tally.flows).map(|(flow, counts)| flow_run(options, flow, counts)).collect();
    Ok(SchedulerRun { scheduler, flows })
}

fn flow_run(options: &Options, flow: u32, counts: &Counts) -> FlowRun {
    let rates = |bytes: &[u64], parts: u64| -> Vec<BitsPerSec> {
        let rate = |&bytes: &u64| {
            let bits = u128::from(bytes) * 8_000_000_000 * u128::from(parts);
            BitsPerSec(u64::try_from(bits / u128::from(options.step.0)).unwrap_or(u64::MAX))
        };
        bytes.iter().map(rate).collect()
    };
    FlowRun {
        flow,
        rank: u64::from(*options.flows - 1 - flow),
        arrivals: counts.arrivals,
        departures: counts.departures,
        drops: counts.drops,
        by_step: rates(&counts.by_step, 1),
        over_time: rates(&counts.over_time, BINS_PER_STEP),
    }
}
