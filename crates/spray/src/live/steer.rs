//! The `ethtool` commands that would let a card choose the cores.
//!
//! Receive-side scaling with the symmetric key is what every card with a key and an indirection table can do. Spraying by the low bits of TCP's checksum
//! needs a filter on two bytes at a place of one's choice, of which some bits do not count. What is known of cards is from their drivers in
//! Linux: Intel's ice and iavf match two bytes at any even offset (`user-def`), but all bits of them; ixgbe's offset is fixed to that of the
//! Ethernet type, and the authors changed DPDK's driver for it (§3.3). So the rules are a pattern, to be tried on the card.

use trueplane_linux::error::Error;
use trueplane_units::{Value as _, unexpected};

use crate::dispatch::{At, Card, DispatchName};

/// Bits of the symmetric key, as `ethtool` writes a key: 0x6d5a twenty times.
const KEY_BYTES: usize = 40;
/// Rules that a card of the 82599 family has room for (§3.3).
const MOST_RULES: usize = 8192;
/// Offset of TCP's checksum in a frame without VLAN tags and IP options.
const CHECKSUM_V4: u32 = 14 + 20 + 16;
const CHECKSUM_V6: u32 = 14 + 40 + 16;

/// The commands, one a line, with comments behind `#`.
///
/// # Errors
///
/// No card has the policy: it is not `rss`, `rss:default` or `spray`; or there are not 1 to 128 cores.
pub fn commands(device: &str, cores: usize, dispatch: DispatchName) -> Result<Vec<String>, Error> {
    if !(1..=128).contains(&cores) {
        return Err(Error::Request(format!("expected 1 to 128 cores, got {cores}")));
    }
    // Somebody will paste it into a shell.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if device.is_empty() || device.starts_with('-') || !device.bytes().all(is_plain) {
        return Err(Error::Request(format!(
            "expected a network device such as eth0, got \"{}\"",
            device.escape_debug()
        )));
    }
    let mut lines = vec![
        format!("# {dispatch} over {cores} cores on {device}; nothing was changed."),
        format!("ethtool -L {device} combined {cores}"),
        format!("ethtool -K {device} rxhash on gro off lro off"),
    ];
    match dispatch {
        DispatchName::Rss => hash(device, cores, true, &mut lines),
        DispatchName::RssDefault => hash(device, cores, false, &mut lines),
        DispatchName::Spray => {
            hash(device, cores, true, &mut lines);
            spray(device, cores, &mut lines);
        }
        other => {
            let expected = <At<Card>>::expected();
            return Err(Error::Request(unexpected(format!("{expected}, which cards have"), other)));
        }
    }
    Ok(lines)
}

fn hash(device: &str, cores: usize, symmetric: bool, lines: &mut Vec<String>) {
    if symmetric {
        lines.push("# One hash for both directions (Woo and Park, 2012).".to_owned());
        let key = vec!["6d:5a"; KEY_BYTES / 2].join(":");
        lines.push(format!("ethtool -X {device} hkey {key} equal {cores}"));
    } else {
        lines.push("# The key that the card has from the factory: the two directions of a connection go to different cores.".to_owned());
        lines.push(format!("ethtool -X {device} equal {cores}"));
    }
    lines.push("# Addresses and ports.".to_owned());
    for kind in ["tcp4", "udp4", "tcp6", "udp6"] {
        lines.push(format!("ethtool -N {device} rx-flow-hash {kind} sdfn"));
    }
}

fn spray(device: &str, cores: usize, lines: &mut Vec<String>) {
    // A number of cores that is no power of two shares out more values, so that none gets much more than another.
    let values = if cores.is_power_of_two() { cores } else { (16 * cores).next_power_of_two() };
    let values = values.min(MOST_RULES / 2);
    let ignored = 0xffff & !(values as u32 - 1);
    lines.push(format!(
        "# TCP by the {} low bits of its checksum: offset and value, and after m the bits that do not count.",
        values.trailing_zeros()
    ));
    lines.push("# The card has to take such a mask; ice and iavf take none, and ixgbe no offset. Frames without tags and options.".to_owned());
    lines.push(format!("ethtool -K {device} ntuple on"));
    for (kind, offset) in [("tcp4", CHECKSUM_V4), ("tcp6", CHECKSUM_V6)] {
        for value in 0..values {
            lines.push(format!(
                "ethtool -N {device} flow-type {kind} user-def 0x{offset:04x}{value:04x} m 0x{ignored:x} action {}",
                value % cores
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checksum_has_one_rule_and_every_core_about_as_many() {
        for cores in [1, 2, 3, 8, 12, 128] {
            let lines = commands("eth0", cores, DispatchName::Spray).unwrap();
            let rules: Vec<_> = lines.iter().filter(|line| line.contains("flow-type tcp4")).collect();
            assert!(lines.iter().filter(|line| line.contains("flow-type")).count() <= MOST_RULES);
            let mut by_core = vec![0u32; cores];
            for (value, rule) in rules.iter().enumerate() {
                assert!(rule.contains(&format!("user-def 0x0032{value:04x} m 0x")), "{rule}");
                let core: usize = rule.rsplit(' ').next().unwrap().parse().unwrap();
                by_core[core] += 1;
            }
            let ignored = 0xffff & !(rules.len() - 1);
            assert!(rules.iter().all(|rule| rule.contains(&format!(" m 0x{ignored:x} "))));
            let (least, most) = (by_core.iter().min().unwrap(), by_core.iter().max().unwrap());
            assert!(f64::from(*most) <= 1.07 * f64::from(*least), "{by_core:?}");
        }
    }

    #[test]
    fn the_key_has_forty_bytes_and_other_policies_are_refused() {
        let lines = commands("eth0", 8, DispatchName::Rss).unwrap();
        let key = lines.iter().find_map(|line| line.strip_prefix("ethtool -X eth0 hkey ")).unwrap();
        assert_eq!(key.split(' ').next().unwrap().split(':').count(), KEY_BYTES);
        assert!(key.ends_with(" equal 8"));
        assert!(commands("eth0", 8, DispatchName::RoundRobin).is_err());
        assert!(commands("eth0", 0, DispatchName::Rss).is_err());
        assert!(commands("eth0; reboot", 8, DispatchName::Rss).is_err());
    }
}
