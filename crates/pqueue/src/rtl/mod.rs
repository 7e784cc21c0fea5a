//! What a circuit takes, and how many of them a switch needs.

pub mod bundle;

use serde::Serialize;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{BitsPerSec, Bytes};

use crate::bbq::Circuit;

/// Belief of the classical model.
const BELIEF: &str = "one queue is as fast as its clock, so that each port has one, and one for each port whose packets may come to it";

/// Bytes that a frame takes on the wire besides itself: preamble, start of frame and gap (IEEE 802.3).
const WIRE_OVERHEAD: u64 = 20;

/// Operations that a packet takes: it is put in and taken out.
const OPERATIONS_PER_PACKET: u64 = 2;

/// A switch whose ports' packets are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Switch {
    /// Number k of ports.
    pub ports: u64,
    /// Rate of each port.
    pub port_rate_bps: BitsPerSec,
    /// Length of a frame, with its checksum.
    pub frame: Bytes,
}

impl Switch {
    /// Packets a second that come by all ports together, rounded up.
    pub fn packets_per_sec(&self) -> u64 {
        let bits = (self.frame.0 + WIRE_OVERHEAD) * 8;
        let all = u128::from(self.port_rate_bps.0) * u128::from(self.ports);
        u64::try_from(all.div_ceil(u128::from(bits))).unwrap_or(u64::MAX)
    }
}

/// Queues of a mesh in two layers that takes so many packets a second, with partitions and one operation in each cycle of this clock: as
/// many in each layer as together put in, or take out, a packet for every one that comes.
///
/// Source: Atre 2025 §4.1.1 (figure 4.1b), §4.7.1.
pub fn instances(packets_per_sec: u64, clock_hz: u64) -> u64 {
    let operations = u128::from(packets_per_sec) * u128::from(OPERATIONS_PER_PACKET);
    2 * u64::try_from(operations.div_ceil(u128::from(clock_hz.max(1)))).unwrap_or(u64::MAX / 2)
}

/// Circuit to describe, and the switch that it is for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The circuit.
    pub circuit: Circuit,
    /// Clock rate of the circuit, in Hz.
    pub clock_hz: u64,
    /// Switch that the circuit is for.
    pub switch: Switch,
}

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
    /// Priorities of each partition.
    pub span: u32,
    /// Cycles in which a link is read.
    pub lanes: u32,
    /// Cycles from a request to its response.
    pub latency_cycles: u32,
    /// The same at the clock.
    pub latency_ns: f64,
    /// Operations a second at the clock, with an operation in each cycle.
    pub operations_per_sec: u64,
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
    /// Findings in plain sentences.
    pub verdict: Vec<String>,
}

/// Works it out.
pub fn rtl(options: &Options) -> Rtl {
    let Options { circuit, clock_hz, switch } = options;
    let shape = circuit.layout().shape();
    let memory = |table: crate::bbq::Table| Memory {
        bits: table.words * u64::from(table.bits),
        name: table.name,
        words: table.words,
        word_bits: table.bits,
        kept: table.kept.to_string(),
    };
    let memories: Vec<Memory> = circuit.tables().into_iter().map(memory).collect();
    let packets = switch.packets_per_sec();
    let fits = u64::from(shape.partitions) >= switch.ports;
    let mut rtl = Rtl {
        study: "pqueue.rtl",
        width: shape.width,
        levels: shape.levels,
        elements: shape.capacity,
        partitions: shape.partitions,
        data_bits: shape.data_bits,
        span: circuit.layout().span(),
        lanes: circuit.lanes(),
        latency_cycles: circuit.latency(),
        latency_ns: f64::from(circuit.latency()) * 1e9 / *clock_hz as f64,
        operations_per_sec: *clock_hz,
        memory_bits: memories.iter().map(|memory| memory.bits).sum(),
        memories,
        switch: *switch,
        switch_packets_per_sec: packets,
        instances: fits.then(|| instances(packets, *clock_hz)),
        instances_without_partitions: switch.ports * switch.ports + switch.ports,
        verdict: Vec::new(),
    };
    rtl.verdict = rtl.sentences();
    rtl
}

/// A rate in millions a second.
fn millions(rate: u64) -> String {
    format!("{} M/s", (rate as f64 / 1e4).round() / 100.0)
}

impl Rtl {
    fn sentences(&self) -> Vec<String> {
        let Switch { ports, port_rate_bps, frame } = self.switch;
        let mut sentences = vec![
            format!(
                "One operation in every cycle, {}, each answered after {} cycles ({:.1} ns); {} priorities in {} over {} elements.",
                millions(self.operations_per_sec),
                self.latency_cycles,
                self.latency_ns,
                self.span,
                if self.partitions == 1 {
                    "one queue".to_owned()
                } else {
                    format!("each of {} queues", self.partitions)
                },
                self.elements,
            ),
            format!("Its tables hold {} bits ({}).", self.memory_bits, Bytes(self.memory_bits.div_ceil(8))),
        ];
        let without = self.instances_without_partitions;
        let need = format!(
            "A switch of {ports} ports of {port_rate_bps} forwards up to {} of {} bytes",
            millions(self.switch_packets_per_sec),
            frame.0
        );
        sentences.push(match self.instances {
            Some(instances) => format!(
                "{need}: {instances} of these in two layers, shared by all ports. Queues that cannot be partitioned take {without} at least, however fast."
            ),
            None => format!(
                "{need}. A circuit with fewer partitions ({}) than ports serves no port alone: it takes {without} of them at least. Give --partitions {ports} or more.",
                self.partitions
            ),
        });
        sentences
    }

    /// The report: the tables of the circuit.
    pub fn report(&self) -> Report {
        let row = |memory: &Memory| {
            vec![
                Cell::text(memory.name.clone()),
                Cell::Count(memory.words),
                Cell::Count(memory.word_bits.into()),
                Cell::Count(memory.bits),
                Cell::text(memory.kept.clone()),
            ]
        };
        Report {
            study: self.study.to_owned(),
            title: "What the circuit takes".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: vec![
                ("width, levels".to_owned(), format!("{}, {}", self.width, self.levels)),
                ("bits of data".to_owned(), self.data_bits.to_string()),
                ("lanes".to_owned(), self.lanes.to_string()),
            ],
            tables: vec![Table {
                id: "memories".to_owned(),
                title: "Tables".to_owned(),
                columns: vec![
                    Column::new("table", "table"),
                    Column::new("words", "words"),
                    Column::new("bits of a word", "word_bits"),
                    Column::new("bits", "bits"),
                    Column::new("kept in", "kept"),
                ],
                rows: self.memories.iter().map(row).collect(),
                ..Table::default()
            }],
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbq::{LUT_WORDS, Shape};

    #[test]
    fn a_switch_needs_as_many_as_the_thesis_says() {
        // §4.7.1: 8.4 billion packets a second, queues at 3.1 GHz with two operations for a packet.
        assert_eq!(instances(8_400_000_000, 3_100_000_000), 12);
        let line = Switch { ports: 1, port_rate_bps: BitsPerSec(100_000_000_000), frame: Bytes(64) };
        assert_eq!(line.packets_per_sec(), 148_809_524);
        assert_eq!(instances(0, 1), 0);
    }

    #[test]
    fn fewer_partitions_than_ports_do_not_help() {
        let shape = Shape { width: 8, levels: 3, capacity: 1023, partitions: 8, data_bits: 16 };
        let circuit = Circuit::new(shape, 2, LUT_WORDS).unwrap();
        let switch = |ports| Switch { ports, port_rate_bps: BitsPerSec(10_000_000_000), frame: Bytes(64) };
        let of =
            |ports| rtl(&Options { circuit: circuit.clone(), clock_hz: 200_000_000, switch: switch(ports) });
        // 8 × 14.88 million packets are 238 million operations.
        assert_eq!((of(8).instances, of(8).instances_without_partitions), (Some(4), 72));
        assert_eq!(of(9).instances, None);
        assert!(
            of(9).verdict[2].contains("fewer partitions (8) than ports serves no port alone: it takes 90"),
            "{:?}",
            of(9).verdict
        );
    }
}
