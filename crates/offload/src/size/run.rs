//! Counts registers and control packets.

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, PerSecond};

use super::found::{Array, Contents, Layout, Packet};
use super::options::Options;
use crate::policy::dyso::Shape;

/// Header and checksum of an Ethernet frame, IEEE 802.3 §3.
const FRAMING: u64 = 14 + 4;
/// The shortest Ethernet frame.
const SHORTEST_FRAME: u64 = 64;
/// Preamble, start of the frame, and the gap to the next.
const BETWEEN_FRAMES: u64 = 7 + 1 + 12;

/// Counts what every layout takes.
///
/// # Errors
/// If entries do not make whole rows, or it is no table that could be built, or one too large to be counted.
pub(super) fn run(options: &Options) -> Result<Vec<Layout>, Error> {
    let layout = |chain| Ok(layout(options, &options.shape(chain)?));
    options.chains().into_iter().map(layout).collect()
}

fn layout(options: &Options, shape: &Shape) -> Layout {
    let (rows, chain) = (u64::from(shape.rows()), shape.chain() as u64);
    let (history_rows, slots) = (u64::from(shape.history_rows()), shape.history_slots() as u64);
    let array = |contents, arrays, registers, width| Array { contents, arrays, registers, width };
    let arrays = vec![
        array(Contents::Keys, chain, rows, u64::from(*options.key_bits)),
        array(Contents::Values, chain, rows, u64::from(*options.value_bits)),
        array(Contents::Versions, 1, rows, u64::from(*options.version_bits)),
        array(Contents::HistoryKeys, slots, history_rows, u64::from(*options.key_bits)),
        array(Contents::HistoryFill, 1, history_rows, bits_for(slots)),
    ];
    Layout { chain: shape.chain() as u32, rows, arrays, packet: packet(options, shape) }
}

fn packet(options: &Options, shape: &Shape) -> Packet {
    let [key, value, version] =
        [*options.key_bits, *options.value_bits, *options.version_bits].map(u64::from);
    let slots = shape.history_slots() as u64;
    let update = bits_for(u64::from(shape.rows()) - 1) + version + shape.chain() as u64 * (key + value);
    let history = bits_for(u64::from(shape.history_rows()) - 1) + bits_for(slots) + slots * key;
    let payload_bits = update + history;
    let frame = (payload_bits.div_ceil(8) + FRAMING).max(SHORTEST_FRAME);
    let wire = frame + BETWEEN_FRAMES;
    let bandwidth = |rate: PerSecond| (rate, BitsPerSec(rate.0.saturating_mul(8 * wire)));
    Packet {
        payload_bits,
        frame: Bytes(frame),
        wire: Bytes(wire),
        bandwidths: options.control_rates().into_iter().map(bandwidth).collect(),
    }
}

/// Bits that hold every number from 0 to `most`; none for nothing but 0.
fn bits_for(most: u64) -> u64 {
    (u64::BITS - most.leading_zeros()).into()
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters;

    use super::*;

    /// What the paper has: 2¹⁴ rows of 4, 2⁸ rows of 8 in the history buffer.
    fn layouts(given: &[(&str, &str)]) -> Vec<Layout> {
        run(&Options::given(given).unwrap()).unwrap()
    }

    #[test]
    fn registers_and_packets_are_counted_by_hand() {
        let layout = &layouts(&[])[0];
        assert_eq!((layout.chain, layout.rows, layout.entries()), (4, 16_384, 65_536));
        let arrays: Vec<_> =
            layout.arrays.iter().map(|of| (of.contents, of.arrays, of.registers, of.width)).collect();
        assert_eq!(
            arrays,
            [
                (Contents::Keys, 4, 16_384, 64),
                (Contents::Values, 4, 16_384, 64),
                (Contents::Versions, 1, 16_384, 16),
                (Contents::HistoryKeys, 8, 256, 64),
                (Contents::HistoryFill, 1, 256, 4),
            ]
        );
        let total = (1 << 20) + 32_768 + 16_384 + 128;
        assert_eq!((layout.table_bits(), layout.total_bits()), (8 << 20, 8 * total));
        // 14 bits of row, 16 of version, 4 entries, 8 bits of history row, 4 of fill, 8 keys.
        let packet = &layout.packet;
        assert_eq!(packet.payload_bits, 14 + 16 + 4 * 128 + 8 + 4 + 8 * 64);
        assert_eq!((packet.payload().0, packet.frame.0, packet.wire.0), (134, 152, 172));
        assert_eq!(packet.bandwidths[1], (PerSecond(5_000_000), BitsPerSec(5_000_000 * 172 * 8)));
    }

    /// A longer chain only saves versions, and a length given twice is one.
    #[test]
    fn longer_chains_save_versions() {
        let layouts = layouts(&[("chain", "4,16,4")]);
        let [four, sixteen] = &layouts[..] else { panic!("two chains") };
        assert_eq!((four.entries(), sixteen.entries()), (65_536, 65_536));
        assert_eq!(four.total_bits() - sixteen.total_bits(), (16_384 - 4096) * 16);
        assert!(four.packet.wire < sixteen.packet.wire);
    }

    #[test]
    fn short_packets_are_padded() {
        let given = [("key_bits", "8"), ("value_bits", "1"), ("history", "256x1")];
        let packet = &layouts(&given)[0].packet;
        assert_eq!((packet.frame.0, packet.wire.0), (64, 84));
        assert_eq!([0, 1, 8, 255, 256].map(bits_for), [0, 1, 4, 8, 9]);
    }
}
