//! What every sender must survive, whatever its parts.

use trueplane_network::Nanos;
use trueplane_network::transport::{Ecn, Receiver, ReceiverSettings, Segment};

use crate::path::{Fate, Path, Reads, Report, carry};
use crate::senders::{self, Kind};

/// Segments of the flows in these tables.
const SEGMENTS: u64 = 12;

fn bytes(kind: &Kind) -> u64 {
    SEGMENTS * kind.segment() - 1
}

fn run(kind: &Kind, path: Path<'_>) -> Report {
    carry(&kind.name, kind.sender(), kind.receiver(), bytes(kind), path)
}

/// Segments that a sender without faults sends: SYN, data, FIN, and an acknowledgement of the handshake if it is alone.
fn undisturbed(kind: &Kind) -> Report {
    run(kind, Path::default())
}

#[test]
fn nothing_is_sent_twice_without_a_loss() {
    for kind in senders::all() {
        let report = undisturbed(&kind);
        assert_eq!(report.repeated, 0, "{}", kind.name);
        let data: u64 = report.sent.iter().map(|(_, segment)| u64::from(segment.length)).sum();
        assert_eq!(data, bytes(&kind), "{}", kind.name);
        assert_eq!(
            report.sent.len() as u64,
            1 + SEGMENTS,
            "{}: SYN, data; the FIN rides on the last",
            kind.name
        );
        assert_eq!(report.sent.last().unwrap().1.flags.fin, kind.has_fin(), "{}", kind.name);
    }
}

/// A loss of each segment, among them the SYN and the one with the FIN, is repaired.
#[test]
fn each_segment_may_be_lost() {
    for kind in senders::all() {
        let count = undisturbed(&kind).sent.len();
        for lost in 0..count {
            let forth = move |index, _: &Segment| if index == lost { Fate::Lost } else { Fate::Arrives };
            let report = run(&kind, Path { forth: Box::new(forth), ..Path::default() });
            let syn = usize::from(lost == 0);
            assert!(report.sent.len() > count, "{}: {lost}", kind.name);
            assert!(report.repeated >= 1 - syn, "{}: {lost}", kind.name);
        }
    }
}

#[test]
fn each_pair_of_segments_may_be_lost() {
    for kind in senders::all() {
        let count = undisturbed(&kind).sent.len();
        for first in 0..count {
            for second in first + 1..count + 2 {
                let is_lost = move |index| index == first || index == second;
                let forth = move |index, _: &Segment| if is_lost(index) { Fate::Lost } else { Fate::Arrives };
                run(&kind, Path { forth: Box::new(forth), ..Path::default() });
            }
        }
    }
}

/// One loss in the middle of a flow is repaired in a few round trips by all that need no timer for it.
#[test]
fn a_loss_with_three_segments_behind_it_needs_no_timeout() {
    for kind in senders::all().iter().filter(|kind| !kind.name.ends_with("timeout-only")) {
        if kind.name == "minimal-pfabric" {
            continue;
        }
        let forth = |index, _: &Segment| if index == 6 { Fate::Lost } else { Fate::Arrives };
        let report = run(kind, Path { forth: Box::new(forth), ..Path::default() });
        assert_eq!(report.repeated, 1, "{}", kind.name);
        assert!(
            report.finished < kind.timeout().initial.after(Nanos::from_micros(400)),
            "{}: {:?}",
            kind.name,
            report.finished
        );
    }
}

#[test]
fn each_acknowledgement_and_each_pair_of_them_may_be_lost() {
    for kind in senders::all() {
        let count = undisturbed(&kind).acks.len();
        for first in 0..count {
            for second in first..count {
                let is_lost = move |index| index == first || index == second;
                let back = move |index, _: &Segment| if is_lost(index) { Fate::Lost } else { Fate::Arrives };
                let report = run(&kind, Path { back: Box::new(back), ..Path::default() });
                // What follows acknowledges the same: only the last one, and the answer to the SYN, are missed.
                let is_missed = first == 0 || second == count - 1;
                assert!(report.repeated == 0 || is_missed, "{}: {first}, {second}", kind.name);
            }
        }
    }
}

/// All segments of a flow but one arrive; that one arrives behind k later ones.
#[test]
fn segments_may_arrive_behind_k_later_ones() {
    for kind in senders::all() {
        let count = undisturbed(&kind).sent.len();
        for late in 1..count {
            for behind in 1..8 {
                let wait = Nanos(2_000 * behind + 1);
                let forth =
                    move |index, _: &Segment| if index == late { Fate::Late(wait) } else { Fate::Arrives };
                let report = run(&kind, Path { forth: Box::new(forth), ..Path::default() });
                // Up to two, nobody takes it for lost by count (RFC 5681 §3.2).
                let counts = !kind.name.contains("rack");
                assert!(
                    !counts || behind > 2 || report.repeated == 0,
                    "{}: {late} behind {behind}",
                    kind.name
                );
            }
        }
    }
}

#[test]
fn each_segment_and_each_acknowledgement_may_arrive_twice() {
    for kind in senders::all() {
        let reference = undisturbed(&kind);
        for twice in 0..reference.sent.len().max(reference.acks.len()) {
            for wait in [Nanos(1), Nanos::from_micros(30), Nanos::from_millis(3)] {
                let fault =
                    move |index, _: &Segment| if index == twice { Fate::Twice(wait) } else { Fate::Arrives };
                let report = run(&kind, Path { forth: Box::new(fault), ..Path::default() });
                assert_eq!(report.repeated, 0, "{}: {twice} twice", kind.name);
                let report = run(&kind, Path { back: Box::new(fault), ..Path::default() });
                assert_eq!(report.repeated, 0, "{}: acknowledgement {twice} twice", kind.name);
            }
        }
    }
}

/// A mark lowers the window of a sender that knows marks, and nothing is sent twice for it.
#[test]
fn marks_lower_the_window_and_lose_nothing() {
    for kind in senders::all() {
        let knows_marks = kind.name.contains("ecn") || kind.name.contains("dctcp");
        let forth = |index, _: &Segment| if index == 5 { Fate::Marked } else { Fate::Arrives };
        let report = run(&kind, Path { forth: Box::new(forth), ..Path::default() });
        let reference = undisturbed(&kind);
        if knows_marks {
            assert_eq!(report.repeated, 0, "{}", kind.name);
            assert!(report.last_cwnd < reference.last_cwnd, "{}", kind.name);
            assert!(report.acks.iter().any(|(_, ack)| ack.flags.ece && !ack.flags.syn), "{}", kind.name);
            assert!(
                report.sent.iter().all(|(_, segment)| segment.length == 0 || segment.ecn != Ecn::NotCapable)
            );
        } else {
            assert!(report.sent.iter().all(|(_, segment)| segment.ecn == Ecn::NotCapable), "{}", kind.name);
            assert!(report.repeated > 0, "{}: what may not be marked is dropped", kind.name);
        }
    }
}

/// A receiver that reads late closes its window; probes keep asking, and all of it arrives.
#[test]
fn a_closed_window_is_probed_until_it_opens() {
    for kind in senders::all() {
        for buffer in [1, 999, 1_000, 2_500, 4_000] {
            let settings =
                ReceiverSettings { reads_at_once: false, ..ReceiverSettings::immediate(buffer, 1_000) };
            let receiver = Receiver::new(settings, kind.echo());
            let first = Nanos::from_secs(8);
            let bytes = if buffer == 1 { 20 } else { bytes(&kind) };
            let reads = Some(Reads { first, every: Nanos::from_millis(1), bytes: 1_500 });
            let report = carry(&kind.name, kind.sender(), receiver, bytes, Path { reads, ..Path::default() });
            let while_closed =
                report.sent.iter().filter(|(time, _)| *time > Nanos::from_millis(1) && *time < first);
            let probes: Vec<Nanos> = while_closed.map(|(time, _)| *time).collect();
            assert!(probes.len() > 1, "{}: {} probes", kind.name, probes.len());
            let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            assert!(gaps.windows(2).all(|pair| pair[1] >= pair[0]), "{}: {gaps:?} back off", kind.name);
        }
    }
}

/// The stream fills the window, and nothing is read for long: the FIN goes into it as a probe, and nothing follows.
#[test]
fn a_fin_may_meet_a_full_window() {
    for kind in senders::all() {
        for bytes in [2_760, 2_999, 3_000] {
            let settings =
                ReceiverSettings { reads_at_once: false, ..ReceiverSettings::immediate(bytes, 1_000) };
            let reads =
                Some(Reads { first: Nanos::from_secs(9), every: Nanos::from_millis(1), bytes: 1_000 });
            let receiver = Receiver::new(settings, kind.echo());
            let report = carry(
                &kind.name,
                kind.sender(),
                receiver,
                u64::from(bytes),
                Path { reads, ..Path::default() },
            );
            assert_eq!(report.repeated, 0, "{}: {bytes}", kind.name);
        }
    }
}

/// The acknowledgement that opens the window is lost: a probe finds out.
#[test]
fn a_lost_window_update_does_not_stall() {
    for kind in senders::all() {
        let settings = ReceiverSettings { reads_at_once: false, ..ReceiverSettings::immediate(3_000, 1_000) };
        let reads =
            Some(Reads { first: Nanos::from_millis(5), every: Nanos::from_secs(1_000), bytes: 100_000 });
        let mut updates = 0;
        let back = move |_, ack: &Segment| {
            let opens = ack.ack > 1 && ack.window >= 3_000;
            updates += usize::from(opens);
            if opens && updates == 1 { Fate::Lost } else { Fate::Arrives }
        };
        let receiver = Receiver::new(settings, kind.echo());
        let path = Path { reads, back: Box::new(back), ..Path::default() };
        carry(&kind.name, kind.sender(), receiver, 4_000, path);
    }
}

/// All segments are delayed for longer than the time-out, once: the flow ends, and the spurious time-out costs a bounded number of
/// repeated segments.
#[test]
fn a_spurious_timeout_ends() {
    for kind in senders::all() {
        let from = 4;
        let delay = Nanos::from_secs(5);
        let forth = move |index, _: &Segment| {
            if (from..from + 6).contains(&index) { Fate::Late(delay) } else { Fate::Arrives }
        };
        let report = run(&kind, Path { forth: Box::new(forth), ..Path::default() });
        assert!(report.repeated > 0, "{}: it timed out", kind.name);
        assert!(report.repeated as u64 <= SEGMENTS, "{}: {} repeated", kind.name, report.repeated);
    }
}

/// The same calls give the same answers.
#[test]
fn runs_repeat_themselves() {
    for kind in senders::all() {
        let path = || {
            let forth = |index: usize, _: &Segment| if index % 7 == 3 { Fate::Lost } else { Fate::Arrives };
            Path { forth: Box::new(forth), ..Path::default() }
        };
        assert_eq!(run(&kind, path()), run(&kind, path()), "{}", kind.name);
    }
}
