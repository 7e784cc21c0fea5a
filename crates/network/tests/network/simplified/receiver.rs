//! Rules of the receiver. Times are in µs.

use trueplane_network::transport::simplified::Receiver;

use super::PLAIN;
use crate::script::run;

/// Data that overtakes the end of the handshake is ignored, and the answer to the SYN is repeated by the receiver's own timer.
#[test]
fn data_before_the_end_of_the_handshake_is_ignored() {
    let script = "
           0 < S
           0 > S ack 1 win 2147483648
         100 < 1+1000
         100 = received 0
         200 < S                        # a second SYN has no answer of its own
        1000 > S ack 1 win 2147483648
        3000 > S ack 1 win 2147483648
        3100 < ack 1
        3200 < 1+1000
        3200 > ack 1001 win 2147483648
        3200 = received 1000
        3300 < S                        # late: acknowledged as a duplicate
        3300 > ack 1001 win 2147483648
        9999 pass                       # no timer any more
    ";
    run(&mut Receiver::new(PLAIN), script);
}

/// Each segment is acknowledged at once, with the mark that it had.
#[test]
fn marks_are_echoed_segment_by_segment() {
    let script = "
           0 < S
           0 > S ack 1 win 2147483648
          10 < ack 1
          20 < 1+1000 ce
          20 > E ack 1001 win 2147483648
          30 < 1001+1000 ect
          30 > ack 2001 win 2147483648
          40 < 3001+1000 ce
          40 > E ack 2001 win 2147483648 sack 3001-4001
    ";
    run(&mut Receiver::new(PLAIN), script);
}
