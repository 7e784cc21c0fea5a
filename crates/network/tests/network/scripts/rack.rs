//! RACK-TLP.

use trueplane_network::Nanos;
use trueplane_network::transport::{RackTlp, Reno};

use super::{SEGMENT, sender, windows};
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
    run(&mut sender(Reno::new(windows(2)), RackTlp::new(SEGMENT, Nanos(0))), script);
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
