//! The verdict of `offload size`.

use trueplane_study::rounded::Toward;
use trueplane_units::Bytes;

use super::found::Layout;
use super::page::bytes;

/// The longest Ethernet frame without a VLAN tag, IEEE 802.3 §3.
const LONGEST_FRAME: Bytes = Bytes(1518);

/// The shortest and the longest chain, the classical number first.
pub(super) fn verdict(found: &[Layout]) -> Vec<String> {
    let by_chain = |layout: &&Layout| layout.chain;
    let Some((short, long)) = found.iter().min_by_key(by_chain).zip(found.iter().max_by_key(by_chain)) else {
        return Vec::new();
    };
    let mut sentences = vec![on_registers(short)];
    if long.chain > short.chain {
        sentences.push(on_registers(long));
    }
    sentences.extend(on_packets(long));
    if found.iter().any(|layout| layout.packet.frame > LONGEST_FRAME) {
        sentences.push(format!(
            "Frames longer than {} bytes, as there are here, are not carried by every network.",
            LONGEST_FRAME.0
        ));
    }
    sentences
}

fn on_registers(layout: &Layout) -> String {
    format!(
        "With k = {}, keys and values take {}; versions and history add {} ({}).",
        layout.chain,
        bytes(layout.table_bits()),
        bytes(layout.total_bits() - layout.table_bits()),
        Toward::Up.percent(layout.overhead()),
    )
}

fn on_packets(layout: &Layout) -> Option<String> {
    let (rate, bandwidth) = layout.packet.bandwidths.iter().max_by_key(|(rate, _)| *rate)?;
    Some(format!(
        "Its control packets of {} bytes on the wire take {bandwidth} each way at {rate}.",
        layout.packet.wire.0
    ))
}

#[cfg(test)]
mod tests {
    use trueplane_study::Study;
    use trueplane_units::Parameters;

    use super::super::{Options, Size};
    use super::*;

    fn said(given: &[(&str, &str)]) -> Vec<String> {
        let options = Options::given(given).unwrap();
        verdict(&Size::run(&options, &()).unwrap())
    }

    #[test]
    fn the_verdict_names_what_versions_and_history_add() {
        assert_eq!(
            said(&[]),
            [
                "With k = 4, keys and values take 1MiB; versions and history add 48.12KiB (4.7%).",
                "Its control packets of 172 bytes on the wire take 6.88Gbps each way at 5M/s.",
            ]
        );
    }

    #[test]
    fn long_frames_are_warned_of() {
        let said = said(&[("chain", "1,16"), ("value_bits", "1024")]);
        assert_eq!(said.len(), 4);
        assert!(said[3].contains("longer than 1518 bytes"), "{said:?}");
    }
}
