//! The document of `surge pipeline`.

use serde::Serialize;
use trueplane_linux::{clock, cores};
use trueplane_units::BitsPerSec;

use super::pipeline::tally::Fate;
use super::pipeline::{Effort, Run, Settings};
use crate::live::options::{Options, Queue};

/// The result of `surge pipeline`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Compare {
    /// `surge.pipeline`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// What is believed of such a processor.
    pub belief: &'static str,
    /// What was measured.
    pub parameters: Parameters,
    /// Where.
    pub machine: Machine,
    /// Every queue at every attack rate, 0 first.
    pub rows: Vec<Row>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// What was measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Parameters {
    /// What the worker does.
    pub workload: String,
    /// Whether jobs take what they take, and what is said of a job is what it took before; else it takes what is said.
    pub is_real: bool,
    /// The queues.
    pub queues: Vec<&'static str>,
    /// How fast users send.
    pub innocent_bps: u64,
    /// What the worker could serve of them.
    pub r_max_bps: f64,
    /// Their mean packet.
    pub mean_packet_bits: f64,
    /// Their mean job.
    pub mean_job_ns: f64,
    /// How fast the attacker sends.
    pub attack_bps: Vec<u64>,
    /// His packet.
    pub attack_packet_bits: u32,
    /// His job.
    pub attack_job_ns: u64,
    /// Packets that may wait.
    pub buffer_packets: usize,
    /// Descriptors of the receive ring.
    pub ring_packets: usize,
    /// Slots of the hand-over.
    pub handover_packets: usize,
    /// Until goodput is measured.
    pub warm_up_ns: u64,
    /// How long it is.
    pub duration_ns: u64,
    /// The seed.
    pub seed: u64,
}

impl Parameters {
    pub(super) fn new(options: &Options) -> Self {
        let packets = options.innocent.len().max(1) as f64;
        let Settings { ring, depth, warm_up, duration, .. } = options.settings;
        Self {
            workload: options.workload.clone(),
            is_real: options.is_real,
            queues: options.queues.iter().map(|queue| queue.name()).collect(),
            innocent_bps: options.innocent_rate.0,
            r_max_bps: options.most_rate(),
            mean_packet_bits: options.innocent.iter().map(|packet| f64::from(packet.bits)).sum::<f64>()
                / packets,
            mean_job_ns: options.innocent.iter().map(|packet| packet.work.0 as f64).sum::<f64>() / packets,
            attack_bps: options.attack_rates.iter().map(|rate| rate.0).collect(),
            attack_packet_bits: options.attack.bits,
            attack_job_ns: options.attack.work.0,
            buffer_packets: options.buffer,
            ring_packets: ring,
            handover_packets: depth,
            warm_up_ns: warm_up.0,
            duration_ns: duration.0,
            seed: options.seed,
        }
    }
}

/// The machine, as far as it limits what can be measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Machine {
    /// Cores that the command may use.
    pub cores: usize,
    /// What a look at the clock takes.
    pub clock_ns: f64,
}

impl Machine {
    /// This one.
    pub fn look() -> Self {
        const LOOKS: u32 = 10_000;
        let from = clock::monotonic();
        let to = (0..LOOKS).fold(from, |_, _| clock::monotonic());
        Self { cores: cores::allowed().len().max(1), clock_ns: to.since(from).0 as f64 / f64::from(LOOKS) }
    }
}

/// A queue under attack.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Which.
    pub queue: &'static str,
    /// How fast users send.
    pub innocent_bps: u64,
    /// How fast the attacker does.
    pub attack_bps: u64,
    /// Innocent bits per second whose service ended, warming up left out.
    pub goodput_bps: f64,
    /// (goodput without the attack − goodput under it) / attack rate, of one run each: where the attack is slow, the noise of the machine
    /// is larger. None without an attack.
    pub displacement_factor: Option<f64>,
    /// Packets that came, of users and attacker: served + dropped + lost + left.
    pub arrived: u64,
    /// Those whose service ended by the end.
    pub served: u64,
    /// Those that had to go because the buffer was full.
    pub dropped: u64,
    /// Those that found no place in the ring.
    pub lost: u64,
    /// Those that were somewhere in between at the end.
    pub left: u64,
    /// What became of the packets of users.
    pub innocent: Fate,
    /// What became of those of the attacker.
    pub attacker: Fate,
    /// What a packet costs the scheduler from the ring to the worker or the floor, on average; none if none came.
    pub scheduler_ns_per_packet: Option<f64>,
    /// How the scheduler spent its time.
    pub scheduler: Effort,
    /// The part of its time in which the worker worked.
    pub worker_busy: f64,
    /// How much longer than its packet says a job took, on average: how exact the worker is, or what was known of real work. None if
    /// there was no job.
    pub worker_excess_ns: Option<f64>,
}

impl Row {
    pub(super) fn new(
        queue: Queue,
        attack_rate: BitsPerSec,
        run: &Run,
        baseline_bps: Option<f64>,
        options: &Options,
    ) -> Self {
        let fate = run.tally.total();
        let per = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
        let Settings { warm_up, duration, .. } = options.settings;
        let (served, scheduler) = (&run.served, run.scheduler);
        Self {
            queue: queue.name(),
            innocent_bps: options.innocent_rate.0,
            attack_bps: attack_rate.0,
            goodput_bps: run.goodput_bps,
            displacement_factor: baseline_bps
                .map(|baseline| (baseline - run.goodput_bps) / attack_rate.0 as f64),
            arrived: fate.arrived.packets,
            served: fate.served.packets,
            dropped: fate.dropped.packets,
            lost: fate.lost.packets,
            left: fate.left.packets,
            innocent: run.tally.innocent,
            attacker: run.tally.attack,
            scheduler_ns_per_packet: per(scheduler.busy_ns, scheduler.packets),
            scheduler,
            worker_busy: served.busy_within.0 as f64 / warm_up.after(duration).0 as f64,
            worker_excess_ns: (served.jobs > 0)
                .then(|| (served.busy.0 as f64 - served.told.0 as f64) / served.jobs as f64),
        }
    }
}
