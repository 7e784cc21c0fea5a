//! Handshake, timers, windows and the end of a connection.

use trueplane_network::Nanos;
use trueplane_network::transport::settings::Pacing;
use trueplane_network::transport::{
    Control, Cubic, Dctcp, Flags, NewReno, RackTlp, Recovery, Reno, Sack, Segment, Sender, SenderSettings,
    TimeoutOnly, TimeoutSettings, WindowSettings,
};

use super::{sender, standard, windows};
use crate::script::run;

/// RFC 9293 §3.5, RFC 5681 §3.1: a handshake, and two segments for each that is acknowledged.
#[test]
fn a_flow_opens_doubles_and_ends() {
    let script = "
          0 write 5500
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 = cwnd 2000
        200 < ack 1001
        200 > 2001+1000
        200 > 3001+1000
        200 = cwnd 3000
        200 = srtt 100
        201 < ack 2001
        201 > 4001+1000
        201 > 5001+500
        300 < ack 4001
        350 close
        350 > F 5501+0
        360 < ack 5501
        360 = done 0
        400 < ack 5502
        400 = done 1
        99999999 pass        # no timer runs any more
    ";
    run(&mut sender(Reno::new(windows(2)), NewReno::new()), script);
}

/// A flow without data is a SYN, its acknowledgement alone, and a FIN when it is closed.
#[test]
fn a_flow_without_data_is_acknowledged_and_ended() {
    let script = "
          0 pass
          0 > S 0+0
        100 < S ack 1
        100 > ack 1 win 0
        200 < S ack 1        # the answer comes once more, and so does the acknowledgement
        200 > ack 1 win 0
        300 close
        300 > F 1+0
        400 < ack 2
        400 = done 1
    ";
    run(&mut sender(Reno::new(windows(2)), NewReno::new()), script);
}

/// RFC 6298 §5.4 to §5.7: the time-out doubles; after a lost SYN it is 3 s, and the window one segment (RFC 5681 §3.1).
#[test]
fn a_lost_syn_is_repeated_ever_later() {
    let script = "
              0 write 3000
              0 > S 0+0
        1000000 > S 0+0
        3000000 > S 0+0
        3000100 < S ack 1
        3000100 > 1+1000
        3000100 = rto 3000000
        3000100 = cwnd 1000
        6000100 > 1+1000
        6000100 = rto 6000000
        6000200 < ack 1001
        6000200 > 1001+1000
        6000200 > 2001+1000
        6000200 = rto 6000000    # Karn: what was sent twice measures nothing
        6000300 < ack 2001
        6000300 = rto 1000000
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// RFC 6298 §5.3: an acknowledgement of new data starts the timer anew; RFC 5681 §3.1: the threshold is half of the flight.
#[test]
fn the_timer_starts_anew_and_halves_the_threshold_once() {
    let script = "
              0 write 8000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            100 > 2001+1000
            100 > 3001+1000
         500000 < ack 1001
         500000 > 4001+1000
         500000 > 5001+1000
         500000 = cwnd 5000
         500000 = rto 1000000
        1500000 > 1001+1000
        1500000 = ssthresh 2500
        1500000 = cwnd 1000
        1500000 = flight 1000
        3500000 > 1001+1000
        3500000 = ssthresh 2500
        3500100 < ack 3001        # the other two are lost, and the window is two
        3500100 > 3001+1000
        3500100 > 4001+1000
        3500100 = cwnd 2000
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// A FIN that is alone is not marked (it has no data), and is repeated when it is lost.
#[test]
fn a_lone_fin_is_repeated() {
    let script = "
              0 write 1000
              0 > S E W 0+0
            100 < S E ack 1
            100 > 1+1000 ect
            150 close
            150 > F 1001+0
            200 < E ack 1001
        1000200 > F 1001+0
        1000300 < ack 1002
        1000300 = done 1
    ";
    run(&mut sender(Reno::new(windows(2)).with_ecn(), NewReno::new()), script);
}

/// RFC 9293 §3.8.6.1: a closed window is probed by a byte after a time-out, then after twice as long.
#[test]
fn closed_windows_are_probed() {
    let script = "
               0 write 3000
               0 > S 0+0
             100 < S ack 1 win 1000
             100 > 1+1000
             200 < ack 1001 win 0
         1000200 > 1001+1
         1000300 < ack 1001 win 0
         3000200 > 1001+1
         3000300 < ack 1002 win 0    # the byte was taken, and nothing else
         7000200 > 1002+1
         7000300 < ack 1002 win 1000
         7000300 > 1002+1000
         7000400 < ack 2002 win 1000
         7000400 > 2002+999
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// The FIN is the probe of a closed window, and nothing is probed behind it.
#[test]
fn a_fin_that_is_a_probe_is_the_last() {
    let script = "
               0 write 2000
               0 > S 0+0
               0 close
             100 < S ack 1 win 2000
             100 > 1+1000
             100 > 1001+1000
             200 < ack 2001 win 0
         1000200 > F 2001+0
         1000300 < ack 2002 win 0
         1000300 = done 1
        99999999 pass
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// RFC 9293 §3.8.6.2.1 (1): a whole segment leaves, also if the FIN behind it has to wait.
#[test]
fn a_segment_does_not_wait_for_its_fin() {
    let script = "
               0 write 3000
               0 > S 0+0
               0 close
             100 < S ack 1 win 3000
             100 > 1+1000
             100 > 1001+1000
             100 > 2001+1000
             200 < ack 3001 win 3000
             200 > F 3001+0
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// RFC 6298 §2.3 without a least RTO: a round trip that takes no time gives a time-out that is not zero.
#[test]
fn a_round_trip_without_time_is_no_endless_loop() {
    let timeout = TimeoutSettings { least: Nanos(0), granularity: Nanos(0), ..TimeoutSettings::STANDARD };
    let settings = SenderSettings { timeout, handshake: false, ..standard() };
    let recoveries: [Recovery; 4] =
        [NewReno::new().into(), Sack::new().into(), RackTlp::new(Nanos(0)).into(), TimeoutOnly::new().into()];
    for recovery in recoveries {
        let mut sender = Sender::new(settings, Reno::new(windows(2)), recovery).unwrap();
        sender.write(9_000);
        let now = Nanos::from_secs(5);
        for acknowledged in [1, 1_001, 2_001] {
            let flags = Flags { ack: true, ..Flags::default() };
            sender
                .on_segment(&Segment { ack: acknowledged, window: 65_535, flags, ..Segment::default() }, now);
            let sent = (0..100).take_while(|_| sender.poll(now).is_some()).count();
            assert!(sent < 10, "{sent} segments at once");
            assert!(sender.wakeup().is_some_and(|wakeup| wakeup > now));
        }
    }
}

/// RFC 9293 §3.8.6.2.1: a small window waits for more, and is used after a time-out.
#[test]
fn silly_windows_wait() {
    let script = "
               0 write 3000
               0 > S 0+0
             100 < S ack 1 win 1000
             100 > 1+1000
             200 < ack 1001 win 300
         1000200 > 1001+300
         1000300 < ack 1301 win 500
         1000300 > 1301+500
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// RFC 5681 §4.1: after an idle time the window is the initial one.
#[test]
fn idle_windows_begin_anew() {
    let script = "
               0 write 6000
               0 > S 0+0
             100 < S ack 1
             100 > 1+1000
             100 > 1001+1000
             200 < ack 2001
             200 > 2001+1000
             200 > 3001+1000
             200 > 4001+1000
             300 < ack 5001
             300 > 5001+1000
             400 < ack 6001
             400 = cwnd 4000
         3000000 write 4000
         3000000 = cwnd 2000
         3000000 > 6001+1000
         3000000 > 7001+1000
    ";
    run(&mut sender(Reno::new(windows(2)), NewReno::new()), script);
}

/// Acknowledgements of what was never sent, and old ones, change nothing.
#[test]
fn senseless_acknowledgements_are_ignored() {
    let script = "
               0 write 3000
               0 > S 0+0
             100 < S ack 1
             100 > 1+1000
             100 > 1001+1000
             200 < ack 9001
             201 < ack 2002
             202 < ack 1001
             202 > 2001+1000
             203 < ack 1
             203 = cwnd 3000
             203 = flight 2000
    ";
    run(&mut sender(Reno::new(windows(2)), NewReno::new()), script);
}

/// Twice the window in a round trip in slow start: half of the round trip for a window of two.
#[test]
fn pacing_spreads_a_window_over_the_round_trip() {
    let pacing = Some(Pacing { slow_start_percent: 200, avoidance_percent: 120 });
    let settings = SenderSettings { pacing, ..standard() };
    let script = "
            0 write 9000
            0 > S 0+0
          100 < S ack 1
          100 > 1+1000
          112 > 1001+1000
          125 > 2001+1000
          137 > 3001+1000
    ";
    run(&mut Sender::new(settings, Reno::new(windows(4)), NewReno::new()).unwrap(), script);
}

/// A window that held a segment back was used, also if gaps leave room in it when the acknowledgement comes.
#[test]
fn paced_windows_grow_when_they_were_used() {
    let pacing = Some(Pacing { slow_start_percent: 200, avoidance_percent: 120 });
    let settings = SenderSettings { pacing, ..standard() };
    let windows = WindowSettings { threshold: Some(4), ..windows(4) };
    let script = "
            0 write 20000
            0 > S 0+0
          100 < S ack 1
          100 > 1+1000
          120 > 1001+1000
          141 > 2001+1000
          162 > 3001+1000        # the window is full
          200 < ack 2001
          200 > 4001+1000
          210 < ack 4001         # three are on their way: the fourth waits for its turn
          210 = cwnd 5000
    ";
    run(&mut Sender::new(settings, Reno::new(windows), NewReno::new()).unwrap(), script);
}

/// A stream longer than 2⁶² bytes is cut there, and nothing overflows.
#[test]
fn streams_may_be_as_long_as_numbers() {
    let mut sender = sender(Reno::new(windows(4)), NewReno::new());
    sender.write(u64::MAX);
    sender.write(u64::MAX);
    sender.close();
    assert_eq!(sender.unacknowledged(), (1 << 62) - 1);
    run(
        &mut sender,
        "0 pass\n0 > S 0+0\n1 < S ack 1\n1 > 1+1000\n1 > 1001+1000\n1 > 2001+1000\n1 > 3001+1000\n",
    );
}

#[test]
fn settings_without_sense_are_refused() {
    for segment in [0, 65_496] {
        let error = Sender::new(SenderSettings::standard(segment), Reno::new(windows(1)), NewReno::new())
            .unwrap_err();
        assert_eq!(error.to_string(), format!("segment: expected 1 to 65495 bytes, got {segment}"));
    }
    let timeout = TimeoutSettings { initial: Nanos(0), ..TimeoutSettings::STANDARD };
    let settings = SenderSettings { timeout, ..standard() };
    let error = Sender::new(settings, Reno::new(windows(1)), NewReno::new()).unwrap_err();
    assert_eq!(error.to_string(), "timeout.initial: expected 1 ns or more, got 0");
    let pacing = Some(Pacing { slow_start_percent: 200, avoidance_percent: 0 });
    let settings = SenderSettings { pacing, ..standard() };
    let error = Sender::new(settings, Reno::new(windows(1)), NewReno::new()).unwrap_err();
    assert_eq!(error.to_string(), "pacing: expected 1 percent or more, got 0");
}

#[test]
fn windows_without_sense_are_refused() {
    let cases = [
        (WindowSettings { segment: 0, ..windows(1) }, "window.segment: expected 1 to 65495 bytes, got 0"),
        (
            WindowSettings { segment: 999, ..windows(1) },
            "window.segment: expected the segment size of the sender, got 999",
        ),
        (windows(0), "window.initial: expected 1 to 65536 segments, got 0"),
        (
            WindowSettings { threshold: Some(0), ..windows(1) },
            "window.threshold: expected 1 to 65536 segments, got 0",
        ),
        (
            WindowSettings { most: u64::MAX, ..windows(1) },
            "window.most: expected a segment to 2^32 bytes, got 18446744073709551615",
        ),
        (
            WindowSettings { most: 999, ..windows(1) },
            "window.most: expected a segment to 2^32 bytes, got 999",
        ),
    ];
    for (windows, expected) in cases {
        let controls: [Control; 3] =
            [Reno::new(windows).into(), Cubic::new(windows).into(), Dctcp::new(windows).into()];
        for control in controls {
            assert_eq!(Sender::new(standard(), control, NewReno::new()).unwrap_err().to_string(), expected);
        }
    }
}
