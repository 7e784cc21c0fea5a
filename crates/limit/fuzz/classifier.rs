//! What the fuzz targets of `limit` do with an input, and a classifier that is too simple to be wrong.
//!
//! `cargo test` does the same with the seeds (crates/limit/tests/limit/classifier.rs).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use trueplane_limit::classes::{Class, Classes, Count};
use trueplane_limit::classifier::{Classifier, Match};
use trueplane_limit::frame::{Addresses, Frame};

/// Classes with every kind of rule, for frames to be looked up in.
pub const CLASSES: &str = include_str!("seeds/limit_classes/every_rule.toml");

/// Parses `text` as a classes file, and says whether it is one. Errors are one line; what is read survives JSON and
/// can be compiled, and its limiters are found by their names.
pub fn read_classes(text: &str) -> bool {
    let classes = match Classes::parse("fuzz", text) {
        Ok(classes) => classes,
        Err(error) => {
            let message = error.to_string();
            let lines = text.matches('\n').count() + 1;
            assert!(!message.contains(['\n', '\r']) && (1..=lines).contains(&error.line), "{message:?}");
            return false;
        }
    };
    let json = serde_json::to_string(&classes).expect("classes as JSON");
    assert_eq!(serde_json::from_str::<Classes>(&json).expect(&json), classes);
    let classifier = Classifier::new(&classes);
    assert!(
        classifier.limiter_count() <= 1 << 20 && classifier.counter_count() <= classifier.limiter_count()
    );
    for limiter in [0, classifier.limiter_count() / 2, classifier.limiter_count() - 1] {
        let name = classifier.limiter_name(limiter).expect("a limiter has a name");
        assert_eq!(classifier.find(&name), Some(limiter..limiter + 1), "{name}");
    }
    true
}

/// Looks the frame `bytes` up in `classes`, without and with a mark, and says whether it has a class of its own. Simpler
/// ways come to the same answer.
pub fn classify_frame(classes: &Classes, classifier: &Classifier, bytes: &[u8]) -> bool {
    let frame = Frame::parse(bytes);
    assert_eq!(frame, parse(bytes));
    for fwmark in [7, 9, 0] {
        assert_eq!(
            classifier.classify(&frame, fwmark),
            classify(classes, &frame, fwmark),
            "{frame:?}, mark {fwmark}"
        );
    }
    let raw = Frame::parse_ip(bytes);
    assert_eq!(classifier.classify(&raw, 0), classify(classes, &raw, 0), "{raw:?}");
    let class = classify(classes, &frame, 0).map(|found| &classes.classes()[found.class as usize].name);
    class.map(String::as_str) != classes.default_class()
}

/// [`Frame::parse`] by counting bytes, as the program in the kernel does.
pub fn parse(bytes: &[u8]) -> Frame {
    let mut frame = Frame::default();
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let mut at = 14;
    if bytes.len() < at {
        return frame;
    }
    for _ in 0..2 {
        if matches!(word(at - 2), 0x8100 | 0x88a8 | 0x9100) {
            if bytes.len() < at + 4 {
                return frame;
            }
            frame.vlan = frame.vlan.or(Some(word(at) & 0x0fff));
            at += 4;
        }
    }
    let (kind, ip) = (word(at - 2), &bytes[at..]);
    if kind == 0x0800 && ip.len() >= 20 && ip[0] >> 4 == 4 {
        let header = usize::from(ip[0] & 15) * 4;
        if header >= 20 && ip.len() >= header {
            let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]).into();
            frame.addresses = Some(Addresses { source: address(12), destination: address(16) });
            frame.ecn_capable = ip[1] % 4 > 0;
        }
    } else if kind == 0x86dd && ip.len() >= 40 && ip[0] >> 4 == 6 {
        let address = |at: usize| {
            let bytes: [u8; 16] = ip[at..at + 16].try_into().expect("sixteen bytes");
            Ipv6Addr::from(bytes).into()
        };
        frame.addresses = Some(Addresses { source: address(8), destination: address(24) });
        frame.ecn_capable = ip[1] & 0x30 > 0;
    }
    frame
}

/// [`Classifier::classify`] by looking at one rule after the other.
pub fn classify(classes: &Classes, frame: &Frame, fwmark: u32) -> Option<Match> {
    let list = classes.classes();
    let marked = list.iter().position(|class| class.fwmark.contains(&fwmark));
    let tagged = || list.iter().position(|class| frame.vlan.is_some_and(|vlan| class.vlan.contains(&vlan)));
    if let Some(class) = marked.or_else(tagged) {
        return Some(limiter_of(list, class, 0));
    }
    let at = frame.addresses;
    at.and_then(|at| longest(list, at.source, |class| &class.source))
        .or_else(|| at.and_then(|at| longest(list, at.destination, |class| &class.destination)))
        .or_else(|| {
            let default = list.iter().position(|class| Some(class.name.as_str()) == classes.default_class());
            default.map(|class| limiter_of(list, class, 0))
        })
}

/// What the longest of all the `prefixes` that `address` is in leads to.
fn longest<P: std::fmt::Display>(
    list: &[Class],
    address: IpAddr,
    prefixes: fn(&Class) -> &Vec<P>,
) -> Option<Match> {
    let mut best = None;
    for (index, class) in list.iter().enumerate() {
        for prefix in prefixes(class) {
            let text = prefix.to_string();
            let (network, length) = text.split_once('/').expect("a prefix has a length");
            let (network, length): (IpAddr, usize) =
                (network.parse().expect(&text), length.parse().expect(&text));
            let (network, found) = (bits_of(network), bits_of(address));
            if network.len() == found.len()
                && network[..length] == found[..length]
                && best.is_none_or(|(most, _)| length > most)
            {
                // The bits between the class's prefix and those that have a limiter each.
                let each = class.each.map_or(length, usize::from);
                let offset = found[length..each].iter().fold(0, |sum, &bit| sum * 2 + u32::from(bit));
                best = Some((length, limiter_of(list, index, offset)));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// The bits of an address, first one first.
fn bits_of(address: IpAddr) -> Vec<bool> {
    let bits = |byte: u8| (0..8).rev().map(move |bit| byte >> bit & 1 == 1);
    match address {
        IpAddr::V4(address) => address.octets().into_iter().flat_map(bits).collect(),
        IpAddr::V6(address) => address.octets().into_iter().flat_map(bits).collect(),
    }
}

/// The limiter at `offset` in the class with this index, by counting all before it.
fn limiter_of(list: &[Class], class: usize, offset: u32) -> Match {
    let limiters = |class: &Class| 1u32 << class.width();
    let counters = |class: &Class| if class.count == Count::Each { limiters(class) } else { 1 };
    let counter_offset = if list[class].count == Count::Each { offset } else { 0 };
    Match {
        class: class as u32,
        limiter: list[..class].iter().map(limiters).sum::<u32>() + offset,
        counter: list[..class].iter().map(counters).sum::<u32>() + counter_offset,
    }
}
