//! Marks of queues.

use trueplane_network::transport::{Dctcp, NewReno, Reno};

use super::{sender, windows};
use crate::script::{alpha_per_mille, run};

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

/// RFC 8257 §3.3: the first mark cuts by the estimate, which begins at one, and is one after a window of marks, too.
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
    assert_eq!(alpha_per_mille(&dctcp), 1_000, "the SYN is no data");
    run(
        &mut dctcp,
        "
        200 < E ack 1001
        200 = cwnd 8000        # a window, all of it marked: 16000 × (1 − 1 ÷ 2)
    ",
    );
}
