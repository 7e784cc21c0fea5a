//! Congestion windows against the equations of their standards, in floating point.

use trueplane_network::Nanos;
use trueplane_network::transport::control::Acknowledged;
use trueplane_network::transport::{
    CongestionControl, Cubic, Dctcp, Reno, RoundTrip, TimeoutSettings, WindowSettings,
};

const SEGMENT: u64 = 1_000;
const ROUND_TRIP: Nanos = Nanos::from_millis(20);

fn windows(initial: u32, threshold: u32) -> WindowSettings {
    WindowSettings { initial, threshold: Some(threshold), ..WindowSettings::standard(SEGMENT as u32) }
}

/// The acknowledgement of a segment that found the window full.
fn full(control: &impl CongestionControl, now: Nanos, acknowledged: u64, is_marked: bool) -> Acknowledged {
    Acknowledged {
        now,
        bytes: SEGMENT,
        is_marked,
        acknowledged,
        next: acknowledged + control.cwnd(),
        in_flight: control.cwnd(),
        sample: None,
        smoothed: ROUND_TRIP,
        is_limited: false,
        may_grow: true,
    }
}

/// Sends whole windows, each a round trip after the other. Returns the window at the start of each.
fn rounds(control: &mut impl CongestionControl, start: Nanos, count: u64) -> Vec<u64> {
    let mut acknowledged = 1;
    let mut seen = Vec::new();
    for round in 0..count {
        seen.push(control.cwnd());
        for _ in 0..control.cwnd() / SEGMENT {
            acknowledged += SEGMENT;
            let now = start.after(Nanos(round * ROUND_TRIP.0));
            control.on_ack(&full(control, now, acknowledged, false));
        }
    }
    seen
}

#[test]
fn reno_doubles_and_then_adds_a_segment() {
    let mut reno = Reno::new(windows(2, 16));
    let segments: Vec<u64> = rounds(&mut reno, Nanos(0), 6).iter().map(|bytes| bytes / SEGMENT).collect();
    assert_eq!(segments, [2, 4, 8, 16, 17, 18]);
    reno.on_loss(20 * SEGMENT, Nanos(0));
    assert_eq!([reno.cwnd(), reno.ssthresh()], [10 * SEGMENT; 2]);
    reno.on_timeout(10 * SEGMENT, true, Nanos(0));
    assert_eq!([reno.cwnd(), reno.ssthresh()], [SEGMENT, 5 * SEGMENT]);
    reno.on_timeout(SEGMENT, false, Nanos(0));
    assert_eq!(reno.ssthresh(), 5 * SEGMENT, "the same segment timed out again");
    reno.on_timeout(SEGMENT, true, Nanos(0));
    assert_eq!(reno.ssthresh(), 2 * SEGMENT, "no less than two segments");
}

/// What is left of a window when it grows counts for the next.
#[test]
fn reno_counts_the_rest_of_a_window() {
    let mut reno = Reno::new(windows(10, 10));
    reno.on_loss(5 * SEGMENT, Nanos(0));
    let seen: Vec<u64> = (1..=6)
        .map(|index| {
            reno.on_ack(&full(&reno, Nanos(0), index * SEGMENT, false));
            reno.cwnd()
        })
        .collect();
    assert_eq!(seen, [2_500, 2_500, 3_500, 3_500, 3_500, 4_500]);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut reno = Reno::new(windows(10, 5));
    let ack = Acknowledged { in_flight: 5 * SEGMENT, ..full(&reno, Nanos(0), 1, false) };
    for _ in 0..100 {
        reno.on_ack(&ack);
    }
    assert_eq!(reno.cwnd(), 10 * SEGMENT);
}

/// W(t) = 0.4 (t − K)³ + W_max with K = cube root of (0.3 W_max ÷ 0.4), in segments and seconds.
#[test]
fn cubic_is_the_cubic_of_the_standard() {
    let most = 2_000_u32;
    let mut cubic = Cubic::new(windows(most, most));
    let start = Nanos::from_secs(3);
    cubic.on_loss(u64::from(most) * SEGMENT, start);
    assert_eq!(cubic.cwnd(), 1_400 * SEGMENT);
    let plateau = (0.3 * f64::from(most) / 0.4).cbrt();
    for (round, bytes) in rounds(&mut cubic, start, 1_200).into_iter().enumerate() {
        let time = round as f64 * 0.02;
        let expected = 0.4 * (time - plateau).powi(3) + f64::from(most);
        let found = bytes as f64 / SEGMENT as f64;
        // It reaches the value of a round trip ahead by growing towards it over a round trip.
        let error = (found - expected).abs() / expected;
        assert!(error < 0.005, "round {round}: {found} segments, expected {expected}");
    }
}

/// A flow with a small window grows like Reno: by 9/17 segments a round trip up to the window before the loss.
#[test]
fn cubic_is_no_slower_than_reno() {
    let mut cubic = Cubic::new(windows(20, 20));
    cubic.on_loss(20 * SEGMENT, Nanos(0));
    let seen = rounds(&mut cubic, Nanos(0), 12);
    assert_eq!(seen[0], 14 * SEGMENT);
    let expected = 14.0 + 11.0 * 9.0 / 17.0;
    let found = seen[11] as f64 / SEGMENT as f64;
    assert!((found - expected).abs() < 0.4, "{found}, expected {expected}");
}

/// RFC 9438 §4.4: a window of acknowledgements at once brings the window of a round trip ahead.
#[test]
fn cubic_heads_for_the_window_of_a_round_trip_ahead() {
    let mut cubic = Cubic::new(windows(2_000, 2_000));
    cubic.on_loss(2_000 * SEGMENT, Nanos(0));
    cubic.on_ack(&Acknowledged { bytes: 1, ..full(&cubic, Nanos(0), 1, false) });
    let ack = Acknowledged { bytes: cubic.cwnd(), ..full(&cubic, ROUND_TRIP, 2, false) };
    cubic.on_ack(&ack);
    let plateau = 1_500_f64.cbrt();
    let expected = 1e3 * (0.4 * (0.04 - plateau).powi(3) + 2_000.0);
    assert!((cubic.cwnd() as f64 - expected).abs() < 2.0, "{}, expected {expected}", cubic.cwnd());
}

/// RFC 9438 §4.2, §5.8: time in which the window is not used up, or nothing is sent at all, is no time of the cubic.
#[test]
fn cubic_leaves_out_the_time_that_the_application_takes() {
    let begun = || {
        let mut cubic = Cubic::new(windows(2_000, 2_000));
        cubic.on_loss(2_000 * SEGMENT, Nanos(0));
        rounds(&mut cubic, Nanos(0), 50);
        cubic
    };
    let at = |round: u64| Nanos(round * ROUND_TRIP.0);
    let expected = rounds(&mut begun(), at(50), 50);
    let mut unused = begun();
    for round in 50..550 {
        unused.on_ack(&Acknowledged { in_flight: SEGMENT, ..full(&unused, at(round), 1, false) });
    }
    assert_eq!(rounds(&mut unused, at(550), 50), expected, "a window that is not used up");
    let mut paused = begun();
    paused.on_pause(at(500));
    assert_eq!(rounds(&mut paused, at(550), 50), expected, "a pause");
}

/// RFC 9438 §4.7: a flow that loses before it reached its last window makes room.
#[test]
fn cubic_converges_fast() {
    let mut cubic = Cubic::new(windows(2_000, 2_000));
    cubic.on_loss(2_000 * SEGMENT, Nanos(0));
    cubic.on_loss(1_400 * SEGMENT, Nanos(0));
    assert_eq!(cubic.cwnd(), 980 * SEGMENT);
    // W_max is 1400 × 0.85 = 1190 segments now, which it has at K.
    let plateau = (210.0_f64 / 0.4).cbrt();
    let seen = rounds(&mut cubic, Nanos(0), (plateau / 0.02) as u64);
    let last = *seen.last().unwrap() as f64 / SEGMENT as f64;
    assert!((last - 1_190.0).abs() < 6.0, "{last}");
}

/// RFC 9438 §4.8: after a time-out the cubic begins at its plateau.
#[test]
fn cubic_begins_anew_after_a_timeout() {
    let mut cubic = Cubic::new(windows(2_000, 2_000));
    cubic.on_timeout(2_000 * SEGMENT, true, Nanos(0));
    assert_eq!([cubic.cwnd(), cubic.ssthresh()], [SEGMENT, 1_400 * SEGMENT]);
    let seen = rounds(&mut cubic, Nanos(0), 60);
    // Slow start reaches 1400 segments in 11 round trips; 0.4 t³ is 0.4 segments after another second.
    let growth = seen[59].saturating_sub(1_400 * SEGMENT);
    assert!(seen[11] >= 1_400 * SEGMENT && growth < 60 * SEGMENT, "{seen:?}");
}

/// alpha follows the share of marked bytes, 1/16 of the way in each window, and the window is cut by half of it.
#[test]
fn dctcp_cuts_by_the_share_of_marks() {
    let mut dctcp = Dctcp::new(windows(100, 100));
    let mut expected = 1.0_f64;
    let mut acknowledged = 1;
    for window in 0..80 {
        for index in 0..100 {
            acknowledged += SEGMENT;
            let ack = Acknowledged {
                in_flight: 0, // so that the window stays
                next: acknowledged + 100 * SEGMENT,
                ..full(&dctcp, Nanos(0), acknowledged, index < 20)
            };
            dctcp.on_ack(&ack);
        }
        // The first window ends at its first acknowledgement.
        if window > 0 {
            expected += (0.2 - expected) / 16.0;
        }
    }
    let alpha = dctcp.alpha() as f64 / f64::from(1 << 20);
    assert!((alpha - expected).abs() < 0.02, "{alpha}, expected {expected}");
    let before = dctcp.cwnd() as f64;
    dctcp.on_mark(0, Nanos(0));
    let cut = 1.0 - dctcp.cwnd() as f64 / before;
    assert!((cut - alpha / 2.0).abs() < 1e-4, "{cut}");
}

/// RFC 6298 §2.2 and §2.3, worked by hand.
#[test]
fn timeouts_follow_the_smoothed_round_trip() {
    let settings = TimeoutSettings { least: Nanos(0), granularity: Nanos(0), ..TimeoutSettings::STANDARD };
    let mut round_trip = RoundTrip::new(settings);
    assert_eq!(round_trip.timeout(), Nanos::from_secs(1));
    round_trip.measure(Nanos(80_000));
    assert_eq!([round_trip.smoothed().unwrap(), round_trip.variation()], [Nanos(80_000), Nanos(40_000)]);
    assert_eq!(round_trip.timeout(), Nanos(240_000));
    round_trip.measure(Nanos(160_000));
    // RTTVAR = 3/4 × 40 + 1/4 × 80 = 50 µs; SRTT = 7/8 × 80 + 1/8 × 160 = 90 µs.
    assert_eq!([round_trip.smoothed().unwrap(), round_trip.variation()], [Nanos(90_000), Nanos(50_000)]);
    assert_eq!(round_trip.timeout(), Nanos(290_000));
    round_trip.expire();
    round_trip.expire();
    assert_eq!(round_trip.timeout(), Nanos(1_160_000));
    round_trip.measure(Nanos(90_000));
    assert_eq!(round_trip.timeout(), Nanos(90_000 + 4 * 37_500));
    for _ in 0..100 {
        round_trip.expire();
    }
    assert_eq!(round_trip.timeout(), settings.most);
}

#[test]
fn standard_timeouts_are_a_second_at_least() {
    let mut round_trip = RoundTrip::new(TimeoutSettings::STANDARD);
    round_trip.measure(Nanos(80_000));
    assert_eq!(round_trip.timeout(), Nanos::from_secs(1));
}

/// A sender in its first slow start with HyStart++, and the round-trip time in ms of each round. Returns the window in segments at the end of
/// each round.
fn slow_start(round_trips: &[u64]) -> (Reno, Vec<u64>) {
    let settings = WindowSettings { hystart: true, ..WindowSettings::standard(SEGMENT as u32) };
    let mut reno = Reno::new(settings);
    let mut acknowledged = 1;
    let windows = round_trips.iter().map(|round_trip| {
        let end = acknowledged + reno.cwnd() / SEGMENT * SEGMENT;
        while acknowledged < end {
            acknowledged += SEGMENT;
            let ack = full(&reno, Nanos(0), acknowledged, false);
            reno.on_ack(&Acknowledged { next: end, sample: Some(Nanos::from_millis(*round_trip)), ..ack });
        }
        reno.cwnd() / SEGMENT
    });
    let windows = windows.collect();
    (reno, windows)
}

/// RFC 9406 §4.2: as long as round-trip times grow by less than an eighth, or 4 ms, slow start is as ever.
#[test]
fn hystart_waits_for_longer_round_trips() {
    for round_trips in [[50, 50, 56, 56], [20, 20, 23, 23], [200, 200, 215, 215]] {
        let (reno, windows) = slow_start(&round_trips);
        assert_eq!(windows, [20, 40, 80, 160], "{round_trips:?}");
        assert!(reno.cwnd() < reno.ssthresh());
    }
}

/// RFC 9406 §4.2: after eight measurements of a longer round trip, the window grows by a quarter of what is acknowledged; after five rounds,
/// the first among them, slow start is over.
#[test]
fn hystart_slows_down_and_ends_slow_start() {
    for round_trips in [[50, 50, 57], [20, 20, 24], [200, 200, 216]] {
        assert_eq!(slow_start(&round_trips).1, [20, 40, 40 + 8 + 32 / 4], "{round_trips:?}");
    }
    let (mut reno, windows) = slow_start(&[50, 50, 57, 57, 57, 57, 57]);
    assert_eq!(windows[2..5], [56, 70, 87]);
    assert!(reno.cwnd() < reno.ssthresh(), "five rounds are not over before the next one begins");
    let ended = slow_start(&[50, 50, 57, 57, 57, 57, 57, 57]);
    assert_eq!(ended.0.ssthresh() / SEGMENT, windows[6], "the window at the end of the fifth");
    assert!(ended.1[7] <= windows[6] + 1, "from then on it grows by a segment in a round trip");
    reno.on_loss(100 * SEGMENT, Nanos(0));
    assert_eq!([reno.cwnd(), reno.ssthresh()], [50 * SEGMENT; 2]);
}

/// RFC 9406 §4.2: if the round-trip time is shorter again, slow start is as before.
#[test]
fn hystart_speeds_up_again() {
    let (reno, windows) = slow_start(&[50, 50, 57, 49]);
    assert_eq!(windows[3], 56 + 8 / 4 + 48);
    assert!(reno.cwnd() < reno.ssthresh());
}

/// RFC 9406 §4.3: a later slow start is the standard one.
#[test]
fn hystart_is_for_the_first_slow_start() {
    let (mut reno, _) = slow_start(&[50, 50, 57]);
    reno.on_timeout(56 * SEGMENT, true, Nanos(0));
    let segments: Vec<u64> = rounds(&mut reno, Nanos(0), 6).iter().map(|bytes| bytes / SEGMENT).collect();
    assert_eq!(segments, [1, 2, 4, 8, 16, 28]);
}
