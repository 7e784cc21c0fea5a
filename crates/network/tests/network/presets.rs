//! Senders with the settings of the published simulations: their start, windows and time-outs.

use trueplane_network::Nanos;
use trueplane_network::transport::preset::{self, Parts};
use trueplane_network::transport::{CongestionControl, Flags, LossRecovery, Segment, Sender};

const SEGMENT: u64 = 1_380;

/// A sender with much to send, and the number of segments that it sends at once after its handshake, which took so long.
fn opened<C: CongestionControl, R: LossRecovery>(
    parts: Parts<C, R>,
    round_trip: Nanos,
) -> (Sender<C, R>, usize) {
    let (settings, control, recovery) = parts;
    let mut sender = Sender::new(settings, control, recovery).unwrap();
    sender.write(1_000_000);
    let syn = sender.poll(Nanos(0)).unwrap();
    assert!(syn.flags.syn && sender.poll(Nanos(0)).is_none());
    hear(
        &mut sender,
        Segment { ack: 1, flags: Flags { syn: true, ..Flags::default() }, ..Segment::default() },
        round_trip,
    );
    let sent = std::iter::from_fn(|| sender.poll(round_trip))
        .inspect(|segment| assert_eq!(u64::from(segment.length), SEGMENT))
        .count();
    (sender, sent)
}

fn hear<C: CongestionControl, R: LossRecovery>(sender: &mut Sender<C, R>, segment: Segment, now: Nanos) {
    let flags = Flags { ack: true, ..segment.flags };
    sender.on_segment(&Segment { window: 65_535, flags, ..segment }, now);
}

fn first_timeout<C: CongestionControl, R: LossRecovery>(parts: Parts<C, R>) -> Nanos {
    let (settings, control, recovery) = parts;
    let mut sender = Sender::new(settings, control, recovery).unwrap();
    sender.poll(Nanos(0));
    sender.wakeup().unwrap()
}

#[test]
fn tcp_and_dctcp_start_with_three_segments_and_300_microseconds() {
    let round_trip = Nanos(32_000);
    let (tcp, sent) = opened(preset::standard_tcp(), round_trip);
    assert_eq!([sent as u64, tcp.control().ssthresh()], [3, 30 * SEGMENT]);
    let (dctcp, sent) = opened(preset::standard_dctcp(), round_trip);
    assert_eq!([sent as u64, dctcp.control().ssthresh()], [3, 30 * SEGMENT]);
    assert_eq!(first_timeout(preset::standard_tcp()), Nanos(300_000));
    assert_eq!(first_timeout(preset::standard_dctcp()), Nanos(300_000));
}

/// It is TCP with another start and another first time-out: it measures, and its time-out doubles.
#[test]
fn pfabric_starts_at_the_threshold_and_measures() {
    let round_trip = Nanos(32_000);
    let (mut sender, sent) = opened(preset::standard_pfabric(), round_trip);
    assert_eq!([sent as u64, sender.control().ssthresh()], [30, 30 * SEGMENT]);
    assert_eq!(first_timeout(preset::standard_pfabric()), Nanos(96_384));
    // SRTT + 4 × RTTVAR with RTTVAR = SRTT ÷ 2.
    assert_eq!(sender.round_trip().timeout(), Nanos(96_000));
    let expires = sender.wakeup().unwrap();
    assert_eq!(expires, Nanos(32_000 + 96_000));
    while sender.poll(expires).is_some() {}
    assert_eq!(sender.round_trip().timeout(), Nanos(2 * 96_000));
    assert_eq!([sender.control().cwnd(), sender.control().ssthresh()], [SEGMENT, 15 * SEGMENT]);
}

/// Three duplicates tell it of a loss, as they tell TCP.
#[test]
fn pfabric_repairs_by_duplicates() {
    let (mut sender, _) = opened(preset::standard_pfabric(), Nanos(32_000));
    let now = Nanos(64_000);
    let mut sent = Vec::new();
    for _ in 0..3 {
        hear(&mut sender, Segment { ack: 1, ..Segment::default() }, now);
        sent.extend(std::iter::from_fn(|| sender.poll(now)).map(|segment| segment.sequence));
    }
    assert_eq!(sent.last(), Some(&1));
    assert_eq!(sender.control().cwnd(), 15 * SEGMENT);
}

/// The window of the receiver, and the greatest congestion window, hold 47 segments.
#[test]
fn no_more_than_47_segments_are_on_their_way() {
    let (mut sender, sent) = opened(preset::standard_tcp(), Nanos(32_000));
    let (mut on_their_way, mut acknowledged, mut most) = (sent, 1, sent);
    for round in 2..700 {
        acknowledged += SEGMENT;
        hear(&mut sender, Segment { ack: acknowledged, ..Segment::default() }, Nanos(round * 32_000));
        on_their_way += std::iter::from_fn(|| sender.poll(Nanos(round * 32_000))).count();
        on_their_way -= 1;
        most = most.max(on_their_way);
    }
    assert_eq!(most, 47);
}

/// A lost SYN is sent again after 300, 600 and 1200 µs.
#[test]
fn lost_syns_double_the_time() {
    let (settings, control, recovery) = preset::standard_tcp();
    let mut sender = Sender::new(settings, control, recovery).unwrap();
    let mut times = Vec::new();
    let mut now = Nanos(0);
    for _ in 0..4 {
        assert!(sender.poll(now).is_some_and(|segment| segment.flags.syn));
        times.push(now.0 / 1_000);
        now = sender.wakeup().unwrap();
    }
    assert_eq!(times, [0, 300, 900, 2_100]);
}
