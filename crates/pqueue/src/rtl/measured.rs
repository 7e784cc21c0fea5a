//! The clock and the area of a design: from a row of synthesis where there is one, and otherwise estimated from the nearest rows.
//!
//! Rows are those of `rtl/bbq/syn/measured.toml`: Yosys and nextpnr for an ECP5-85 of speed grade 8.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::design::{Design, Queue};
use crate::bbq::{Kept, LUT_WORDS, Memories, Shape};

const ROWS: &str = include_str!("../../circuits/measured.toml");

/// Widths of a block RAM of 16 Kbit and the words that it then has; Lattice FPGA-TN-02204.
const BLOCK_RAM: [(u64, u64); 6] = [(36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384)];

/// Bits of counts that take as many LUTs as what does not grow with the counts. A line through the rows of `tp_bbq` gives it.
const FIXED_BITS: u64 = 216;

/// The rows of synthesis.
#[derive(Deserialize)]
struct Rows {
    row: Vec<Row>,
}

/// A row of synthesis.
#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Row {
    name: String,
    top: String,
    /// Parameters that are set, by name.
    parameters: BTreeMap<String, u32>,
    /// Cycles from a request to its response.
    latency: u32,
    comb: u64,
    bram: u64,
    /// Whether the circuit has changed since.
    #[serde(default)]
    before: bool,
    /// Fmax of each seed in MHz, in their order.
    #[serde(rename = "fmax_of_seeds")]
    fmax: Vec<f64>,
}

impl Row {
    fn parameter(&self, name: &str, or: u32) -> u32 {
        self.parameters.get(name).copied().unwrap_or(or)
    }

    /// The median of the seeds in MHz, the lower one of two.
    fn median(&self) -> f64 {
        let mut sorted = self.fmax.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() - 1) / 2]
    }

    /// Whether it is this design, parameter by parameter.
    fn is(&self, design: &Design) -> bool {
        let Shape { width, levels, capacity, partitions, data_bits } = design.circuit().layout().shape();
        let Memories { lanes, lut_words, stages } = design.circuit().memories();
        let common = self.top == module(design.queue())
            && self.parameter("Elements", 1023) == capacity
            && self.parameter("DataBits", 16) == data_bits;
        if design.queue() == Queue::Pifo {
            return common && self.parameter("PriorityBits", 9) == design.priority_bits();
        }
        let upper = design.upper().map(|upper| upper.layout().shape());
        common
            && self.parameter("Width", 8) == width
            && self.parameter("Levels", 3) == levels
            && self.parameter("Lanes", 2) == lanes
            && self.parameter("LutWords", LUT_WORDS) == lut_words
            && self.parameter("MemoryStages", 0) == u32::from(stages)
            && match design.queue() {
                Queue::Bbq => self.parameter("Partitions", 1) == partitions,
                Queue::Window => self.parameter("PriorityBits", 32) == design.priority_bits(),
                Queue::Hier => {
                    self.parameter("Tenants", 8) == partitions
                        && upper.is_some_and(|upper| {
                            self.parameter("UpperWidth", 8) == upper.width
                                && self.parameter("UpperLevels", 2) == upper.levels
                        })
                }
                _ => true,
            }
    }

    /// How far it is from this design: powers of two between the widths, levels between the depths, powers of two between the elements; and stages at
    /// the memories count as much as three of these.
    fn distance(&self, design: &Design) -> u32 {
        let Shape { width, levels, capacity, .. } = design.circuit().layout().shape();
        let stages = u32::from(design.circuit().memories().stages);
        self.parameter("Width", 8).ilog2().abs_diff(width.ilog2())
            + self.parameter("Levels", 3).abs_diff(levels)
            + self.parameter("Elements", 1023).ilog2().abs_diff(capacity.ilog2())
            + 3 * self.parameter("MemoryStages", 0).abs_diff(stages)
    }

    /// What its area grows by: bits of the counts of a node of each level; of a PIFO, bits that are compared and moved.
    fn weight(&self) -> u64 {
        let elements = self.parameter("Elements", 1023);
        if self.top == "tp_pifo" {
            let bits = self.parameter("PriorityBits", 9) + self.parameter("DataBits", 16);
            return u64::from(elements) * u64::from(bits);
        }
        let upper = match self.top.as_str() {
            "tp_bbq_hier" => {
                counts(self.parameter("UpperWidth", 8), self.parameter("UpperLevels", 2), elements)
            }
            _ => 0,
        };
        upper + counts(self.parameter("Width", 8), self.parameter("Levels", 3), elements)
    }
}

/// Bits of the counts of a node of each level, and of what does not grow with them.
fn counts(width: u32, levels: u32, elements: u32) -> u64 {
    FIXED_BITS + u64::from(width) * u64::from(levels) * u64::from(elements.ilog2() + 1)
}

/// The module of a queue.
fn module(queue: Queue) -> &'static str {
    match queue {
        Queue::Bbq => "tp_bbq",
        Queue::Exact => "tp_bbq_exact",
        Queue::Window => "tp_bbq_window",
        Queue::Hier => "tp_bbq_hier",
        Queue::Pifo => "tp_pifo",
    }
}

fn rows() -> Vec<Row> {
    toml::from_str::<Rows>(ROWS).expect("the rows are those of a table").row
}

/// Clock and area of a design, with where they are from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Whether synthesis has run with these parameters. Otherwise clock and LUTs are an estimate.
    pub measured: bool,
    /// Whether the circuit has changed since synthesis ran: since one of the runs, for an estimate.
    pub before: bool,
    /// Clock in Hz: the median of the seeds; as an estimate, the lowest of the two nearest rows of the module, and of those that are built like it with no more
    /// block RAMs; with a BBQ inside, of its rows, too.
    pub clock_hz: u64,
    /// Fmax of each seed in MHz, in their order; of an estimate, none.
    pub fmax_mhz_of_seeds: Vec<f64>,
    /// LUTs of four inputs; as an estimate, those of the nearest row in proportion to the bits of counts.
    pub comb: u64,
    /// Block RAMs of 16 Kbit, by the words and bits of the tables.
    pub block_rams: u64,
    /// Names of the rows that clock and LUTs are from.
    pub rows: Vec<String>,
}

/// Clock and area of a design.
pub fn speed(design: &Design) -> Speed {
    let block_rams = design.tables().into_iter().map(|table| match table.kept {
        Kept::Block | Kept::BlockUnregistered => block_rams(table.words, table.bits.into()),
        Kept::Registers | Kept::Lut => 0,
    });
    let block_rams = block_rams.sum();
    let rows = rows();
    if let Some(row) = rows.iter().find(|row| row.is(design)) {
        return Speed {
            measured: true,
            before: row.before,
            clock_hz: hertz(row.median()),
            fmax_mhz_of_seeds: row.fmax.clone(),
            comb: row.comb,
            block_rams,
            rows: vec![row.name.clone()],
        };
    }
    let own = near(&rows, module(design.queue()), design, block_rams);
    // An estimate is never above that of the BBQ inside, whose paths the queue has, too.
    let inner = match design.queue() {
        Queue::Bbq | Queue::Pifo => Vec::new(),
        Queue::Exact | Queue::Window | Queue::Hier => near(&rows, "tp_bbq", design, block_rams),
    };
    let bases: Vec<&Row> = own.into_iter().chain(inner).collect();
    let shape = design.circuit().layout().shape();
    let clock = bases.iter().map(|row| row.median()).fold(f64::INFINITY, f64::min);
    let upper = design.upper().map(|upper| upper.layout().shape());
    let weight: u64 = match design.queue() {
        Queue::Pifo => u64::from(shape.capacity) * u64::from(design.priority_bits() + shape.data_bits),
        _ => [Some(shape), upper]
            .into_iter()
            .flatten()
            .map(|of| counts(of.width, of.levels, of.capacity))
            .sum(),
    };
    Speed {
        measured: false,
        before: bases.iter().any(|row| row.before),
        clock_hz: hertz(clock),
        fmax_mhz_of_seeds: Vec::new(),
        // In hundreds: it is no better than that.
        comb: (bases[0].comb * weight / bases[0].weight()).div_ceil(100) * 100,
        block_rams,
        rows: bases.iter().map(|row| row.name.clone()).collect(),
    }
}

/// The two rows of a module that are nearest to a design, nearest first, and those that are built like it, with no more block RAMs than it has and with more
/// than the nearest one: a circuit is not faster than a smaller one.
fn near<'r>(rows: &'r [Row], top: &str, design: &Design, block_rams: u64) -> Vec<&'r Row> {
    let mut near: Vec<&Row> = rows.iter().filter(|row| row.top == top).collect();
    near.sort_by_key(|row| row.distance(design));
    let (two, others) = near.split_at(near.len().min(2));
    let is_smaller = |row: &&&Row| {
        let stages = row.parameter("MemoryStages", 0) == u32::from(design.circuit().memories().stages);
        stages && row.bram <= block_rams && row.bram > two[0].bram
    };
    [two, &others.iter().filter(is_smaller).copied().collect::<Vec<_>>()].concat()
}

/// A frequency in MHz, in Hz.
fn hertz(mhz: f64) -> u64 {
    (mhz * 1e6).round() as u64
}

/// Block RAMs of a memory: the fewest of all widths that one may have.
fn block_rams(words: u64, bits: u64) -> u64 {
    let of = BLOCK_RAM.map(|(width, depth)| bits.div_ceil(width) * words.div_ceil(depth));
    of.into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::design::Extras;

    fn design(queue: Queue, width: u32, levels: u32, capacity: u32, memories: Memories) -> Design {
        let partitions = if queue == Queue::Hier { 8 } else { 1 };
        let shape = Shape { width, levels, capacity, partitions, data_bits: 16 };
        let extras = Extras { priority_bits: 32, upper_width: 8, upper_levels: 2 };
        Design::new(queue, shape, memories, extras).unwrap()
    }

    /// Every row is of a circuit that can be, and tells its latency and its block RAMs as they are worked out.
    #[test]
    fn rows_are_of_designs() {
        let rows = rows();
        for row in &rows {
            let queue = [Queue::Bbq, Queue::Exact, Queue::Window, Queue::Hier, Queue::Pifo];
            let queue = queue.into_iter().find(|&queue| module(queue) == row.top).unwrap();
            let parameter = |name, or| row.parameter(name, or);
            let design = design(
                queue,
                parameter("Width", 8),
                parameter("Levels", 3),
                parameter("Elements", 1023),
                Memories {
                    lanes: parameter("Lanes", 2),
                    stages: parameter("MemoryStages", 0) == 1,
                    ..Memories::default()
                },
            );
            let found = speed(&design);
            assert_eq!((found.measured, &found.rows[0]), (true, &row.name));
            assert_eq!(row.latency, design.latency(), "{}", row.name);
            assert_eq!(row.bram, found.block_rams, "{}", row.name);
        }
        assert!(rows.len() > 3);
    }

    #[test]
    fn what_was_not_run_is_an_estimate_from_the_nearest_rows() {
        let found = speed(&design(Queue::Bbq, 8, 3, 2047, Memories::default()));
        assert!(!found.measured && found.fmax_mhz_of_seeds.is_empty());
        assert!(found.rows.contains(&"bbq-w8-d3-n1023".to_owned()), "{found:?}");
        // More elements than the nearest row, so more bits in each count.
        let near = speed(&design(Queue::Bbq, 8, 3, 1023, Memories::default()));
        assert!(found.comb > near.comb && found.clock_hz <= near.clock_hz, "{found:?}");
        // Two trees are more than one.
        let tenants = speed(&design(Queue::Hier, 8, 3, 2047, Memories::default()));
        assert!(!tenants.measured && tenants.comb > found.comb, "{tenants:?}");
        // An estimate is never above that of the tree inside.
        let large = |queue| speed(&design(queue, 8, 5, 16_383, Memories::default()));
        assert!(large(Queue::Exact).clock_hz <= large(Queue::Bbq).clock_hz);
    }
}
