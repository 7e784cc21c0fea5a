//! Rules of the sender. Times are in µs.

use trueplane_network::Nanos;
use trueplane_network::transport::simplified::Sender;
use trueplane_network::transport::{End, Flags, Segment, SendingEnd, Simplified, Transport};

use super::PLAIN;
use crate::script::run;

fn sender(bytes: u64) -> Sender {
    Sender::new(PLAIN, bytes)
}

/// The handshake is not measured; the packet that ends it leaves alone, before the data.
#[test]
fn the_handshake_ends_with_a_packet_of_its_own() {
    let script = "
          0 > S 0+0
        100 < S ack 1
        100 > ack 1 win 0
        100 > 1+1000
        100 > 1001+500
        100 = rto 1000
        200 < ack 1001 at 100
        200 = rto 300                   # 100 + 4 × 50
        200 < ack 1501 at 100
        200 = done 1
    ";
    run(&mut sender(1_500), script);
}

/// An answer that is repeated is acknowledged again.
#[test]
fn a_second_answer_is_acknowledged_again() {
    let script = "
          0 > S 0+0
        100 < S ack 1
        100 > ack 1 win 0
        100 > 1+10
        150 < S ack 1
        150 > 11+0
    ";
    run(&mut sender(10), script);
}

/// Time-outs of the SYN lower the threshold and the window, and double the time.
#[test]
fn a_lost_syn_lowers_the_threshold() {
    let script = "
           0 > S 0+0
        1000 > S 0+0
        1000 = ssthresh 2000
        1000 = cwnd 1000
        3000 > S 0+0
        3100 < S ack 1
        3100 > ack 1 win 0
        3100 > 1+1000
        3100 = rto 4000
    ";
    run(&mut sender(3_000), script);
}

/// Without an acknowledgement of data before, repeated acknowledgements are no duplicates: the loss of the first segment ends in a
/// time-out, which leaves out what was acknowledged selectively.
#[test]
fn the_loss_of_the_first_segment_waits_for_the_timer() {
    let script = "
           0 > S 0+0
         100 < S ack 1
         100 > ack 1 win 0
         100 > 1+1000                   # lost
         100 > 1001+1000
         100 > 2001+1000
         200 < ack 1 sack 1001-2001 at 100
         201 < ack 1 sack 1001-3001 at 100
         202 < ack 1 sack 1001-3001 at 100
         203 < ack 1 sack 1001-3001 at 100
         203 = recovering 0
        1100 > 1+1000                   # the timer runs from the last segment sent
        1100 = ssthresh 2000
        1100 = cwnd 1000
        1200 < ack 3001 at 1100
        1200 = cwnd 2000
        1200 > 3001+1000
        1200 > 4001+1000
    ";
    run(&mut sender(5_000), script);
}

/// Two new segments for two duplicates, the lost one for the third; what is acknowledged selectively is not sent again.
#[test]
fn three_duplicates_begin_fast_recovery() {
    let script = "
           0 > S 0+0
         100 < S ack 1
         100 > ack 1 win 0
         100 > 1+1000
         100 > 1001+1000                # lost
         100 > 2001+1000
         200 < ack 1001 at 100
         200 = cwnd 4000
         200 > 3001+1000
         200 > 4001+1000
         201 < ack 1001 sack 2001-3001 at 100
         201 > 5001+1000
         300 < ack 1001 sack 2001-4001 at 200
         300 > 6001+1000
         301 < ack 1001 sack 2001-5001 at 200
         301 = recovering 1
         301 = ssthresh 3000            # half of the six from 1001 on
         301 = cwnd 6000
         301 > 1001+1000
         302 < ack 1001 sack 2001-6001 at 201
         302 = cwnd 7000
         302 > 7001+1000
         401 < ack 7001 at 301          # all that was sent before the loss was known
         401 = recovering 0
         401 = cwnd 3333                # the threshold, and a third of a segment more
         401 > 8001+1000
         401 > 9001+1000
    ";
    run(&mut sender(20_000), script);
}

/// A partial acknowledgement sends the next lost segment, and takes what it acknowledges from the window.
#[test]
fn partial_acknowledgements_repair_one_loss_each() {
    let script = "
           0 > S 0+0
         100 < S ack 1
         100 > ack 1 win 0
         100 > 1+1000
         100 > 1001+1000                # lost
         100 > 2001+1000                # lost
         200 < ack 1001 at 100
         200 > 3001+1000
         200 > 4001+1000
         300 < ack 1001 sack 3001-4001 at 200
         300 > 5001+1000
         301 < ack 1001 sack 3001-5001 at 200
         301 > 6001+1000
         400 < ack 1001 sack 3001-6001 at 300
         400 = cwnd 6000
         400 > 1001+1000
         500 < ack 2001 sack 3001-6001 at 400
         500 = cwnd 6000
         500 = recovering 1
         500 > 2001+1000
         500 > 7001+1000
    ";
    run(&mut sender(20_000), script);
}

/// The timer starts anew with each segment, and is stopped when nothing is on its way.
#[test]
fn the_timer_restarts_with_each_segment() {
    let mut sender = sender(4_000);
    let hear = |sender: &mut Sender, is_syn: bool, ack: u64, now: u64| {
        let flags = Flags { ack: true, syn: is_syn, ..Flags::default() };
        sender.on_segment(&Segment { ack, flags, ..Segment::default() }, Nanos(now));
        std::iter::from_fn(|| sender.poll(Nanos(now))).count()
    };
    assert!(sender.poll(Nanos(0)).is_some());
    assert_eq!(sender.wakeup(), Some(Nanos(1_000_000)));
    assert_eq!(hear(&mut sender, true, 1, 100), 4);
    assert_eq!(sender.wakeup(), Some(Nanos(1_000_100)));
    // RTT 200 ns: 200 + 4 × 100.
    assert_eq!(hear(&mut sender, false, 1_001, 200), 1);
    assert_eq!(sender.wakeup(), Some(Nanos(200 + 600)));
    assert_eq!(hear(&mut sender, false, 4_001, 200), 0);
    assert!(sender.is_done());
    assert_eq!(sender.wakeup(), None);
}

/// The rank of a segment is what is left from it on; the SYN has all.
#[test]
fn later_segments_have_less_left() {
    let mut sender = sender(2_500);
    let left = |sender: &mut Sender, now| {
        let segment = sender.poll(Nanos(now))?;
        Some(sender.remaining(&segment))
    };
    assert_eq!(left(&mut sender, 0), Some(2_500));
    let flags = Flags { ack: true, syn: true, ..Flags::default() };
    sender.on_segment(&Segment { ack: 1, flags, ..Segment::default() }, Nanos(10));
    let all: Vec<u64> = std::iter::from_fn(|| left(&mut sender, 10)).collect();
    assert_eq!(all, [2_499, 2_499, 1_499, 499]);
}

#[test]
fn senseless_settings_are_refused() {
    let errors = [
        Simplified { segment: 0, ..PLAIN },
        Simplified { initial: 0, ..PLAIN },
        Simplified { threshold: 0, ..PLAIN },
        Simplified { most: 999, ..PLAIN },
        Simplified { timeout: Nanos(0), ..PLAIN },
    ]
    .map(|settings| settings.connect(1).unwrap_err().to_string());
    assert_eq!(
        errors,
        [
            "segment: expected 1 to 65495 bytes, got 0",
            "initial: expected 1 to 65536 segments, got 0",
            "threshold: expected 1 to 65536 segments, got 0",
            "most: expected a segment or more, got 999",
            "timeout: expected 1 ns or more, got 0",
        ]
    );
    assert!([Simplified::TCP, Simplified::DCTCP, Simplified::PFABRIC].iter().all(|one| one.check().is_ok()));
}
