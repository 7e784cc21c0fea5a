//! The rules of the standards for receivers, one script each. Times are in µs.

use trueplane_network::Nanos;
use trueplane_network::transport::control::Echo;
use trueplane_network::transport::{Receiver, ReceiverSettings};

use crate::script::run;

fn immediate() -> ReceiverSettings {
    ReceiverSettings::immediate(65_535, 1_000)
}

fn delayed() -> ReceiverSettings {
    ReceiverSettings { delay: Some(Nanos::from_micros(500)), ..immediate() }
}

/// RFC 2018 §4: the first block has the segment that came last, then those that were reported last.
#[test]
fn the_latest_block_comes_first() {
    let script = "
          0 < S 0+0
          0 > S ack 1
         10 < 1+1000
         10 > ack 1001
         20 < 2001+1000
         20 > ack 1001 sack 2001-3001
         30 < 4001+1000
         30 > ack 1001 sack 4001-5001 2001-3001
         40 < 6001+1000
         40 > ack 1001 sack 6001-7001 4001-5001 2001-3001
         50 < 8001+1000
         50 > ack 1001 sack 8001-9001 6001-7001 4001-5001
         60 < 3001+1000          # joins two blocks
         60 > ack 1001 sack 2001-5001 8001-9001 6001-7001
         70 < 9001+1000
         70 > ack 1001 sack 8001-10001 2001-5001 6001-7001
         80 < 1001+1000
         80 > ack 5001 sack 8001-10001 6001-7001
         90 < 5001+1000
         90 > ack 7001 sack 8001-10001
        100 < 7001+1000
        100 > ack 10001
        100 = received 10000
    ";
    run(&mut Receiver::new(immediate(), Echo::Off), script);
}

/// RFC 2883 §4: what arrived twice is reported first, then the block around it.
#[test]
fn duplicates_are_reported_first() {
    let script = "
          0 < 1+1000
          0 > ack 1001
         10 < 1+1000
         10 > ack 1001 sack 1-1001
         20 < 2001+1000
         20 > ack 1001 sack 2001-3001
         30 < 3001+1000
         30 > ack 1001 sack 2001-4001
         40 < 3001+1000
         40 > ack 1001 sack 3001-4001 2001-4001
         50 < 1+1000
         50 > ack 1001 sack 1-1001 2001-4001
         60 < 1001+1000
         60 > ack 4001
    ";
    run(&mut Receiver::new(immediate(), Echo::Off), script);
}

/// RFC 5681 §4.2: every second segment, a gap, and what fills it are acknowledged at once; else after the delay.
#[test]
fn acknowledgements_are_delayed_in_order_only() {
    let script = "
           0 < S 0+0
           0 > S ack 1
          10 < 1+1000
         510 > ack 1001
         600 < 1001+1000
         700 < 2001+1000
         700 > ack 3001
         800 < 4001+1000
         800 > ack 3001 sack 4001-5001
         900 < 3001+1000
         900 > ack 5001
        1000 < F 5001+10
        1000 > ack 5012 win 65524     # ten bytes less are not worth telling of
        1000 = received 5010
        1000 = finished 1
        1100 < F 5001+10           # our acknowledgement was lost
        1100 > ack 5012 win 65524 sack 5001-5012
        9000 pass
    ";
    run(&mut Receiver::new(delayed(), Echo::Off), script);
}

/// RFC 8257 §3.2: a change of marks is acknowledged at once, with the echo of before.
#[test]
fn accurate_echoes_mark_exactly_the_marked_bytes() {
    let script = "
           0 < S E W 0+0
           0 > S E ack 1
          10 < 1+1000 ect
          20 < 1001+1000 ce
          20 > ack 1001           # what waited, with the echo from before the change
          20 > E ack 2001         # and the change at once
         600 < 2001+1000 ce
         610 < 3001+1000 ce
         610 > E ack 4001
         700 < 4001+1000 ce
         710 < 5001+1000 ect
         710 > E ack 5001
         710 > ack 6001
         720 < 6001+1000 ect
        1220 > ack 7001
    ";
    run(&mut Receiver::new(delayed(), Echo::Accurate), script);
}

/// RFC 3168 §6.1.3: the echo lasts until the sender says that it has reduced its window.
#[test]
fn classic_echoes_last_until_cwr() {
    let script = "
           0 < S E W 0+0
           0 > S E ack 1
          10 < 1+1000 ce
          10 > E ack 1001
          20 < 1001+1000 ect
          20 > E ack 2001
          30 < W 2001+1000 ect
          30 > ack 3001
          40 < W 3001+1000 ce
          40 > E ack 4001
    ";
    run(&mut Receiver::new(immediate(), Echo::Classic), script);
}

/// Without ECN in the SYN no mark is echoed.
#[test]
fn marks_are_echoed_if_the_syn_asks() {
    let script = "
           0 < S 0+0
           0 > S ack 1
          10 < 1+1000 ce
          10 > ack 1001
    ";
    run(&mut Receiver::new(immediate(), Echo::Classic), script);
}

/// RFC 9293 §3.8.6: the window closes as bytes wait; it opens by a segment or half of the buffer, not by less.
#[test]
fn windows_close_and_open_in_steps() {
    let script = "
           0 < 1+1000
           0 > ack 1001 win 2000
          10 < 1001+1000
          10 > ack 2001 win 1000
          20 < 2001+1000
          20 > ack 3001 win 0
          30 < 3001+1
          30 > ack 3001 win 0
          40 read 999
          50 read 1
          50 > ack 3001 win 1000
          60 < 3001+1000
          60 > ack 4001 win 0
          70 read 5000
          70 > ack 4001 win 3000
          70 = received 4000
          80 < F 4001+0
          80 > ack 4002 win 2999
          80 = finished 1
    ";
    let settings = ReceiverSettings { reads_at_once: false, ..ReceiverSettings::immediate(3_000, 1_000) };
    run(&mut Receiver::new(settings, Echo::Off), script);
}

/// RFC 9293 §3.10.7.4: bytes beyond the window are not taken.
#[test]
fn bytes_beyond_the_window_are_dropped() {
    let script = "
           0 < 1+1000
           0 > ack 1001 win 500
          10 < 1001+1000
          10 > ack 1501 win 0
          20 < 2501+1000
          20 > ack 1501 win 0
          20 = received 1500
    ";
    let settings = ReceiverSettings { reads_at_once: false, ..ReceiverSettings::immediate(1_500, 1_000) };
    run(&mut Receiver::new(settings, Echo::Off), script);
}

/// What comes behind the FIN is no part of the stream, and a FIN outside the window is none.
#[test]
fn the_first_fin_within_the_window_ends_the_stream() {
    let script = "
           0 < 1+1000
           0 > ack 1001
           5 < F 90001+0
           5 > ack 1001
          10 < F 1001+0
          10 > ack 1002 win 65534
          20 < F 1002+0
          20 > ack 1002 win 65534
          20 = finished 1
          20 = received 1000
    ";
    let settings = ReceiverSettings { sends_sack: false, ..immediate() };
    run(&mut Receiver::new(settings, Echo::Off), script);
}

/// A sequence number that nobody can have sent overflows nothing.
#[test]
fn forged_sequence_numbers_are_acknowledged_and_dropped() {
    let script = "
           0 < 1+1000
           0 > ack 1001
           5 < F 18446744073709551615+10
           6 < F 18446744073709551610+10
           6 > ack 1001
           7 = finished 0
           7 = received 1000
    ";
    let settings = ReceiverSettings { sends_sack: false, ..immediate() };
    run(&mut Receiver::new(settings, Echo::Off), script);
}
