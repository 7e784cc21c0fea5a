//! What is found of a circuit.

use serde::Serialize;

use super::measured::Speed;
use super::options::Switch;
use super::shapes::Proposal;

/// A table of the circuit.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// Name of the table.
    pub name: String,
    /// Number of words.
    pub words: u64,
    /// Bits of a word.
    pub word_bits: u32,
    /// Bits of the whole table.
    pub bits: u64,
    /// Hardware in which the table is kept.
    pub kept: String,
}

/// The circuit in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Rtl {
    /// `pqueue.rtl`
    pub study: &'static str,
    /// Kind of queue.
    pub queue: &'static str,
    /// Width W of a word: children of a node.
    pub width: u32,
    /// Depth D: levels of the tree.
    pub levels: u32,
    /// Capacity N: elements that fit.
    pub elements: u32,
    /// Number q of partitions.
    pub partitions: u32,
    /// Bits of data of an element.
    pub data_bits: u32,
    /// Bits of a priority.
    pub priority_bits: u32,
    /// Priorities of each partition; of a window, those that it has at a time.
    pub span: u32,
    /// Cycles in which a link is read.
    pub lanes: u32,
    /// Whether there are registers on the way to block RAMs and behind them.
    pub memory_stages: bool,
    /// Cycles from a request to its response; 0 where elements are on the ports.
    pub latency_cycles: u32,
    /// The same at the clock; none by an estimate.
    pub latency_ns: Option<f64>,
    /// Clock and area that synthesis reached, or an estimate.
    pub speed: Speed,
    /// Clock that was wished for, in Hz.
    pub wished_clock_hz: Option<u64>,
    /// Clock that the rest is counted at, in Hz: the one that was wished for, if synthesis reached it, and otherwise that of [`Speed`].
    pub clock_hz: u64,
    /// Operations a second at that clock; none by an estimate.
    pub operations_per_sec: Option<u64>,
    /// Memories that the circuit consists of.
    pub memories: Vec<Memory>,
    /// Bits of all memories together.
    pub memory_bits: u64,
    /// The switch.
    pub switch: Switch,
    /// Its packets at that frame size, all ports together.
    pub switch_packets_per_sec: u64,
    /// Queues that it needs with partitions; none if there are fewer partitions than ports.
    pub instances: Option<u64>,
    /// Queues that it needs at least without: one for each port, and one for each port and each that packets come by.
    pub instances_without_partitions: u64,
    /// Trees that the circuit was chosen from, if it was.
    pub shapes: Vec<Proposal>,
    /// Findings in plain sentences.
    pub verdict: Vec<String>,
}
