//! Tables and the plot of `offload size`: arrays, control packets, and what both come to by the length of chains.

use trueplane_study::report::{Axis, Cell, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::Bytes;

use super::found::Layout;

/// The three numbers are told of so many layouts; the table has them all.
const MOST_NUMBERS: usize = 8;

pub(super) fn present(found: &[Layout], page: &mut Page) {
    for layout in found.iter().take(MOST_NUMBERS) {
        page.numbers(
            format!("memory of a table with k = {}", layout.chain),
            "total_bytes",
            bytes(layout.table_bits()),
            bytes(layout.total_bits()),
            Measured::Needs("a switch with such registers"),
        );
    }
    page.table("layouts", "Registers and control packets by the length of chains", found)
        .col("k", "chain", |layout| layout.chain)
        .col("rows", "rows", |layout| layout.rows)
        .col("entries", "entries", |layout| layout.entries())
        .col("keys and values", "table_bytes", |layout| bytes(layout.table_bits()))
        .col("all registers", "total_bytes", |layout| bytes(layout.total_bits()))
        .col("more", "overhead", |layout| Cell::Change(layout.overhead()))
        .col("packet, bytes", "payload_bytes", |layout| layout.packet.payload().0)
        .col("frame", "frame_bytes", |layout| layout.packet.frame.0)
        .col("on the wire", "wire_bytes", |layout| layout.packet.wire.0);
    let arrays = found.iter().flat_map(|layout| layout.arrays.iter().map(|array| (layout.chain, array)));
    page.table("arrays", "Register arrays: one of keys and one of values for each place in a row", arrays)
        .col("k", "chain", |row| row.0)
        .col("array", "array", |row| row.1.contents.name())
        .col("arrays", "arrays", |row| row.1.arrays)
        .col("registers of each", "registers", |row| row.1.registers)
        .col("bits of a register", "width_bits", |row| row.1.width)
        .col("bits of each", "bits", |row| row.1.bits())
        .col("bytes of each", "array_bytes", |row| bytes(row.1.bits()))
        .col("bits of all", "total_bits", |row| row.1.total_bits());
    let control =
        found.iter().flat_map(|layout| layout.packet.bandwidths.iter().map(move |of| (layout, *of)));
    page.table("control", "What control packets take of a line, there as well as back", control)
        .col("k", "chain", |row| row.0.chain)
        .col("control packets a second", "control_rate_per_s", |row| row.1.0.0)
        .col("bits of a packet", "payload_bits", |row| row.0.packet.payload_bits)
        .col("bandwidth", "bandwidth_bps", |row| row.1.1);
    if found.len() > 1 {
        page.plot(by_chain(found));
    }
}

/// Bits as bytes, rounded up.
pub(super) fn bytes(bits: u64) -> Bytes {
    Bytes(bits.div_ceil(8))
}

/// Bandwidth over the length of chains.
fn by_chain(found: &[Layout]) -> Plot {
    let mut layouts: Vec<&Layout> = found.iter().collect();
    layouts.sort_by_key(|layout| layout.chain);
    let rates = layouts.first().map_or(&[][..], |layout| &layout.packet.bandwidths);
    let curve = |(index, (rate, _)): (usize, &(_, _))| {
        let point = |layout: &&Layout| {
            let (_, bandwidth) = layout.packet.bandwidths.get(index)?;
            Some((f64::from(layout.chain), bandwidth.0 as f64))
        };
        Series {
            name: format!("{rate} control packets"),
            points: layouts.iter().filter_map(point).collect(),
            ..Series::default()
        }
    };
    Plot {
        id: "bandwidth".to_owned(),
        title: "What longer chains cost the line of the controller".to_owned(),
        note: "A control packet carries a whole row.".to_owned(),
        x: Axis { label: "entries in a row, k".to_owned(), unit: Unit::Plain, log: true },
        y: Axis {
            label: "bandwidth of control packets, one way".to_owned(),
            unit: Unit::BitsPerSec,
            log: true,
        },
        series: rates.iter().enumerate().map(curve).collect(),
    }
}
