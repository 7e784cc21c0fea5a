//! The document of `spray memory`.

use serde::Serialize;
use trueplane_linux::cores;
use trueplane_study::metrics::median;

use super::Overload;
use super::busy::Frequency;
use crate::live::memory::options::{Options, Sample, Traffic};
use crate::nf::FunctionName;
use crate::system::SystemName;

/// The result of `spray memory`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// `spray.memory`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// What is believed.
    pub belief: &'static str,
    /// What was measured.
    pub parameters: Parameters,
    /// Where.
    pub machine: Machine,
    /// Every system at every number of cycles.
    pub rows: Vec<Row>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The function.
    pub nf: FunctionName,
    /// What was sent.
    pub traffic: Traffic,
    /// Threads that handle packets.
    pub cores: usize,
    /// Flows at a time.
    pub flows: u32,
    /// Packets of a run, about.
    pub packets: u64,
    /// Runs of each system.
    pub repeat: u32,
    /// Flows that tables have room for.
    pub table_flows: usize,
    /// Places of the ring to each core.
    pub ring_packets: usize,
    /// Whether what finds a ring full is dropped; else the dispatcher waits.
    pub drops: bool,
    /// The seed.
    pub seed: u64,
}

impl Parameters {
    pub(super) fn new(options: &Options, table_flows: usize) -> Self {
        Self {
            nf: options.function,
            traffic: options.traffic,
            cores: options.cores,
            flows: options.flows,
            packets: options.packets,
            repeat: options.repeat,
            table_flows,
            ring_packets: options.ring,
            drops: options.overload == Overload::Drop,
            seed: options.seed,
        }
    }
}

/// The machine, as far as it limits what can be measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Machine {
    /// Cores that the command may use. The dispatcher's thread needs one besides those that handle packets.
    pub cores: usize,
    /// Cycles per second.
    pub frequency_hz: f64,
}

impl Machine {
    /// This one.
    pub fn look() -> Self {
        Self { cores: cores::allowed().len().max(1), frequency_hz: Frequency::measure().hertz() }
    }
}

/// A system.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which.
    #[serde(serialize_with = "as_text")]
    pub dispatch: SystemName,
    /// The function.
    pub nf: FunctionName,
    /// Threads that handle packets.
    pub cores: usize,
    /// Flows at a time.
    pub flows: u32,
    /// Cycles of work for each packet.
    pub cycles: u64,
    /// Packets forwarded per second: the median of all runs.
    pub rate_pps: f64,
    /// Those of each run.
    pub rates_pps: Vec<f64>,
    /// The median over runs of the rate divided by the first system's, each of the same turn.
    pub ratio: f64,
    /// Packets that were measured, in all runs.
    pub packets: u64,
    /// Those that were forwarded.
    pub forwarded: u64,
    /// The share of packets that left after one of their flow that came later (RFC 4737), where flows are steady.
    pub reordered: Option<f64>,
    /// Packets that were handed over to another core, warming up included.
    pub handed_over: u64,
    /// Packets that a full ring to a core refused.
    pub refused: u64,
    /// The share of its time in which a core had work, on average over cores and runs.
    pub busy: f64,
    /// The share of its time in which generator, dispatcher and sink had a core.
    pub dispatcher: f64,
    /// Whether every connection was treated as one core alone does.
    pub identical: Option<bool>,
    /// Of a flood: packets of connections that were there before.
    pub established: Option<u64>,
    /// Of a flood: those of them that passed.
    pub established_forwarded: Option<u64>,
    /// Bytes of all tables.
    pub table_bytes: usize,
    /// Flows that were in them at the end of the last run.
    pub table_flows: usize,
}

impl Row {
    pub(super) fn new(system: SystemName, cycles: u64, options: &Options) -> Self {
        Self {
            dispatch: system,
            nf: options.function,
            cores: options.cores,
            flows: options.flows,
            cycles,
            rate_pps: 0.0,
            rates_pps: Vec::new(),
            ratio: 1.0,
            packets: 0,
            forwarded: 0,
            reordered: None,
            handed_over: 0,
            refused: 0,
            busy: 0.0,
            dispatcher: 0.0,
            identical: None,
            established: None,
            established_forwarded: None,
            table_bytes: 0,
            table_flows: 0,
        }
    }

    /// Adds a run. Shares are sums until [`finish`](Self::finish).
    pub(super) fn add(&mut self, sample: &Sample) {
        let run = &sample.run;
        let counts = run.counts();
        let elapsed = run.elapsed.0.max(1) as f64;
        self.rates_pps.push(sample.rate);
        self.packets += sample.packets;
        self.forwarded += sample.forwarded;
        self.handed_over += counts.handed_out;
        self.refused += run.dispatched.refused;
        let busy: f64 = run.busy.iter().map(|busy| busy.0 as f64).sum();
        self.busy += busy / elapsed / run.busy.len().max(1) as f64;
        self.dispatcher += run.dispatcher.0 as f64 / elapsed;
        if let Some(reordered) = sample.reordered {
            *self.reordered.get_or_insert(0.0) += reordered as f64;
        }
        if let Some(identical) = sample.identical {
            self.identical = Some(self.identical.unwrap_or(true) && identical);
        }
        if let Some((established, forwarded)) = sample.established {
            *self.established.get_or_insert(0) += established;
            *self.established_forwarded.get_or_insert(0) += forwarded;
        }
        self.table_bytes = run.tables.iter().map(|table| table.bytes).sum();
        self.table_flows = run.tables.iter().map(|table| table.flows).sum();
    }

    /// All runs were added; those of the first system had these rates.
    pub(super) fn finish(&mut self, base: &[f64]) {
        let runs = self.rates_pps.len().max(1) as f64;
        self.busy /= runs;
        self.dispatcher /= runs;
        self.reordered = self.reordered.map(|count| count / self.packets.max(1) as f64);
        self.rate_pps = median(&self.rates_pps);
        let ratios: Vec<f64> =
            self.rates_pps.iter().zip(base).map(|(rate, base)| rate / base.max(f64::MIN_POSITIVE)).collect();
        self.ratio = median(&ratios);
    }
}

fn as_text<S: serde::Serializer>(system: &SystemName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(system)
}
