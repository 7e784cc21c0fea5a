//! The tables of the report.

use trueplane_study::report::{Cell, Column, Table};

use super::design::Queue;
use super::found::{Memory, Rtl};
use super::shapes::Proposal;

/// The tables of the circuit; and the trees that it was chosen from, if it was.
pub(super) fn tables(rtl: &Rtl) -> Vec<Table> {
    let memories = Table {
        id: "memories".to_owned(),
        title: "Tables".to_owned(),
        columns: vec![
            Column::new("table", "table"),
            Column::new("words", "words"),
            Column::new("bits of a word", "word_bits"),
            Column::new("bits", "bits"),
            Column::new("kept in", "kept"),
        ],
        rows: rtl.memories.iter().map(memory).collect(),
        ..Table::default()
    };
    // A PIFO has no tree.
    if rtl.shapes.is_empty() || rtl.queue == Queue::Pifo.name() {
        return vec![memories];
    }
    let shapes = Table {
        id: "shapes".to_owned(),
        title: "Trees with these priorities".to_owned(),
        columns: vec![
            Column::new("width", "width"),
            Column::new("levels", "levels"),
            Column::new("priorities", "priorities"),
            Column::new("latency, cycles", "latency_cycles"),
            Column::new("clock, MHz", "clock_mhz"),
            Column::new("LUTs", "comb"),
            Column::new("block RAMs", "block_rams"),
            Column::new("clock and LUTs", "source"),
            Column::new("taken", "taken"),
        ],
        rows: rtl.shapes.iter().map(shape).collect(),
        ..Table::default()
    };
    vec![shapes, memories]
}

fn memory(memory: &Memory) -> Vec<Cell> {
    vec![
        Cell::text(memory.name.clone()),
        Cell::Count(memory.words),
        Cell::Count(memory.word_bits.into()),
        Cell::Count(memory.bits),
        Cell::text(memory.kept.clone()),
    ]
}

fn shape(of: &Proposal) -> Vec<Cell> {
    let source = match (of.speed.measured, of.speed.before) {
        (false, _) => "an estimate",
        (true, false) => "measured",
        (true, true) => "measured, before a change",
    };
    vec![
        Cell::Count(of.width.into()),
        Cell::Count(of.levels.into()),
        Cell::Count(of.priorities.into()),
        Cell::Count(of.latency_cycles.into()),
        Cell::Number((of.speed.clock_hz as f64 / 1e5).round() / 10.0),
        Cell::Count(of.speed.comb),
        Cell::Count(of.speed.block_rams),
        Cell::text(source.to_owned()),
        Cell::text(if of.chosen { "taken" } else { "" }.to_owned()),
    ]
}
