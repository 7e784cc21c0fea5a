//! The rules of the standards for senders, one script each. Times are in µs.

use trueplane_network::Nanos;
use trueplane_network::transport::settings::Pacing;
use trueplane_network::transport::{
    CongestionControl, Dctcp, LossRecovery, NewReno, RackTlp, Reno, Sack, Sender, SenderSettings,
    WindowSettings, preset,
};

use crate::script::{alpha_per_mille, run};

const SEGMENT: u32 = 1_000;

fn windows(initial: u32) -> WindowSettings {
    WindowSettings { initial, ..WindowSettings::standard(SEGMENT) }
}

fn standard() -> SenderSettings {
    SenderSettings::standard(SEGMENT)
}

fn sender<C: CongestionControl, R: LossRecovery>(control: C, recovery: R) -> Sender<C, R> {
    Sender::new(standard(), control, recovery).unwrap()
}

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

/// RFC 3042 and RFC 6582: two new segments for two duplicates, the first again for the third, one more for each partial acknowledgement,
/// and an end without a burst.
#[test]
fn new_reno_repairs_two_losses_in_one_recovery() {
    let script = "
          0 write 30000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000
        100 > 6001+1000
        100 > 7001+1000         # 1 and 4001 are lost
        200 < ack 1
        200 > 8001+1000         # limited transmit (RFC 3042 §2)
        201 < ack 1
        201 > 9001+1000
        202 < ack 1
        202 = ssthresh 5000     # half of ten
        202 = cwnd 5000
        202 > 1+1000            # the third: fast retransmit
        202 = flight 7000       # ten, less the three that have left
        203 < ack 1
        204 < ack 1
        204 = flight 5000
        205 < ack 1             # 7001 has arrived: 4000 in a window of 5000
        205 > 10001+1000
        300 < ack 4001          # partial: deflate by three, add one back
        300 > 4001+1000
        300 > 11001+1000
        301 < ack 4001
        301 > 12001+1000
        400 < ack 11001         # full: two outstanding
        400 = cwnd 3000
        400 > 13001+1000
    ";
    run(&mut sender(Reno::new(windows(8)), NewReno::new()), script);
}

/// RFC 6582 §3.2 (4): duplicates of what was sent before a time-out send nothing again.
#[test]
fn duplicates_after_a_timeout_are_no_losses() {
    let script = "
              0 write 9000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            100 > 2001+1000
            100 > 3001+1000
        1000100 > 1+1000
        1000200 < ack 1
        1000201 < ack 1
        1000202 < ack 1
        1000203 < ack 1
        1000203 = cwnd 1000
        1000204 < ack 4001
        1000204 > 4001+1000
        1000204 > 5001+1000
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// RFC 6675: what three segments have passed is lost; the pipe decides when it is sent; one reduction for all.
#[test]
fn sack_fills_all_gaps_by_the_pipe() {
    let script = "
          0 write 30000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000
        100 > 6001+1000
        100 > 7001+1000          # 1, 1001 and 4001 are lost
        200 < ack 1 sack 2001-3001
        200 > 8001+1000
        201 < ack 1 sack 2001-4001
        201 > 9001+1000
        202 < ack 1 sack 5001-6001 2001-4001
        202 = ssthresh 5000
        202 > 1+1000             # three have passed it: fast retransmit
        202 = flight 6000        # 10 less 3 that arrived and 1001, which is lost too
        203 < ack 1 sack 5001-7001 2001-4001
        203 = flight 5000
        204 < ack 1 sack 5001-8001 2001-4001
        204 > 1001+1000          # a pipe of 3: three have passed 4001, which is lost from now on
        204 > 4001+1000
        204 = flight 5000
        205 < ack 1 sack 5001-9001 2001-4001
        205 > 10001+1000
        206 < ack 1 sack 5001-10001 2001-4001
        206 > 11001+1000
        300 < ack 1001 sack 5001-10001 2001-4001
        300 > 12001+1000
        301 < ack 4001 sack 5001-10001
        301 > 13001+1000
        400 < ack 10001
        400 = cwnd 5000
        400 > 14001+1000
    ";
    run(&mut sender(Reno::new(windows(8)), Sack::new()), script);
}

/// RFC 6675 §5 (1): three duplicates count, too, if segments are small; what was sent again for them is not lost by the same blocks.
#[test]
fn sack_counts_duplicates_of_small_segments() {
    let script = "
          0 write 300
          0 > S 0+0
        100 < S ack 1
        100 > 1+300
        101 write 300
        101 > 301+300
        102 write 300
        102 > 601+300
        103 write 300
        103 > 901+300
        104 write 2000
        104 > 1201+1000
        104 > 2201+1000
        200 < ack 1 sack 301-601
        201 < ack 1 sack 301-901
        202 < ack 1 sack 301-1201
        202 > 1+300
        203 < ack 1 sack 301-2201
        204 < ack 1 sack 301-3201    # more than two segments of bytes beyond it
        300 < ack 3201
    ";
    run(&mut sender(Reno::new(windows(8)), Sack::new()), script);
}

/// RFC 8985 §6.2: without reordering a segment is lost once three have passed it; else after a quarter of the round trip.
#[test]
fn rack_waits_for_a_quarter_of_the_round_trip() {
    let script = "
          0 write 30000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        200 < ack 1 sack 1001-2001
        200 > 4001+1000
        225 > 1+1000             # sent at 100, round trip 100, and a quarter of it
        225 = ssthresh 2500
        300 < ack 2001
    ";
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// A segment that arrives within the reordering window is not sent again.
#[test]
fn rack_forgives_reordering() {
    let script = "
          0 write 4000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        200 < ack 1 sack 1001-2001
        220 < ack 2001
        221 < ack 4001
        221 = cwnd 5000
        900 pass
    ";
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §6.2: a repeated segment that is lost again is found by what was sent after it.
#[test]
fn rack_finds_a_loss_of_the_repetition() {
    let script = "
          0 write 9000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000
        200 < ack 1 sack 1001-4001
        200 > 1+1000             # three have passed it: no wait
        201 < ack 1 sack 1001-5001
        201 > 6001+1000
        202 < ack 1 sack 1001-6001
        202 > 7001+1000
        301 < ack 1 sack 1001-7001
        301 > 1+1000             # what was sent after the repetition has arrived
        301 > 8001+1000
        301 = cwnd 3000          # one recovery, one reduction
        401 < ack 9001
    ";
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §6.2: what was sent before a repetition that arrived is lost, whatever its sequence number.
#[test]
fn rack_goes_by_the_time_of_sending() {
    let script = "
          0 write 4000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000          # of all these only 1001 arrives
        200 < ack 1 sack 1001-2001
        225 > 1+1000
        325 < ack 2001
        325 > 2001+1000
        325 > 3001+1000
        425 < ack 4001
    ";
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §6.2, step 4: a repetition that was not needed lets the reordering window grow by another quarter.
#[test]
fn rack_waits_longer_after_a_needless_repetition() {
    let script = "
          0 write 4000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        200 < ack 1 sack 1001-2001
        200 > 2001+1000
        225 > 1+1000
        230 < ack 2001           # the original was late
        230 > 3001+1000
        325 < ack 2001 sack 1-1001
        330 < ack 4001
        400 write 2000
        400 > 4001+1000
        400 > 5001+1000
        500 < ack 4001 sack 5001-6001
        550 > 4001+1000          # half of the round trip, no longer a quarter
        650 < ack 6001
    ";
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §7.4.2: a loss that the probe has repaired is a loss.
#[test]
fn what_a_probe_repairs_reduces_the_window() {
    let script = "
          0 write 6000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000          # lost
        200 < ack 5001
        200 = cwnd 7000
        400 > 5001+1000
        410 write 5000
        410 > 6001+1000
        410 > 7001+1000
        410 > 8001+1000
        410 > 9001+1000
        410 > 10001+1000
        500 < ack 6001           # whether this is the original or the probe is not known
        500 = cwnd 8000
        510 < ack 7001           # no duplicate was reported: it was the probe
        510 = cwnd 2500
    ";
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §7: the tail is probed after two round trips, and its loss found by the answer.
#[test]
fn tails_are_probed_after_two_round_trips() {
    let script = "
          0 write 3000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000          # these two are lost
        200 < ack 1001
        400 > 2001+1000          # the last one, once
        500 < ack 1001 sack 2001-3001
        500 > 1001+1000
        500 = ssthresh 2000
        600 < ack 3001
    ";
    run(&mut sender(Reno::new(windows(3)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 8985 §7.3: a probe is new data if there is some, and one segment may go beyond the window.
#[test]
fn probes_are_new_data_if_there_is_some() {
    let script = "
           0 write 4000
           0 > S 0+0
         100 < S ack 1
         100 > 1+1000
         100 > 1001+1000
         300 > 2001+1000
         300 = flight 3000
         300 = cwnd 2000
         400 < ack 1 sack 2001-3001
         400 > 1+1000            # both have had their time
         400 > 1001+1000
    ";
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(SEGMENT, Nanos(0))), script);
}

/// RFC 3168 §6.1.2: a mark halves the window once in a window of data, and the next new segment says so.
#[test]
fn marks_halve_the_window_once_in_a_window_of_data() {
    let script = "
          0 write 30000
          0 > S E W 0+0
        100 < S E ack 1
        100 > 1+1000 ect
        100 > 1001+1000 ect
        100 > 2001+1000 ect
        100 > 3001+1000 ect
        200 < E ack 1001
        200 = cwnd 2000
        201 < E ack 2001
        201 = cwnd 2000
        202 < E ack 3001
        202 > W 4001+1000 ect
        203 < E ack 4001
        203 = cwnd 2000
        203 > 5001+1000 ect
        300 < E ack 5001
        300 = cwnd 2000      # half of 2000 is below the least threshold of two segments
        300 > W 6001+1000 ect
    ";
    run(&mut sender(Reno::new(windows(4)).with_ecn(), NewReno::new()), script);
}

/// RFC 3168 §6.1.1: no mark is asked for, if the other end does not know them.
#[test]
fn marks_need_both_ends() {
    let script = "
          0 write 2000
          0 > S E W 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        200 < E ack 1001
        200 = cwnd 3000
    ";
    run(&mut sender(Reno::new(windows(2)).with_ecn(), NewReno::new()), script);
}

/// RFC 8257 §3.3: the first mark cuts by the estimate, which begins at one, and is 15/16 after a window without marks.
#[test]
fn dctcp_learns_how_much_is_marked() {
    let script = "
          0 write 90000
          0 > S E W 0+0
        100 < S E ack 1
        100 = cwnd 16000
        101 pass
    ";
    let mut dctcp = sender(Dctcp::new(windows(16)), NewReno::new());
    let sends: String = (0..16).map(|index| format!("100 > {}+1000 ect\n", index * 1_000 + 1)).collect();
    run(&mut dctcp, &script.replace("        101 pass", &sends));
    assert_eq!(alpha_per_mille(&dctcp), 937, "the SYN was a window without marks");
    run(
        &mut dctcp,
        "
        200 < E ack 1001
        200 = cwnd 8469        # another window, all of it marked: 16000 × (1 − 0.9414 ÷ 2)
    ",
    );
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

/// pFabric §4.3: after five time-outs in a row only a byte is sent until one is acknowledged; no number of duplicates means anything.
#[test]
fn pfabric_probes_after_five_timeouts() {
    let (settings, control, recovery) = preset::simplified_pfabric();
    let settings = SenderSettings { handshake: false, ..settings };
    let script = "
            0 write 4140
            0 > 1+1380
            0 > 1381+1380
            0 > 2761+1380
           10 < ack 1 sack 1381-2761
           11 < ack 1 sack 1381-4141
           12 < ack 1 sack 1381-4141
           13 < ack 1 sack 1381-4141
           96 > 1+1380
          192 > 1+1380
          289 > 1+1380
          385 > 1+1380
          481 > 1+1
          578 > 1+1
          600 < ack 2 sack 1381-4141
          600 > 2+1379
    ";
    run(&mut Sender::new(settings, control, recovery).unwrap(), script);
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

#[test]
fn settings_without_sense_are_refused() {
    for segment in [0, 65_496] {
        let error = Sender::new(SenderSettings::standard(segment), Reno::new(windows(1)), NewReno::new())
            .unwrap_err();
        assert_eq!(error.to_string(), format!("segment: expected 1 to 65495 bytes, got {segment}"));
    }
}
