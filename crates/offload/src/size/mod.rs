//! The study: what DySO's registers take, and its control packets.

mod report;

use serde::Serialize;
use trueplane_study::Error;
use trueplane_study::metrics::ratio;

use crate::policy::dyso::Shape;

/// Header and checksum of an Ethernet frame, IEEE 802.3 §3.
const FRAMING: u64 = 14 + 4;
/// The shortest Ethernet frame.
const SHORTEST_FRAME: u64 = 64;
/// The longest without a VLAN tag.
pub(super) const LONGEST_FRAME: u64 = 1518;
/// Preamble, start of the frame, and the gap to the next.
const BETWEEN_FRAMES: u64 = 7 + 1 + 12;

/// What to count.
#[derive(Clone, Debug)]
pub struct Options {
    /// How large the table is.
    pub extent: Extent,
    /// Entries in a row, k: a layout for each.
    pub chains: Vec<u32>,
    /// Bits of a key.
    pub key_bits: u32,
    /// Bits of a value.
    pub value_bits: u32,
    /// Bits of the version of a row.
    pub version_bits: u32,
    /// Rows of the history buffer.
    pub history_rows: u32,
    /// Keys that a row of it holds.
    pub history_slots: u32,
    /// Control packets a second: a bandwidth for each.
    pub control_rates: Vec<u64>,
}

/// How large a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many entries, in as many rows as that makes.
    Entries(u64),
    /// So many rows, of as many entries as the chain is long.
    Rows(u64),
}

/// The result of `offload size`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// `offload.size`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// Bits of a key.
    pub key_bits: u32,
    /// Bits of a value.
    pub value_bits: u32,
    /// Bits of the version of a row.
    pub version_bits: u32,
    /// Rows of the history buffer.
    pub history_rows: u32,
    /// Keys that a row of it holds.
    pub history_slots: u32,
    /// One for every length of chains, in the order of the options.
    pub layouts: Vec<Layout>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// A table and its history buffer.
#[derive(Clone, Debug, Serialize)]
pub struct Layout {
    /// Entries in a row, k.
    pub chain: u32,
    /// Rows, N.
    pub rows: u64,
    /// All entries, N × k.
    pub entries: u64,
    /// The register arrays. Each is read or written once by a packet, in one stage of the pipeline.
    pub arrays: Vec<Array>,
    /// What keys and values take: the classical number.
    pub table_bits: u64,
    /// What all arrays take.
    pub total_bits: u64,
    /// The same in bytes, rounded up.
    pub total_bytes: u64,
    /// By which share of keys and values all arrays are above them.
    pub overhead: f64,
    /// What the controller sends, and gets back.
    pub packet: PacketSize,
}

/// Register arrays of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Array {
    /// What is in them.
    pub array: &'static str,
    /// How many there are of this kind.
    pub arrays: u64,
    /// Registers of each.
    pub registers: u64,
    /// Bits of a register.
    pub width_bits: u64,
    /// Bits of each array.
    pub bits: u64,
    /// The same in bytes, rounded up.
    pub bytes: u64,
    /// Bits of all arrays of this kind.
    pub total_bits: u64,
}

/// A control packet.
#[derive(Clone, Debug, Serialize)]
pub struct PacketSize {
    /// The row to write and its version, k keys and values, the row of the history buffer, how many keys were in it, and these.
    pub payload_bits: u64,
    /// The same in bytes, rounded up.
    pub payload_bytes: u64,
    /// With header, padding and checksum of Ethernet.
    pub frame_bytes: u64,
    /// With what a frame takes of the line beside itself.
    pub wire_bytes: u64,
    /// What control packets take of the line, on each of the two ways.
    pub bandwidths: Vec<Bandwidth>,
}

/// What control packets take of a line.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bandwidth {
    /// Control packets a second.
    pub control_rate: u64,
    /// What they take.
    pub bandwidth_bps: u64,
}

/// Counts what every layout takes.
///
/// # Errors
/// If entries do not make whole rows, or it is no table that could be built, or one too large to be counted.
pub fn size(options: &Options) -> Result<Size, Error> {
    let layouts = options.chains.iter().map(|&chain| Layout::of(options, chain)).collect::<Result<_, _>>()?;
    let mut size = Size {
        study: "offload.size",
        version: env!("CARGO_PKG_VERSION"),
        key_bits: options.key_bits,
        value_bits: options.value_bits,
        version_bits: options.version_bits,
        history_rows: options.history_rows,
        history_slots: options.history_slots,
        layouts,
        verdict: Vec::new(),
    };
    size.verdict = size.sentences();
    Ok(size)
}

impl Options {
    /// The rows of a table with chains of this length.
    fn rows(&self, chain: u32) -> Result<u32, Error> {
        let rows = match self.extent {
            Extent::Rows(rows) => rows,
            Extent::Entries(entries) => match (entries.checked_rem(chain.into()), chain) {
                (Some(0), _) => entries / u64::from(chain),
                (None, _) => 0,
                (Some(_), _) => {
                    return Err(Error::Parameters(format!(
                        "--entries {entries}: expected a multiple of the entries in a row, {chain}"
                    )));
                }
            },
        };
        u32::try_from(rows).map_err(|_| {
            Error::Parameters(format!("expected at most {} rows, got {rows} with --chain {chain}", u32::MAX))
        })
    }
}

impl Layout {
    fn of(options: &Options, chain: u32) -> Result<Self, Error> {
        let rows = options.rows(chain)?;
        let shape = Shape::new(rows, chain, options.history_rows, options.history_slots)
            .map_err(|error| Error::Parameters(format!("{error}, with --chain {chain}")))?;
        let (rows, chain_length) = (u64::from(rows), u64::from(chain));
        let (history_rows, slots) = (u64::from(options.history_rows), u64::from(options.history_slots));
        let arrays = vec![
            Array::of("keys", chain_length, rows, options.key_bits.into()),
            Array::of("values", chain_length, rows, options.value_bits.into()),
            Array::of("versions", 1, rows, options.version_bits.into()),
            Array::of("history keys", slots, history_rows, options.key_bits.into()),
            Array::of("history fill", 1, history_rows, bits_for(slots)),
        ];
        let table_bits = arrays[0].total_bits + arrays[1].total_bits;
        let total_bits: u64 = arrays.iter().map(|array| array.total_bits).sum();
        Ok(Self {
            chain,
            rows,
            entries: rows * chain_length,
            arrays,
            table_bits,
            total_bits,
            total_bytes: total_bits.div_ceil(8),
            overhead: ratio(total_bits.into(), table_bits) - 1.0,
            packet: PacketSize::of(options, &shape),
        })
    }
}

impl Array {
    /// At most 2³² registers, 2⁷ arrays and 2¹⁶ bits: nothing overflows.
    fn of(array: &'static str, arrays: u64, registers: u64, width_bits: u64) -> Self {
        let bits = registers * width_bits;
        Self {
            array,
            arrays,
            registers,
            width_bits,
            bits,
            bytes: bits.div_ceil(8),
            total_bits: arrays * bits,
        }
    }
}

impl PacketSize {
    fn of(options: &Options, shape: &Shape) -> Self {
        let [key, value, version] =
            [options.key_bits, options.value_bits, options.version_bits].map(u64::from);
        let slots = shape.history_slots() as u64;
        let update = bits_for(u64::from(shape.rows()) - 1) + version + shape.chain() as u64 * (key + value);
        let history = bits_for(u64::from(shape.history_rows()) - 1) + bits_for(slots) + slots * key;
        let payload_bytes = (update + history).div_ceil(8);
        let frame_bytes = (payload_bytes + FRAMING).max(SHORTEST_FRAME);
        let wire_bytes = frame_bytes + BETWEEN_FRAMES;
        let bandwidth = |&control_rate: &u64| Bandwidth {
            control_rate,
            bandwidth_bps: control_rate.saturating_mul(8 * wire_bytes),
        };
        Self {
            payload_bits: update + history,
            payload_bytes,
            frame_bytes,
            wire_bytes,
            bandwidths: options.control_rates.iter().map(bandwidth).collect(),
        }
    }
}

/// Bits that hold every number from 0 to `most`; none for nothing but 0.
fn bits_for(most: u64) -> u64 {
    (u64::BITS - most.leading_zeros()).into()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What the paper has: 2¹⁴ rows of 4, 2⁸ rows of 8 in the history buffer.
    pub(in super::super) fn usual() -> Options {
        Options {
            extent: Extent::Entries(65_536),
            chains: vec![4, 16],
            key_bits: 64,
            value_bits: 64,
            version_bits: 16,
            history_rows: 256,
            history_slots: 8,
            control_rates: vec![1_000_000, 5_000_000],
        }
    }

    #[test]
    fn registers_and_packets_are_counted_by_hand() {
        let size = size(&usual()).unwrap();
        let layout = &size.layouts[0];
        assert_eq!((layout.chain, layout.rows, layout.entries), (4, 16_384, 65_536));
        let arrays: Vec<_> = layout
            .arrays
            .iter()
            .map(|of| (of.array, of.arrays, of.registers, of.width_bits, of.bytes))
            .collect();
        assert_eq!(
            arrays,
            [
                ("keys", 4, 16_384, 64, 131_072),
                ("values", 4, 16_384, 64, 131_072),
                ("versions", 1, 16_384, 16, 32_768),
                ("history keys", 8, 256, 64, 2048),
                ("history fill", 1, 256, 4, 128),
            ]
        );
        assert_eq!((layout.table_bits, layout.total_bytes), (8 << 20, (1 << 20) + 32_768 + 16_384 + 128));
        // 14 bits of row, 16 of version, 4 entries, 8 bits of history row, 4 of fill, 8 keys.
        let packet = &layout.packet;
        assert_eq!(packet.payload_bits, 14 + 16 + 4 * 128 + 8 + 4 + 8 * 64);
        assert_eq!((packet.payload_bytes, packet.frame_bytes, packet.wire_bytes), (134, 152, 172));
        assert_eq!(packet.bandwidths[1].bandwidth_bps, 5_000_000 * 172 * 8);
    }

    /// The parts make the whole, and a longer chain only saves versions.
    #[test]
    fn sums_are_those_of_the_parts() {
        let size = size(&usual()).unwrap();
        for layout in &size.layouts {
            let sum: u64 = layout.arrays.iter().map(|array| array.arrays * array.bits).sum();
            assert_eq!((sum, layout.entries), (layout.total_bits, 65_536));
            assert!(layout.arrays.iter().all(|array| array.bits == array.registers * array.width_bits));
        }
        let [four, sixteen] = &size.layouts[..] else { panic!("two chains") };
        assert_eq!(four.total_bits - sixteen.total_bits, (16_384 - 4096) * 16);
        assert!(four.packet.wire_bytes < sixteen.packet.wire_bytes);
    }

    #[test]
    fn short_packets_are_padded() {
        let options = Options { key_bits: 8, value_bits: 1, history_slots: 1, ..usual() };
        let packet = &size(&options).unwrap().layouts[0].packet;
        assert_eq!((packet.frame_bytes, packet.wire_bytes), (64, 84));
        assert_eq!([0, 1, 8, 255, 256].map(bits_for), [0, 1, 4, 8, 9]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let refused = |options: Options| size(&options).unwrap_err().to_string();
        let uneven = Options { extent: Extent::Entries(65_537), ..usual() };
        assert_eq!(refused(uneven), "--entries 65537: expected a multiple of the entries in a row, 4");
        let one = Options { extent: Extent::Rows(1), ..usual() };
        assert!(refused(one).contains("at least 2 rows, got 1"));
        let huge = Options { extent: Extent::Rows(1 << 32), ..usual() };
        assert!(refused(huge).contains("at most 4294967295 rows"));
        let none = Options { chains: vec![0], ..usual() };
        assert!(refused(none).contains("expected"));
    }
}
