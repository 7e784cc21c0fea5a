//! Captures through limits: identities, and what every limiter has to do.

use proptest::prelude::*;
use trueplane_limit::classes::Classes;
use trueplane_limit::drain::Drain;
use trueplane_limit::policy::PolicyName;
use trueplane_limit::replay::found::UNCLASSIFIED;
use trueplane_limit::replay::{ClassRun, Found, Options, Replay, replay};
use trueplane_limit::tally::Counts;
use trueplane_study::{Study, study};
use trueplane_trace::{Format, Trace, TraceOptions};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Parameters};

/// A UDP packet in an Ethernet frame from 10.0.`tenant`.1, with these ECN bits.
fn frame(tenant: u8, port: u16, payload: usize, ecn: u8) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder =
        etherparse::PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, tenant, 1], [10, 9, 9, 9], 64);
    builder.udp(port, 53).write(&mut frame, &vec![0; payload]).unwrap();
    frame[15] = ecn;
    frame
}

/// A pcap file of packets dated in microseconds, with the lengths that they had on the wire.
fn pcap(link: u32, packets: &[(u64, u32, Vec<u8>)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link]);
    for (micros, length, data) in packets {
        let (seconds, fraction) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        file.extend(words(&[seconds, fraction, data.len() as u32, *length]));
        file.extend(data);
    }
    file
}

const CLASSES: &str = r#"
[[class]]
name = "both"
rate = "8Mbps"
burst = "3000B"
destination = "10.9.9.9/32"

[[class]]
name = "one"
rate = "800kbps"
burst = "3000B"
mark = "1000B"
source = "10.0.1.0/24"

[[class]]
name = "each"
rate = "800kbps"
burst = "1500B"
source = "10.0.2.0/23"
each = 24

[[class]]
name = "inner"
rate = "80Mbps"
burst = "30000B"
source = "10.0.4.0/24"
inside = "both"
"#;

fn opened(file: Vec<u8>, sort: bool) -> Trace {
    let options = TraceOptions { format: Some(Format::Pcap), sort, ..TraceOptions::default() };
    Trace::from_bytes("t.pcap", file, &options).unwrap()
}

fn options() -> Options {
    given(&[])
}

/// In bins of 1 ms, but for these parameters.
fn given(pairs: &[(&str, &str)]) -> Options {
    Options::given(&[&[("bin", "1ms")], pairs].concat()).unwrap()
}

fn replayed(file: Vec<u8>) -> Found {
    let found = replay(&options(), &opened(file, false), &classes(), &()).unwrap();
    assert_identities(&found);
    found
}

fn classes() -> Classes {
    Classes::parse("classes.toml", CLASSES).unwrap()
}

fn verdict(found: &Found) -> Vec<String> {
    Replay::verdict(&options(), found)
}

/// arrived = passed + marked + dropped, in packets and bytes, for every class, limiter and bin; and the parts make the whole.
fn assert_identities(replay: &Found) {
    let mut sum = Counts::default();
    for class in &replay.classes {
        let mut over_time = Counts::default();
        for bin in class.over_time.bins() {
            over_time.merge(&bin.counts);
        }
        assert_eq!(over_time, class.counts, "{}", class.class);
        if !class.limiters.is_empty() {
            let mut limiters = Counts::default();
            class.limiters.iter().for_each(|limiter| limiters.merge(&limiter.counts));
            assert_eq!(limiters, class.counts, "{}", class.class);
        }
        sum.merge(&class.counts);
    }
    assert_eq!(sum, replay.counts);
    for counts in replay.classes.iter().map(|class| &class.counts).chain([&replay.counts]) {
        let packets = counts.passed_packets + counts.marked_packets + counts.dropped_packets;
        let bytes = counts.passed_bytes + counts.marked_bytes + counts.dropped_bytes;
        assert_eq!((counts.arrived_packets, counts.arrived_bytes), (packets, bytes));
    }
}

fn class<'a>(replay: &'a Found, name: &str) -> &'a ClassRun {
    replay.classes.iter().find(|class| class.class == name).unwrap()
}

#[test]
fn packets_meet_their_limits_by_their_length_on_the_wire() {
    // 4 packets of 1500 bytes at once, of which 60 were captured: two fit into 3000 bytes.
    let packets: Vec<_> = (0..4).map(|_| (0, 1500, frame(1, 7, 18, 0))).collect();
    let replay = replayed(pcap(1, &packets));
    let one = class(&replay, "one");
    assert_eq!(
        (one.counts.arrived_bytes, one.counts.passed_packets, one.counts.dropped_packets),
        (6000, 2, 2)
    );
    assert_eq!((one.unmarkable, one.occupancy_max, one.flows), (2, Some(Bytes(3000)), 1));
    assert_eq!((one.offered_mean, one.offered_peak), (None, BitsPerSec(48_000_000)));
    assert_eq!(replay.span, Nanos(0));
}

/// A bin that is longer than the capture is no longer than it for a peak: no peak is below the mean.
#[test]
fn a_peak_is_not_below_the_mean_of_a_short_capture() {
    // 40 packets of 1000 bytes, one every 10 µs: 390 µs of a bin of 1 ms.
    let packets: Vec<_> = (0..40).map(|at| (at * 10, 1000, frame(1, 7, 18, 0))).collect();
    let replay = replayed(pcap(1, &packets));
    assert!(replay.span < *options().bin, "{}", replay.span);
    let one = class(&replay, "one");
    assert_eq!(one.offered_mean, Some(one.offered_peak));
}

#[test]
fn who_understands_marks_gets_them() {
    let replay = replayed(pcap(
        1,
        &[(0, 800, frame(1, 7, 18, 2)), (0, 800, frame(1, 7, 18, 2)), (0, 800, frame(1, 7, 18, 0))],
    ));
    let one = class(&replay, "one");
    assert_eq!((one.counts.passed_packets, one.counts.marked_packets, one.unmarkable), (2, 1, 1));
    assert!(
        verdict(&replay)
            .iter()
            .any(|said| said.contains("33.3% of the packets would have been marked; 33.3% were due")),
        "{:?}",
        verdict(&replay)
    );
}

#[test]
fn every_prefix_has_its_own_limiter() {
    let packets: Vec<_> = [2, 3, 2, 3].map(|tenant| (0, 1000, frame(tenant, 7, 18, 0))).into();
    let replay = replayed(pcap(1, &packets));
    let each = class(&replay, "each");
    assert_eq!((each.counts.passed_packets, each.counts.dropped_packets), (2, 2));
    let names: Vec<&str> = each.limiters.iter().map(|limiter| limiter.limiter.as_str()).collect();
    assert_eq!(names, ["each[10.0.2.0/24]", "each[10.0.3.0/24]"]);
}

#[test]
fn a_packet_is_charged_to_both_limits_or_to_neither() {
    // Three packets of the inner class fill the outer one; the fourth is refused by the outer, and the inner is not charged.
    let mut packets: Vec<_> = (0..4).map(|_| (0, 1000, frame(4, 7, 18, 0))).collect();
    // Of the outer class itself, when 500 of its bytes have drained.
    packets.push((500, 600, frame(9, 7, 18, 0)));
    let replay = replayed(pcap(1, &packets));
    let (inner, both) = (class(&replay, "inner"), class(&replay, "both"));
    assert_eq!(
        (inner.counts.passed_packets, inner.counts.dropped_packets, inner.dropped_by_outer),
        (3, 1, 1)
    );
    assert_eq!((inner.occupancy_max, both.occupancy_max), (Some(Bytes(3000)), Some(Bytes(3000))));
    assert_eq!((both.counts.arrived_packets, both.counts.dropped_packets), (1, 1));
}

#[test]
fn shares_are_of_flows_and_of_bytes() {
    let packets: Vec<_> = (0..9)
        .map(|port| (port, 100, frame(1, port as u16, 18, 0)))
        .chain([(10, 900, frame(2, 7, 18, 0)), (1_000_010, 200, frame(200, 7, 18, 0))])
        .collect();
    let mut packets = packets;
    packets[10].2[33] = 8;
    let replay = replayed(pcap(1, &packets));
    let (one, each, none) = (class(&replay, "one"), class(&replay, "each"), class(&replay, UNCLASSIFIED));
    assert_eq!([one.flows, each.flows, none.flows], [9, 1, 1]);
    assert_eq!([one.share_by_flows, each.share_by_flows], [9.0 / 11.0, 1.0 / 11.0]);
    assert_eq!([one.share_offered, each.share_offered, none.share_offered], [0.45, 0.45, 0.1]);
    assert_eq!((none.counts.passed_packets, none.limit), (1, None));
    assert!(
        verdict(&replay)[1].contains(
            "one would get 81.8% for its 9 flows (it took 45.0%), each 9.1% for its 1 flow (it took 45.0%)"
        ),
        "{:?}",
        verdict(&replay)
    );
}

#[test]
fn one_packet_is_the_same_on_every_link() {
    let frame = frame(1, 7, 18, 0);
    let ip = &frame[14..];
    let links: [(u32, Vec<u8>); 5] = [
        (1, frame.clone()),
        (101, ip.to_vec()),
        (0, [&[2, 0, 0, 0], ip].concat()),
        (113, [&[0; 14][..], &[8, 0], ip].concat()),
        (276, [&[8, 0][..], &[0; 18], ip].concat()),
    ];
    for (link, data) in links {
        let replay = replayed(pcap(link, &[(0, 100, data)]));
        assert_eq!(
            (class(&replay, "one").counts.arrived_packets, class(&replay, "one").flows),
            (1, 1),
            "link {link}"
        );
    }
    let trace = opened(pcap(127, &[(0, 100, frame)]), false);
    let error = replay(&options(), &trace, &classes(), &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.pcap: no packets found (packets of unknown link types (the first: 127): 1)"
    );
}

#[test]
fn time_that_goes_backwards_is_refused_or_sorted() {
    let packets: Vec<_> = [5, 3, 9].map(|second| (second * 1_000_000, 1000, frame(1, 7, 18, 0))).into();
    let of = |sort| replay(&options(), &opened(pcap(1, &packets), sort), &classes(), &());
    let error = of(false).unwrap_err().to_string();
    assert_eq!(error, "t.pcap: byte 100: time goes backwards, from 5s to 3s; --sort accepts that");
    let sorted = of(true).unwrap();
    assert_identities(&sorted);
    assert_eq!((sorted.span, sorted.counts.arrived_packets), (Nanos(6_000_000_000), 3));
}

#[test]
fn faster_replays_are_limited_more() {
    // 1000 B every 10 ms, the rate of the class.
    let packets: Vec<_> = (0..100).map(|packet| (packet * 10_000, 1000, frame(1, 7, 18, 0))).collect();
    let at = |speedup, policy| {
        let options = Options { policy, ..given(&[("speedup", speedup)]) };
        let replay = replay(&options, &opened(pcap(1, &packets), false), &classes(), &()).unwrap();
        assert_identities(&replay);
        (replay.span, class(&replay, "one").counts.dropped_packets)
    };
    for &policy in PolicyName::ALL {
        assert_eq!(at("1", policy), (Nanos(990_000_000), 0), "{policy}");
        let (span, dropped) = at("2", policy);
        assert_eq!(span, Nanos(495_000_000), "{policy}");
        assert!((40..=50).contains(&dropped), "{policy}: {dropped}");
    }
}

/// One packet, a silence, and 350 packets at 4/5 of the rate: how many of them are dropped.
fn dropped_after(silence_micros: u64, policy: PolicyName, drain: Drain) -> u64 {
    let frame = frame(1, 7, 18, 0);
    let late = (0..350).map(|packet| silence_micros + packet * 12_500);
    let packets: Vec<_> = [0].into_iter().chain(late).map(|micros| (micros, 1000, frame.clone())).collect();
    let options = Options { policy, drain, ..options() };
    let replay = replay(&options, &opened(pcap(1, &packets), false), &classes(), &()).unwrap();
    assert_identities(&replay);
    assert_eq!(replay.counts.arrived_packets, 351);
    replay.counts.dropped_packets
}

/// Eight wraps of the clock of a limiter and almost 4.3 s less than another: the last stretch counts as late.
#[test]
fn what_keeps_to_its_rate_passes_after_a_week_of_silence() {
    let silence = ((1u64 << 49) + (1 << 36) - 4_000_000_000) / 1_000;
    assert_eq!(dropped_after(silence, PolicyName::Nimble, Drain::Exact), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// From a microsecond, which is as fine as the capture is dated, to 50 years.
    #[test]
    fn what_keeps_to_its_rate_passes_after_any_silence(
        shift in 0..51u32,
        silence in 1..50 * 365 * 86_400 * 1_000_000u64,
    ) {
        let silence = (silence >> shift).max(1);
        for &policy in PolicyName::ALL {
            prop_assert_eq!(dropped_after(silence, policy, Drain::Exact), 0, "{}", policy);
        }
        prop_assert_eq!(dropped_after(silence, PolicyName::Nimble, Drain::Table(60_000)), 0);
    }
}

#[test]
fn a_link_before_the_limits_loses_doubles_and_reorders() {
    // 900 B every 10 ms, below the rate of the class: every mark and drop comes of the link.
    let packets: Vec<_> = (0..2_000).map(|packet| (packet * 10_000, 900, frame(1, 7, 18, 2))).collect();
    let over = |pairs: &[(&str, &str)]| {
        let found = replay(&given(pairs), &opened(pcap(1, &packets), false), &classes(), &()).unwrap();
        assert_identities(&found);
        let link = found.link;
        if !pairs.is_empty() {
            assert_eq!(link.sent, 2_000);
            assert_eq!(link.sent + link.duplicated, link.lost + found.counts.arrived_packets);
        }
        found
    };
    let untouched = |found: &Found| (found.counts.arrived_packets, found.counts.passed_packets);
    let without = over(&[]);
    assert_eq!((untouched(&without), without.link.sent), ((2_000, 2_000), 0));
    // A delay alone moves everything.
    let delayed = over(&[("delay", "3s")]);
    assert_eq!((delayed.counts, delayed.span), (without.counts, without.span));
    // Binomial with mean 200: six standard deviations.
    let lossy = over(&[("loss", "10%")]);
    assert!(lossy.link.lost.abs_diff(200) < 81, "{:?}", lossy.link);
    assert_eq!(lossy.counts.dropped_packets + lossy.counts.marked_packets, 0);
    // Copies are packets too many, and are charged: in 20 s no more passes than 2 MB, the burst and a packet.
    let doubled = over(&[("duplicate", "90%")]);
    assert!(doubled.link.duplicated > 1_700 && doubled.counts.admitted_bytes() <= 2_003_900);
    assert!(doubled.counts.dropped_packets > 0);
    let reordered = over(&[("delay", "15ms"), ("reorder", "20%")]);
    assert!(reordered.link.reordered > 300 && reordered.counts.marked_packets > 0);
    assert!(over(&[("jitter", "50ms")]).counts.marked_packets > 0);
    // Times of the link are those of the replay.
    let faster = over(&[("speedup", "10"), ("delay", "1ms"), ("loss", "1%")]);
    assert!(faster.span <= Nanos(1_999_000_000), "{}", faster.span);
    let report = study::report::<Replay>(&given(&[("loss", "10%")]), &lossy);
    assert_eq!(report.document["facts"]["link_lost_packets"].as_u64(), Some(lossy.link.lost));
}

#[test]
fn a_capture_of_which_nothing_arrives_is_told() {
    let lost = |seed: u64| {
        let options = given(&[("loss", "90%"), ("seed", &seed.to_string())]);
        let packets = [(0, 1000, frame(1, 7, 18, 0))];
        let found = replay(&options, &opened(pcap(1, &packets), false), &classes(), &()).unwrap();
        (found.counts.arrived_packets == 0).then(|| study::report::<Replay>(&options, &found))
    };
    let report = (0..20).find_map(lost).unwrap();
    assert_eq!(report.verdict, ["The link loses every packet of the capture."]);
}

#[test]
fn years_of_silence_cost_nothing_and_are_told() {
    let packets: Vec<_> = [0, 3_000_000_000_000_000].map(|micros| (micros, 3000, frame(1, 7, 18, 0))).into();
    let replay = replayed(pcap(1, &packets));
    assert_eq!(class(&replay, "one").counts.passed_packets, 2);
    let report = study::report::<Replay>(&options(), &replay);
    assert!(report.warnings[0].starts_with("Beware: for 3000000000s"), "{:?}", report.warnings);
    assert!(report.plots.iter().all(|plot| plot.series.iter().all(|series| series.points.len() <= 1001)));
}
