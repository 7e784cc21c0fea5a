//! NewReno, SACK and pFabric's recovery.

use trueplane_network::Nanos;
use trueplane_network::transport::{
    NewReno, RackTlp, Reno, Sack, Sender, SenderSettings, TimeoutOnly, preset,
};

use super::{sender, windows};
use crate::script::run;

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
        202 = ssthresh 4000     # half of eight: limited transmit does not count (RFC 5681 §3.2 (2))
        202 = cwnd 4000
        202 > 1+1000            # the third: fast retransmit
        202 = flight 7000       # ten, less the three that have left
        203 < ack 1
        204 < ack 1
        204 = flight 5000
        205 < ack 1             # 7001 has arrived: the window of 4000 is full
        300 < ack 4001          # partial: deflate by four, add one back
        300 > 4001+1000
        300 > 10001+1000
        301 < ack 4001
        301 > 11001+1000
        400 < ack 10001         # all that was sent before the loss was known; two are outstanding
        400 = cwnd 3000
        400 > 12001+1000
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

/// RFC 6582 §3.2 (2): duplicates that needless copies cause right at the end of a recovery begin no new one.
#[test]
fn duplicates_at_the_end_of_a_recovery_are_no_losses() {
    let script = "
              0 write 30000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            100 > 2001+1000
            100 > 3001+1000
        1000100 > 1+1000
        1000200 < ack 1001       # all acknowledgements were late: each opens the window
        1000200 > 1001+1000
        1000200 > 2001+1000
        1000201 < ack 2001
        1000201 > 3001+1000
        1000202 < ack 3001
        1000202 > 4001+1000
        1000202 > 5001+1000
        1000203 < ack 4001       # all that was sent before the time-out
        1000203 > 6001+1000
        1000204 < ack 4001       # the four copies
        1000204 > 7001+1000      # limited transmit (RFC 3042 §2)
        1000205 < ack 4001
        1000205 > 8001+1000
        1000206 < ack 4001
        1000207 < ack 4001
        1000207 = ssthresh 2000
        1000207 = cwnd 3000
        1000300 < ack 5001       # beyond the end: three duplicates of this one count
        1000301 < ack 5001
        1000302 < ack 5001
        1000302 > 9001+1000
        1000303 < ack 5001
        1000303 > 5001+1000
        1000303 = cwnd 2000
    ";
    run(&mut sender(Reno::new(windows(4)), NewReno::new()), script);
}

/// A SYN that was repeated is no recovery of data: the first loss of data is found by duplicates.
#[test]
fn a_loss_after_a_lost_syn_needs_no_timeout() {
    let script = "
              0 write 9000
              0 > S 0+0
        1000000 > S 0+0
        1000100 < S ack 1
        1000100 > 1+1000
        1000200 < ack 1001
        1000200 > 1001+1000
        1000200 > 2001+1000
        1000300 < ack 2001
        1000300 > 3001+1000
        1000300 > 4001+1000
        1000301 < ack 2001
        1000301 > 5001+1000
        1000302 < ack 2001
        1000302 > 6001+1000
        1000303 < ack 2001
        1000303 > 2001+1000
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
        202 = ssthresh 4000      # half of eight: limited transmit does not count (RFC 6675 §5 (4.2))
        202 > 1+1000             # three have passed it: fast retransmit
        202 = flight 6000        # 10 less 3 that arrived and 1001, which is lost too
        203 < ack 1 sack 5001-7001 2001-4001
        203 = flight 5000
        204 < ack 1 sack 5001-8001 2001-4001
        204 > 1001+1000          # a pipe of 3: three have passed 4001, which is lost from now on
        204 = flight 4000
        205 < ack 1 sack 5001-9001 2001-4001
        205 > 4001+1000
        206 < ack 1 sack 5001-10001 2001-4001
        206 > 10001+1000
        300 < ack 1001 sack 5001-10001 2001-4001
        300 > 11001+1000
        301 < ack 4001 sack 5001-10001
        301 > 12001+1000
        400 < ack 10001
        400 = cwnd 4000
        400 > 13001+1000
    ";
    run(&mut sender(Reno::new(windows(8)), Sack::new()), script);
}

/// RFC 6675 §4, rule 3 of NextSeg: what may be lost is sent again where the receiver's window holds back what is new.
#[test]
fn sack_rescues_where_the_window_is_closed() {
    let script = "
          0 write 9000
          0 > S 0+0
        100 < S ack 1 win 6000
        100 > 1+1000             # lost
        100 > 1001+1000
        100 > 2001+1000          # perhaps lost
        100 > 3001+1000
        100 > 4001+1000          # perhaps lost
        100 > 5001+1000
        200 < ack 1 win 6000 sack 1001-2001
        201 < ack 1 win 6000 sack 3001-4001 1001-2001
        202 < ack 1 win 6000 sack 5001-6001 3001-4001 1001-2001
        202 > 1+1000
        202 = cwnd 3000
        300 < ack 2001 win 4000 sack 5001-6001 3001-4001
        300 > 2001+1000
        300 > 4001+1000
    ";
    run(&mut sender(Reno::new(windows(6)), Sack::new()), script);
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

/// pFabric §4.3: after five time-outs in a row only a byte is sent until one is acknowledged; no number of duplicates means anything.
#[test]
fn pfabric_probes_after_five_timeouts() {
    let (settings, control, recovery) = preset::minimal_pfabric();
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

/// RFC 6582 §3.2 (3): the first partial acknowledgement starts the timer anew, and no later one.
#[test]
fn the_second_partial_acknowledgement_keeps_the_timer() {
    let script = "
              0 write 30000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000            # 1, 2001 and 4001 are lost
            100 > 1001+1000
            100 > 2001+1000
            100 > 3001+1000
            100 > 4001+1000
            100 > 5001+1000
            100 > 6001+1000
            100 > 7001+1000
            200 < ack 1
            200 > 8001+1000
            201 < ack 1
            201 > 9001+1000
            202 < ack 1
            202 > 1+1000
         500000 < ack 2001
         500000 > 2001+1000
         900000 < ack 4001
         900000 > 4001+1000
        1500000 > 4001+1000         # a time-out after the first, not after the second
        1500000 = cwnd 1000
    ";
    run(&mut sender(Reno::new(windows(8)), NewReno::new()), script);
}

/// RFC 6582 §3.2 (3): a partial acknowledgement deflates the window by all that it acknowledges, also below the threshold.
#[test]
fn partial_acknowledgements_deflate_by_all_of_it() {
    let mut sender = sender(Reno::new(windows(20)), NewReno::new());
    let sends: String = (0..20).map(|index| format!("100 > {}+1000\n", index * 1_000 + 1)).collect();
    run(&mut sender, &format!("0 write 90000\n0 > S 0+0\n100 < S ack 1\n{sends}"));
    let script = "
        200 < ack 1              # most duplicates are lost
        200 > 20001+1000
        201 < ack 1
        201 > 21001+1000
        202 < ack 1
        202 > 1+1000
        202 = cwnd 10000
        300 < ack 12001          # 10 + 3 − 12 + 1 = 2, and 10 are outstanding
        300 > 12001+1000
        300 = flight 18000
        301 < ack 12001
        301 = flight 17000
        400 < ack 22001
        400 = cwnd 2000
        400 > 22001+1000
        400 > 23001+1000
    ";
    run(&mut sender, script);
}

/// RFC 2018 §8: what a block has reported may be taken back; a time-out sends it again.
#[test]
fn a_timeout_doubts_what_was_reported() {
    let script = "
              0 write 3000
              0 > S 0+0
            100 < S ack 1
            100 > 1+1000
            100 > 1001+1000
            100 > 2001+1000
            200 < ack 1 sack 1-3001
        1000100 > 1+1000
        3000100 > 1+1000
        3000200 < ack 3001
    ";
    run(&mut sender(Reno::new(windows(4)), Sack::new()), script);
    run(&mut sender(Reno::new(windows(4)), RackTlp::new(Nanos(0))), script);
    run(&mut sender(Reno::new(windows(4)), TimeoutOnly::new()), script);
}
