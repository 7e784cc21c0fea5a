//! What `offload size` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_study::rounded::Toward;
use trueplane_units::{BitsPerSec, Bytes};

use crate::size::{LONGEST_FRAME, Layout, Size};
use crate::words::{counted, packets};

/// What the classical model believes.
const BELIEF: &str = "a table takes what its keys and values take";

impl Size {
    /// The report: arrays, control packets, and what both come to by the length of chains.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "What DySO's registers and control packets take".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: vec![
                ("key".to_owned(), counted(self.key_bits.into(), "bit")),
                ("value".to_owned(), counted(self.value_bits.into(), "bit")),
                ("version of a row".to_owned(), counted(self.version_bits.into(), "bit")),
                (
                    "history buffer".to_owned(),
                    format!(
                        "{} of {}",
                        counted(self.history_rows.into(), "row"),
                        counted(self.history_slots.into(), "key")
                    ),
                ),
            ],
            tables: vec![self.layouts_table(), self.arrays(), self.control()],
            plots: self.by_chain().into_iter().collect(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn layouts_table(&self) -> Table {
        let row = |layout: &Layout| {
            vec![
                Cell::Count(layout.chain.into()),
                Cell::Count(layout.rows),
                Cell::Count(layout.entries),
                Cell::Bytes(Bytes(layout.table_bits.div_ceil(8))),
                Cell::Bytes(Bytes(layout.total_bytes)),
                Cell::Change(layout.overhead),
                Cell::Count(layout.packet.payload_bytes),
                Cell::Count(layout.packet.frame_bytes),
                Cell::Count(layout.packet.wire_bytes),
            ]
        };
        Table {
            id: "layouts".to_owned(),
            title: "Registers and control packets by the length of chains".to_owned(),
            columns: vec![
                Column::new("k", "chain"),
                Column::new("rows", "rows"),
                Column::new("entries", "entries"),
                Column::new("keys and values", "table_bytes"),
                Column::new("all registers", "total_bytes"),
                Column::new("more", "overhead"),
                Column::new("packet, bytes", "payload_bytes"),
                Column::new("frame", "frame_bytes"),
                Column::new("on the wire", "wire_bytes"),
            ],
            rows: self.layouts.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn arrays(&self) -> Table {
        let rows = self.layouts.iter().flat_map(|layout| {
            layout.arrays.iter().map(|array| {
                vec![
                    Cell::Count(layout.chain.into()),
                    Cell::text(array.array),
                    Cell::Count(array.arrays),
                    Cell::Count(array.registers),
                    Cell::Count(array.width_bits),
                    Cell::Count(array.bits),
                    Cell::Bytes(Bytes(array.bytes)),
                    Cell::Count(array.total_bits),
                ]
            })
        });
        Table {
            id: "arrays".to_owned(),
            title: "Register arrays: one of keys and one of values for each place in a row".to_owned(),
            columns: vec![
                Column::new("k", "chain"),
                Column::new("array", "array"),
                Column::new("arrays", "arrays"),
                Column::new("registers of each", "registers"),
                Column::new("bits of a register", "width_bits"),
                Column::new("bits of each", "bits"),
                Column::new("bytes of each", "bytes"),
                Column::new("bits of all", "total_bits"),
            ],
            rows: rows.collect(),
            ..Table::default()
        }
    }

    fn control(&self) -> Table {
        let rows = self.layouts.iter().flat_map(|layout| {
            layout.packet.bandwidths.iter().map(|of| {
                vec![
                    Cell::Count(layout.chain.into()),
                    Cell::Count(of.control_rate),
                    Cell::Rate(BitsPerSec(of.bandwidth_bps)),
                ]
            })
        });
        Table {
            id: "control".to_owned(),
            title: "What control packets take of a line, there as well as back".to_owned(),
            columns: vec![
                Column::new("k", "chain"),
                Column::new("control packets a second", "control_rate"),
                Column::new("bandwidth", "bandwidth_bps"),
            ],
            rows: rows.collect(),
            ..Table::default()
        }
    }

    /// Bandwidth over the length of chains; none with one length.
    fn by_chain(&self) -> Option<Plot> {
        let mut layouts: Vec<&Layout> = self.layouts.iter().collect();
        layouts.sort_by_key(|layout| layout.chain);
        let first = layouts.first().filter(|_| layouts.len() > 1)?;
        let series = first.packet.bandwidths.iter().enumerate().map(|(index, of)| {
            let point = |layout: &&Layout| {
                Some((f64::from(layout.chain), layout.packet.bandwidths.get(index)?.bandwidth_bps as f64))
            };
            Series {
                name: format!("{} of control packets", packets(of.control_rate)),
                points: layouts.iter().filter_map(point).collect(),
                ..Series::default()
            }
        });
        Some(Plot {
            id: "bandwidth".to_owned(),
            title: "What longer chains cost the line of the controller".to_owned(),
            note: "A control packet carries a whole row.".to_owned(),
            x: Axis { label: "entries in a row, k".to_owned(), unit: Unit::Plain, log: true },
            y: Axis {
                label: "bandwidth of control packets, one way".to_owned(),
                unit: Unit::BitsPerSec,
                log: true,
            },
            series: series.collect(),
        })
    }

    /// What it comes to, the classical number first.
    pub(in super::super) fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for layout in &self.layouts {
            sentences.push(format!(
                "With k = {}, {} entries take {} as keys and values, and {} more for versions and history ({} of it): {} in {} register arrays.",
                layout.chain,
                layout.entries,
                Bytes(layout.table_bits.div_ceil(8)),
                Bytes((layout.total_bits - layout.table_bits).div_ceil(8)),
                Toward::Up.percent(layout.overhead),
                Bytes(layout.total_bytes),
                layout.arrays.iter().map(|array| array.arrays).sum::<u64>(),
            ));
            let bandwidths: Vec<String> = (layout.packet.bandwidths.iter())
                .map(|of| format!("{} at {}", BitsPerSec(of.bandwidth_bps), packets(of.control_rate)))
                .collect();
            if !bandwidths.is_empty() {
                sentences.push(format!(
                    "Its control packets are Ethernet frames of {} bytes, which take {} there and as much back.",
                    layout.packet.frame_bytes,
                    trueplane_study::prose::join(&bandwidths)
                ));
            }
            if layout.packet.frame_bytes > LONGEST_FRAME {
                sentences.push(format!(
                    "These frames are longer than {LONGEST_FRAME} bytes, which not every network carries."
                ));
            }
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::size::tests::usual;
    use super::super::super::size::{Options, size};

    #[test]
    fn the_verdict_names_what_versions_and_history_add() {
        let options = Options { chains: vec![4], ..usual() };
        assert_eq!(
            size(&options).unwrap().verdict,
            [
                "With k = 4, 65536 entries take 1MiB as keys and values, and 48.12KiB more for versions and history (4.7 % of it): 1.047MiB in 18 register arrays.",
                "Its control packets are Ethernet frames of 152 bytes, which take 1.376Gbps at 1Mpps and 6.88Gbps at 5Mpps there and as much back.",
            ]
        );
    }

    #[test]
    fn long_frames_are_warned_of() {
        let options = Options { chains: vec![16], value_bits: 1024, ..usual() };
        let verdict = size(&options).unwrap().verdict;
        assert!(verdict.iter().any(|sentence| sentence.contains("longer than 1518 bytes")), "{verdict:?}");
    }
}
