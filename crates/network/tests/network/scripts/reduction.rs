//! Proportional rate reduction (RFC 9937).

use trueplane_network::Nanos;
use trueplane_network::transport::{Cubic, NewReno, RackTlp, Reduction, Reno, Sack, Sender, SenderSettings};

use super::{standard, windows};
use crate::script::run;

fn settings() -> SenderSettings {
    SenderSettings { reduction: Reduction::Proportional, ..standard() }
}

/// A window of twelve, of which the first is lost: a segment leaves for every second one that arrives, until the new window is reached.
const HALVED: &str = "
          0 write 60000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000             # lost
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000
        100 > 6001+1000
        100 > 7001+1000
        100 > 8001+1000
        100 > 9001+1000
        100 > 10001+1000
        100 > 11001+1000
        200 < ack 1 sack 1001-2001
        200 > 12001+1000         # limited transmit
        201 < ack 1 sack 1001-3001
        201 > 13001+1000
        202 < ack 1 sack 1001-4001
        202 = ssthresh 6000
        202 > 1+1000             # a recovery begins with this one
        202 = flight 11000
        203 < ack 1 sack 1001-5001
        204 < ack 1 sack 1001-6001
        205 < ack 1 sack 1001-7001
        205 > 14001+1000         # 4000 of 12000 have arrived: 2000 of 6000 leave, of which 1000 did
        206 < ack 1 sack 1001-8001
        207 < ack 1 sack 1001-9001
        207 > 15001+1000
        208 < ack 1 sack 1001-10001
        209 < ack 1 sack 1001-11001
        209 = flight 6000        # as many as the new window holds: from here on one for one
        210 < ack 1 sack 1001-12001
        210 > 16001+1000
        300 < ack 1 sack 1001-13001
        300 > 17001+1000
        301 < ack 1 sack 1001-14001
        301 > 18001+1000
        302 < ack 14001          # the recovery is over
        302 = cwnd 6000
        302 > 19001+1000
        302 = flight 6000
    ";

#[test]
fn the_window_shrinks_with_what_arrives() {
    run(&mut Sender::new(settings(), Reno::new(windows(12)), Sack::new()).unwrap(), HALVED);
    run(&mut Sender::new(settings(), Reno::new(windows(12)), RackTlp::new(Nanos(0))).unwrap(), HALVED);
}

/// RFC 9937 §6: where more is lost than the window shrinks by, one segment leaves for each that arrives, and two for an acknowledgement that
/// moves on and tells of no further loss.
#[test]
fn after_many_losses_the_window_grows_to_the_threshold() {
    let script = "
          0 write 60000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000             # seven are lost: 1 to 7001
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        100 > 4001+1000
        100 > 5001+1000
        100 > 6001+1000
        100 > 7001+1000
        100 > 8001+1000
        100 > 9001+1000
        200 < ack 1 sack 7001-10001
        200 = ssthresh 7000
        200 = flight 3000        # what was sent again on this acknowledgement: as much as arrived
        200 > 1+1000
        200 > 1001+1000
        200 > 2001+1000
        300 < ack 1001 sack 7001-10001
        300 > 3001+1000          # two for one
        300 > 4001+1000
        301 < ack 2001 sack 7001-10001
        301 > 5001+1000
        301 > 6001+1000
        302 < ack 3001 sack 7001-10001
        302 > 10001+1000         # new data
        302 > 11001+1000
        302 = flight 6000
        400 < ack 4001 sack 7001-10001
        400 > 12001+1000
        400 > 13001+1000
        400 = flight 7000        # no more than the threshold
        401 < ack 5001 sack 7001-10001
        401 > 14001+1000
        402 < ack 6001 sack 7001-10001
        402 > 15001+1000
        403 < ack 10001
        403 = cwnd 7000
        403 > 16001+1000
    ";
    run(&mut Sender::new(settings(), Cubic::new(windows(10)), Sack::new()).unwrap(), script);
}

/// A timer that ends a recovery ends the reduction, too: the window is that of slow start.
#[test]
fn a_timeout_ends_the_reduction() {
    let script = "
              0 write 30000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            100 > 2001+1000
            100 > 3001+1000
            200 < ack 1 sack 1001-4001
            200 > 1+1000
            200 > 4001+1000
        1000100 > 1+1000
        1000100 = cwnd 1000
        1000100 = flight 1000
        1000300 < ack 4001
        1000300 > 4001+1000
        1000300 > 5001+1000
        1000300 = cwnd 2000
    ";
    run(&mut Sender::new(settings(), Reno::new(windows(4)), Sack::new()).unwrap(), script);
}

/// A recovery without SACK blocks does not know what arrives: it reduces at once.
#[test]
fn new_reno_reduces_at_once() {
    let script = "
          0 write 30000
          0 > S 0+0
        100 < S ack 1
        100 > 1+1000
        100 > 1001+1000
        100 > 2001+1000
        100 > 3001+1000
        200 < ack 1
        200 > 4001+1000
        201 < ack 1
        201 > 5001+1000
        202 < ack 1
        202 = cwnd 2000
        202 > 1+1000
        203 < ack 1
        204 < ack 1
        204 > 6001+1000
    ";
    for reduction in [Reduction::AtOnce, Reduction::Proportional] {
        let settings = SenderSettings { reduction, ..standard() };
        run(&mut Sender::new(settings, Reno::new(windows(4)), NewReno::new()).unwrap(), script);
    }
}
