//! What a circuit takes, and how many of them a switch needs.

pub mod bundle;
pub mod design;
mod found;
pub mod measured;
mod options;
mod page;
pub mod shapes;
mod verdict;

use design::Queue;
pub use found::{Memory, Rtl};
use measured::speed;
pub use options::{Options, Switch};
use trueplane_study::report::Report;

/// Belief of the classical model.
const BELIEF: &str = "one queue is as fast as its clock, so that each port has one, and one for each port whose packets may come to it";

/// Operations that a packet takes: it is put in and taken out.
const OPERATIONS_PER_PACKET: u64 = 2;

/// Queues of a mesh in two layers that takes so many packets a second, with partitions and one operation in each cycle of this clock: as
/// many in each layer as together put in, or take out, a packet for every one that comes.
///
/// Source: Atre 2025 §4.1.1 (figure 4.1b), §4.7.1.
pub fn instances(packets_per_sec: u64, clock_hz: u64) -> u64 {
    let operations = u128::from(packets_per_sec) * u128::from(OPERATIONS_PER_PACKET);
    2 * u64::try_from(operations.div_ceil(u128::from(clock_hz.max(1)))).unwrap_or(u64::MAX / 2)
}

/// Works it out.
pub fn rtl(options: &Options) -> Rtl {
    let Options { design, clock_hz: wished, switch, shapes } = options;
    let (queue, layout) = (design.queue(), design.circuit().layout());
    let shape = layout.shape();
    let speed = speed(design);
    let is_measured = speed.measured;
    let clock_hz = wished.unwrap_or(u64::MAX).min(speed.clock_hz).max(1);
    let rate = clock_hz * u64::from(queue.operations_per_cycle());
    let memory = |table: crate::bbq::Table| Memory {
        bits: table.words * u64::from(table.bits),
        name: table.name,
        words: table.words,
        word_bits: table.bits,
        kept: table.kept.to_string(),
    };
    let memories: Vec<Memory> = design.tables().into_iter().map(memory).collect();
    let packets = switch.packets_per_sec();
    let fits = queue == Queue::Bbq && u64::from(shape.partitions) >= switch.ports;
    let mut rtl = Rtl {
        study: "pqueue.rtl",
        queue: queue.name(),
        width: shape.width,
        levels: shape.levels,
        elements: shape.capacity,
        partitions: if queue == Queue::Window { 1 } else { shape.partitions },
        data_bits: shape.data_bits,
        priority_bits: design.priority_bits(),
        span: design.span(),
        lanes: design.circuit().memories().lanes,
        memory_stages: design.circuit().memories().stages,
        latency_cycles: design.latency(),
        latency_ns: is_measured.then(|| f64::from(design.latency()) * 1e9 / clock_hz as f64),
        speed,
        wished_clock_hz: *wished,
        clock_hz,
        operations_per_sec: is_measured.then_some(rate),
        memory_bits: memories.iter().map(|memory| memory.bits).sum(),
        memories,
        switch: *switch,
        switch_packets_per_sec: packets,
        instances: fits.then(|| instances(packets, rate)),
        instances_without_partitions: switch.ports * switch.ports + switch.ports,
        shapes: shapes.clone(),
        verdict: Vec::new(),
    };
    rtl.verdict = verdict::sentences(&rtl, queue);
    rtl
}

impl Rtl {
    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![("queue".to_owned(), self.queue.to_owned())];
        // A PIFO has no tree.
        if self.queue != Queue::Pifo.name() {
            facts.push(("width, levels".to_owned(), format!("{}, {}", self.width, self.levels)));
            facts.push(("lanes".to_owned(), self.lanes.to_string()));
        }
        facts.push(("bits of data".to_owned(), self.data_bits.to_string()));
        facts
    }

    /// The report: the tables of the circuit.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "What the circuit takes".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: page::tables(self),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;
    use crate::bbq::{Memories, Shape};
    use crate::rtl::design::{Design, Extras};

    #[test]
    fn a_switch_needs_as_many_as_the_thesis_says() {
        // §4.7.1: 8.4 billion packets a second, queues at 3.1 GHz with two operations for a packet.
        assert_eq!(instances(8_400_000_000, 3_100_000_000), 12);
        let line = Switch { ports: 1, port_rate_bps: BitsPerSec(100_000_000_000), frame: Bytes(64) };
        assert_eq!(line.packets_per_sec(), 148_809_524);
        assert_eq!(instances(0, 1), 0);
    }

    fn of(capacity: u32, clock_hz: Option<u64>, ports: u64) -> Rtl {
        let shape = Shape { width: 8, levels: 3, capacity, partitions: 8, data_bits: 16 };
        let extras = Extras { priority_bits: 32, upper_width: 8, upper_levels: 2 };
        let design = Design::new(Queue::Bbq, shape, Memories::default(), extras).unwrap();
        let switch = Switch { ports, port_rate_bps: BitsPerSec(10_000_000_000), frame: Bytes(64) };
        rtl(&Options { design, clock_hz, switch, shapes: Vec::new() })
    }

    #[test]
    fn fewer_partitions_than_ports_do_not_help() {
        let at = |ports| of(1023, Some(150_000_000), ports);
        // 8 × 14.88 million packets are 238 million operations.
        assert_eq!((at(8).instances, at(8).instances_without_partitions), (Some(4), 72));
        assert_eq!(at(9).instances, None);
        let said = at(9).verdict.concat();
        assert!(said.contains("fewer partitions (8) than ports serves no port alone: it takes 90"), "{said}");
    }

    #[test]
    fn nothing_is_counted_at_a_clock_that_was_not_reached() {
        let (slow, fast) = (of(1023, Some(50_000_000), 8), of(1023, Some(3_000_000_000), 8));
        assert_eq!((slow.clock_hz, fast.clock_hz), (50_000_000, fast.speed.clock_hz));
        // There is no row with eight partitions.
        assert_eq!((slow.operations_per_sec, fast.operations_per_sec, fast.latency_ns), (None, None, None));
        assert!(fast.verdict[1].starts_with("Not measured. An estimate"), "{:?}", fast.verdict);
        let measured = |clock_hz| {
            let shape = Shape { width: 8, levels: 3, capacity: 1023, partitions: 1, data_bits: 16 };
            let extras = Extras { priority_bits: 32, upper_width: 8, upper_levels: 2 };
            let design = Design::new(Queue::Bbq, shape, Memories::default(), extras).unwrap();
            let switch = Switch { ports: 1, port_rate_bps: BitsPerSec(10_000_000_000), frame: Bytes(64) };
            rtl(&Options { design, clock_hz, switch, shapes: Vec::new() })
        };
        assert_eq!(measured(Some(50_000_000)).operations_per_sec, Some(50_000_000));
        let fast = measured(Some(3_000_000_000));
        assert_eq!(fast.operations_per_sec, Some(fast.speed.clock_hz));
        assert!(fast.verdict[1].contains("3000 MHz"), "{fast:?}");
    }
}
