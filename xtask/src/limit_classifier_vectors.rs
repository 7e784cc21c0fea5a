//! `vectors/limit/classifier.json`: frames, and the limiter that each of them meets.
//!
//! The expected answers come from the Rust classifier, whose own tests hold it to a linear scan; a program in the kernel
//! that loads the same classes has to give the same ones. A frame is one line: its bytes in hexadecimal, the kernel's mark
//! (zero for none), the index of the limiter and of the counter, or null for what passes untouched. No kernel runs a
//! program on a frame of less than 14 bytes, so a replay there leaves those out, and XDP knows no mark.

use std::fmt::Write;
use std::net::IpAddr;

use trueplane_limit::classes::Classes;
use trueplane_limit::classifier::Classifier;
use trueplane_limit::frame::Frame;

/// Every kind of rule, and packets that several of them match.
const EVERY_RULE: &str = r#"default = "rest"

[[class]]
name = "marked"
rate = "1Gbps"
fwmark = [7, 0xffffffff]

[[class]]
name = "vlans"
rate = "2Gbps"
vlan = [100, 4094]

[[class]]
name = "tenants"
rate = "100Mbps"
source = "10.0.0.0/16"
each = 24
count = "each"
inside = "rest"

[[class]]
name = "homes"
rate = "50Mbps"
destination = "2001:db8::/48"
each = 56

[[class]]
name = "rest"
rate = "10Gbps"
source = ["10.0.0.0/8", "2001:db8::/32"]
destination = ["192.0.2.0/24", "fd00::/8"]

[[class]]
name = "host"
rate = "64kbps"
destination = ["192.0.2.1", "fd00::1"]
inside = "rest"

[[class]]
name = "other-way"
rate = "5Gbps"
source = "192.0.2.0/24"
destination = "10.0.0.0/8"
"#;

/// Prefixes of the extreme lengths, nested, and no class for the rest.
const NESTED: &str = r#"[[class]]
name = "all"
rate = "10Gbps"
source = "2000::/3"
destination = ["0.0.0.0/0", "::/0"]

[[class]]
name = "half"
rate = "5Gbps"
source = ["128.0.0.0/1", "2001:db8:0:1::/64"]
inside = "all"

[[class]]
name = "one"
rate = "1Gbps"
source = ["10.0.0.1/32", "10.0.0.3", "2001:db8::1/128"]
destination = ["::1", "10.0.0.2"]
inside = "all"

[[class]]
name = "beside"
rate = "1Gbps"
destination = "10.0.0.0/31"
inside = "all"
"#;

/// Every source there is, so that no destination counts.
const EVERY_SOURCE: &str = r#"[[class]]
name = "all"
rate = "10Gbps"
source = ["0.0.0.0/0", "::/0"]

[[class]]
name = "unreachable"
rate = "1Gbps"
destination = ["0.0.0.0/0", "::/0"]
"#;

/// A limiter for each of the prefixes in another, of every width, and no class for the rest.
const EACH: &str = r#"[[class]]
name = "wide4"
rate = "1Mbps"
source = "10.0.0.0/8"
each = 24

[[class]]
name = "half4"
rate = "1Mbps"
source = "11.0.0.0/31"
each = 32
count = "each"

[[class]]
name = "same4"
rate = "1Mbps"
source = "12.0.0.0/24"
each = 24
count = "each"

[[class]]
name = "whole4"
rate = "1Mbps"
destination = "0.0.0.0/0"
each = 8
count = "each"

[[class]]
name = "wide6"
rate = "1Mbps"
source = "2001:db8::/44"
each = 60
count = "each"

[[class]]
name = "half6"
rate = "1Mbps"
source = "2001:db9::/63"
each = 64

[[class]]
name = "same6"
rate = "1Mbps"
source = "2001:dba::/64"
each = 64

[[class]]
name = "whole6"
rate = "1Mbps"
destination = "::/0"
each = 4
"#;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;

/// Addresses on either side of every prefix above.
const V4_ADDRESSES: [&str; 24] = [
    "10.0.0.0",
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.3",
    "10.0.0.255",
    "10.0.1.0",
    "10.0.255.255",
    "10.1.0.0",
    "10.255.255.255",
    "11.0.0.0",
    "11.0.0.1",
    "11.0.0.2",
    "12.0.0.255",
    "12.0.1.0",
    "9.255.255.255",
    "0.0.0.0",
    "127.255.255.255",
    "128.0.0.0",
    "192.0.1.255",
    "192.0.2.0",
    "192.0.2.1",
    "192.0.2.255",
    "192.0.3.0",
    "255.255.255.255",
];

const V6_ADDRESSES: [&str; 24] = [
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "1fff:ffff::",
    "2000::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db8::",
    "2001:db8::1",
    "2001:db8:0:1::",
    "2001:db8:0:1:ffff:ffff:ffff:ffff",
    "2001:db8:0:2::",
    "2001:db8:0:ab00::1",
    "2001:db8:0:ffff::1",
    "2001:db8:1::",
    "2001:db8:f:ffff::1",
    "2001:db8:10::",
    "2001:db9::1",
    "2001:db9:0:1::1",
    "2001:db9:0:2::1",
    "2001:dba::1",
    "2001:dba:0:1::1",
    "fd00::1",
    "fd00::2",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

/// A frame and the kernel's mark on it.
type Packet = (Vec<u8>, u32);

/// The text of `vectors/limit/classifier.json`.
pub(crate) fn classifier_vectors() -> String {
    let sets: [(&str, &str, Vec<Packet>); 5] = [
        ("every_rule", EVERY_RULE, [precedence(), pairs(), shapes(), cuts(), random(1, 150)].concat()),
        (
            "no_default",
            &EVERY_RULE.replacen("default = \"rest\"\n\n", "", 1),
            [shapes(), random(2, 50)].concat(),
        ),
        ("nested", NESTED, [pairs(), random(3, 50)].concat()),
        ("every_source", EVERY_SOURCE, random(5, 50)),
        ("each", EACH, [pairs(), random(4, 100)].concat()),
    ];
    let sets: Vec<String> = sets.iter().map(|(name, text, packets)| set(name, text, packets)).collect();
    format!("{{\n\"sets\": [\n{}\n]\n}}\n", sets.join(",\n"))
}

/// One classes file and the frames that are looked up in it.
fn set(name: &str, text: &str, packets: &[Packet]) -> String {
    let classes = Classes::parse(name, text).expect("the classes above fit together");
    let classifier = Classifier::new(&classes);
    let packets: Vec<String> = packets.iter().map(|packet| line(&classifier, packet)).collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!(
        "{{\n\"name\": \"{name}\",\n\"classes\": \"{text}\",\n\"limiters\": {},\n\"counters\": {},\n\"frames\": [\n{}\n]\n}}",
        classifier.limiter_count(),
        classifier.counter_count(),
        packets.join(",\n")
    )
}

fn line(classifier: &Classifier, (bytes, fwmark): &Packet) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(hex, "{byte:02x}").expect("a string takes everything");
    }
    let found = classifier.classify(&Frame::parse(bytes), *fwmark);
    let or_null = |index: Option<u32>| index.map_or("null".to_owned(), |index| index.to_string());
    let (limiter, counter) = (or_null(found.map(|at| at.limiter)), or_null(found.map(|at| at.counter)));
    format!(r#"{{"frame": "{hex}", "fwmark": {fwmark}, "limiter": {limiter}, "counter": {counter}}}"#)
}

/// What every combination of the kinds of rules leads to.
fn precedence() -> Vec<Packet> {
    let mut packets = Vec::new();
    for fwmark in [0, 7, 8, u32::MAX] {
        for tags in [&[][..], &[(0x8100, 100)], &[(0x8100, 0)], &[(0x8100, 0xfffe)]] {
            for source in ["10.0.5.9", "10.1.5.9", "192.0.2.9", "198.51.100.1"] {
                for destination in ["192.0.2.1", "10.0.0.1", "198.51.100.1"] {
                    packets.push((ethernet(tags, IPV4, &ip(source, destination)), fwmark));
                }
            }
        }
    }
    packets
}

/// Every address as source and as destination, with another that varies.
fn pairs() -> Vec<Packet> {
    let mut packets = Vec::new();
    for (ether_type, addresses) in [(IPV4, &V4_ADDRESSES), (IPV6, &V6_ADDRESSES)] {
        for (index, address) in addresses.iter().enumerate() {
            // Steps of 7 and 11 meet all 24 others in some order.
            let (one, other) =
                (addresses[index * 7 % addresses.len()], addresses[index * 11 % addresses.len()]);
            packets.push((ethernet(&[], ether_type, &ip(address, one)), 0));
            packets.push((ethernet(&[], ether_type, &ip(other, address)), 0));
        }
    }
    packets
}

/// Whatever a frame can look like.
fn shapes() -> Vec<Packet> {
    let v4 = ip("10.0.5.9", "192.0.2.1");
    let v6 = ip("fe80::1", "2001:db8:0:ab00::1");
    let mut frames = Vec::new();
    // Up to four tags of every kind, of which the first two count.
    for tpid in [0x8100, 0x88a8, 0x9100, 0x9200] {
        for ids in [
            &[100][..],
            &[1, 100],
            &[100, 1],
            &[0, 100],
            &[0xf064],
            &[1, 2, 100],
            &[100, 2, 3],
            &[4094, 2, 3, 4],
        ] {
            let tags: Vec<(u16, u16)> = ids.iter().map(|&tci| (tpid, tci)).collect();
            frames.push(ethernet(&tags, IPV4, &v4));
            frames.push(ethernet(&tags, IPV6, &v6));
        }
    }
    frames.push(ethernet(&[(0x88a8, 1), (0x8100, 100)], IPV4, &v4));
    // Every header length, in a frame that ends with the header, before its end, and after it.
    for ihl in 0..16u8 {
        for length in [20, 24, 59, 60, 64] {
            frames.push(ethernet(&[], IPV4, &resized(with_first(&v4, 0x40 | ihl), length)));
        }
    }
    for version in [0, 4, 5, 6, 15] {
        frames.push(ethernet(&[], IPV4, &resized(with_first(&v4, version << 4 | 5), 60)));
        frames.push(ethernet(&[], IPV6, &with_first(&v6, version << 4)));
    }
    // Fragments: the first of several, and a later one; the ports' place holds what looks like an address.
    for offset in [0x2000u16, 0x20b9, 0x00b9] {
        let mut fragment = resized(v4.clone(), 40);
        fragment[6..8].copy_from_slice(&offset.to_be_bytes());
        frames.push(ethernet(&[], IPV4, &fragment));
    }
    // Extension headers, whole and cut: hop by hop, routing, fragment, destination options, authentication, none.
    for next in [0, 43, 44, 60, 51, 59] {
        for length in [40, 41, 48, 64] {
            let mut packet = resized(v6.clone(), length);
            packet[6] = next;
            frames.push(ethernet(&[], IPV6, &packet));
        }
    }
    // No IP at all: ARP, lengths of 802.3, MPLS, PPPoE, MACsec, and IP that says it is something else.
    for ether_type in [ARP, 0, 20, 46, 1500, 1536, 0x8847, 0x8864, 0x88e5, 0x0008, 0xdd86, 0xffff] {
        frames.push(ethernet(&[], ether_type, &v4));
        frames.push(ethernet(&[(0x8100, 100)], ether_type, &v6));
    }
    frames.push(ethernet(&[], IPV4, &v6));
    frames.push(ethernet(&[], IPV6, &resized(v4, 40)));
    frames.into_iter().map(|frame| (frame, 0)).collect()
}

/// Frames that end after every possible number of bytes.
fn cuts() -> Vec<Packet> {
    let tags = [(0x88a8, 100), (0x8100, 2)];
    let whole = [
        ethernet(&tags, IPV6, &ip("fe80::1", "2001:db8::1")),
        ethernet(&tags[1..], IPV4, &resized(with_first(&ip("10.0.5.9", "192.0.2.1"), 0x46), 24)),
        ethernet(&[], IPV4, &ip("10.0.5.9", "192.0.2.1")),
        ethernet(&[], IPV6, &ip("fe80::1", "2001:db8::1")),
    ];
    whole.iter().flat_map(|frame| (0..=frame.len()).map(|length| (frame[..length].to_vec(), 0))).collect()
}

/// Frames of random parts, the same for the same seed.
fn random(seed: u64, count: usize) -> Vec<Packet> {
    let mut random = Random(seed);
    let mut packets = Vec::with_capacity(count);
    for _ in 0..count {
        let tags: Vec<(u16, u16)> = (0..random.below(4))
            .map(|_| {
                (random.one_of(&[0x8100, 0x88a8, 0x9100]), random.one_of(&[0, 1, 100, 4094, 4095, 0xf064]))
            })
            .collect();
        let (ether_type, addresses) =
            random.one_of(&[(IPV4, &V4_ADDRESSES), (IPV6, &V6_ADDRESSES), (ARP, &V4_ADDRESSES)]);
        let mut payload = ip(random.one_of(addresses), random.one_of(addresses));
        // Bits of the addresses, the first header byte, or the length; now and then nothing.
        match random.below(6) {
            0 => payload.truncate(random.below(40)),
            1 => payload[0] = random.below(256) as u8,
            2 | 3 => {
                let at = payload.len() - 1 - random.below(8);
                payload[at] ^= 1 << random.below(8);
            }
            _ => payload.extend((0..random.below(16)).map(|byte| byte as u8)),
        }
        packets.push((ethernet(&tags, ether_type, &payload), random.one_of(&[0, 0, 0, 0, 0, 0, 7, 9])));
    }
    packets
}

/// SplitMix64: enough to vary test data.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// An Ethernet frame with these tags, each with its TPID.
fn ethernet(tags: &[(u16, u16)], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    for (tpid, tci) in tags {
        frame.extend(tpid.to_be_bytes());
        frame.extend(tci.to_be_bytes());
    }
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame
}

/// An IP header between two addresses of one family, of a UDP packet without a payload; not all fields are filled in.
fn ip(source: &str, destination: &str) -> Vec<u8> {
    let parse = |text: &str| text.parse().expect("the addresses above are addresses");
    match (parse(source), parse(destination)) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let fixed = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0];
            [&fixed[..], &source.octets(), &destination.octets()].concat()
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let fixed = [0x60, 0, 0, 0, 0, 0, 17, 64];
            [&fixed[..], &source.octets(), &destination.octets()].concat()
        }
        _ => unreachable!("both addresses come from one list"),
    }
}

fn with_first(packet: &[u8], first: u8) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[0] = first;
    packet
}

/// Cut or filled up with zeros.
fn resized(mut packet: Vec<u8>, length: usize) -> Vec<u8> {
    packet.resize(length, 0);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_of_a_size_to_commit_and_meet_every_class() {
        let text = classifier_vectors();
        assert!(text.len() < 500_000, "{} bytes", text.len());
        assert_eq!(text, classifier_vectors());
        for (set, class_count) in [(EVERY_RULE, 7), (NESTED, 4), (EVERY_SOURCE, 1), (EACH, 8)] {
            let classifier = Classifier::new(&Classes::parse("", set).unwrap());
            let packets = [precedence(), pairs(), shapes()].concat();
            let mut met: Vec<Option<u32>> = packets
                .iter()
                .map(|(bytes, fwmark)| {
                    classifier.classify(&Frame::parse(bytes), *fwmark).map(|found| found.class)
                })
                .collect();
            met.sort_unstable();
            met.dedup();
            met.retain(Option::is_some);
            assert_eq!(met.len(), class_count);
        }
    }
}
