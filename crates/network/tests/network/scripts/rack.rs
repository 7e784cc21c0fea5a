//! RACK-TLP.

use trueplane_network::Nanos;
use trueplane_network::transport::{Cubic, RackTlp, Reno, Sender, SenderSettings, TimeoutSettings};

use super::{sender, standard, windows};
use crate::script::run;

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
        225 = ssthresh 2000      # half of four: limited transmit does not count (RFC 5681 §3.2 (2))
        300 < ack 2001
    ";
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(3)), RackTlp::new(Nanos(0))), script);
}

/// RFC 8985 §7.3: the retransmission timer starts anew with a probe.
#[test]
fn a_probe_that_is_lost_too_is_repeated_after_a_timeout() {
    let script = "
              0 write 2000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            200 < ack 1001
            400 > 1001+1000
        1000400 > 1001+1000
        1000500 < ack 2001
    ";
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(Nanos(0))), script);
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
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(Nanos(0))), script);
}

/// RFC 8985 §6.2, step 3: blocks come newest first; two that an acknowledgement reports at once are no reordering.
#[test]
fn a_lost_acknowledgement_is_no_reordering() {
    let script = "
           0 write 30000
           0 > S 0+0
         100 < S ack 1
         100 > 1+1000            # 1 and 2001 are lost, and the acknowledgement of 1001
         100 > 1001+1000
         100 > 2001+1000
         100 > 3001+1000
         100 > 4001+1000
         100 > 5001+1000
         200 < ack 1 sack 3001-4001 1001-2001
         200 > 6001+1000
         200 > 7001+1000
         201 < ack 1 sack 3001-5001 1001-2001
         201 > 1+1000            # three have passed it: no wait
         201 = cwnd 3000
    ";
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(Nanos(0))), script);
}

/// RFC 8985 §6.2, step 4: three segments pass a lost one, however small they are.
#[test]
fn rack_counts_segments_and_no_bytes() {
    let script = "
           0 write 100
           0 > S 0+0
         100 < S ack 1
         100 > 1+100
         101 write 100
         101 > 101+100
         102 write 100
         102 > 201+100
         103 write 100
         103 > 301+100
         201 < ack 1 sack 101-201
         202 < ack 1 sack 101-301
         203 < ack 1 sack 101-401
         203 > 1+100
    ";
    run(&mut sender(Reno::new(windows(6)), RackTlp::new(Nanos(0))), script);
}

/// RFC 8985 §7.2: the probe comes no later than the time-out of what was sent before.
#[test]
fn a_probe_takes_the_place_of_an_earlier_timeout() {
    let script = "
           0 write 1000
           0 > S 0+0
         100 < S ack 1
         100 = rto 300
         100 > 1+1000
         290 write 1000
         290 > 1001+1000         # two round trips from now would be 490
         400 > 1001+1000         # the time-out of the first
         400 = cwnd 4000
         500 < ack 1 sack 1001-2001
         500 > 1+1000
         500 = ssthresh 2000
    ";
    let timeout = TimeoutSettings { least: Nanos(0), granularity: Nanos(0), ..TimeoutSettings::STANDARD };
    let settings = SenderSettings { timeout, ..standard() };
    run(&mut Sender::new(settings, Reno::new(windows(4)), RackTlp::new(Nanos(0))).unwrap(), script);
}

/// RFC 8985 §6.2, step 4: sixteen recoveries bring back the first reordering window, those by the timer among them.
#[test]
fn sixteen_recoveries_end_the_longer_wait() {
    for (recoveries, wait) in [(15, 50), (16, 25)] {
        let mut sender = sender(Reno::new(windows(2)), RackTlp::new(Nanos(0)));
        run(
            &mut sender,
            "
               0 write 4000
               0 > S 0+0
             100 < S ack 1
             100 > 1+1000
             100 > 1001+1000
             200 < ack 1 sack 1001-2001
             200 > 2001+1000
             225 > 1+1000        # the first recovery
             230 < ack 2001      # the original was late: the recovery has come too early
             230 > 3001+1000
             300 < ack 3001
             325 < ack 3001 sack 1-1001
             330 < ack 4001
        ",
        );
        let (mut now, mut next) = (1_000, 4_001);
        for _ in 0..recoveries {
            let script = format!(
                "
                {now} write 1000
                {now} > {next}+1000
                {acked} < ack {second}
                {acked} write 1000
                {acked} > {second}+1000
                {probed} > {second}+1000
                {expired} > {second}+1000
                {repaired} < ack {third}
            ",
                acked = now + 100,
                probed = now + 300,
                expired = now + 1_000_300,
                repaired = now + 1_000_400,
                second = next + 1_000,
                third = next + 2_000,
            );
            run(&mut sender, &script);
            (now, next) = (now + 1_001_000, next + 2_000);
        }
        let script = format!(
            "
            {now} write 1000
            {now} > {next}+1000
            {one} write 1000
            {one} > {second}+1000
            {sacked} < ack {next} sack {second}-{third}
            {lost} > {next}+1000
        ",
            one = now + 1,
            sacked = now + 101,
            lost = now + 100 + wait,
            second = next + 1_000,
            third = next + 2_000,
        );
        run(&mut sender, &script);
    }
}

/// RFC 9438 §4.6: a loss lowers the window, also where a recovery follows another and many windows lie behind the hole.
#[test]
fn a_recovery_after_another_does_not_raise_the_window() {
    let script = "
           0 write 60000
           0 > S 0+0
         100 < S ack 1
         100 > 1+1000            # lost three times
         100 > 1001+1000
         100 > 2001+1000
         100 > 3001+1000
         100 > 4001+1000
         100 > 5001+1000
         100 > 6001+1000
         100 > 7001+1000
         100 > 8001+1000
         100 > 9001+1000
         200 < ack 1 sack 1001-10001
         200 > 1+1000
         200 = cwnd 7000
         200 > 10001+1000        # lost twice
         200 > 11001+1000
         200 > 12001+1000
         200 > 13001+1000
         200 > 14001+1000
         200 > 15001+1000
         300 < ack 1 sack 11001-16001 1001-10001
         300 > 1+1000
         300 > 10001+1000
         300 > 16001+1000
         300 > 17001+1000
         300 > 18001+1000
         300 > 19001+1000
         300 > 20001+1000
         400 < ack 10001 sack 11001-16001
         400 > 21001+1000        # the recovery is over
         401 < ack 10001 sack 11001-21001
         401 > 10001+1000        # and the next begins
         401 = cwnd 4900         # 0.7 of 7000, though 12000 bytes are not acknowledged
         401 > 22001+1000
         401 > 23001+1000
    ";
    run(&mut sender(Cubic::new(windows(10)), RackTlp::new(Nanos(0))), script);
}
