use Verdict::{Drop, Mark, Pass};
use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3_600 * SECOND;
/// The clock of a limiter starts again after so many nanoseconds.
const WRAP_NANOS: u64 = 1 << (32 + TICK_SHIFT);

fn nimble(rate: u64, burst: u64) -> Nimble {
    Nimble::new(BitsPerSec(rate), Bytes(burst), None).unwrap()
}

/// 1 Gbit/s drains 32 bytes in every 256 ns.
#[test]
fn the_worked_example() {
    let mut limiter = Nimble::new(BitsPerSec(SECOND), Bytes(3_000), Some(Bytes(2_048))).unwrap();
    assert_eq!((limiter.rate.mantissa(), limiter.rate.quantum()), (32 * 64, 4));
    assert_eq!((limiter.burst_units, limiter.rate.mark_units()), (192_000, Some(131_072)));
    let mut offer = |nanos| {
        let verdict = limiter.offer(1_500, Nanos(nanos));
        (verdict, limiter.last_ticks, limiter.occupancy_units)
    };
    // 0 + 1500 = 1500 B.
    assert_eq!(offer(0), (Pass, 0, 1_500 * 64));
    // 1500 + 1500 − 1024 = 1976 B.
    assert_eq!(offer(8_192), (Pass, 512, 1_976 * 64));
    // 1976 + 1500 − 128 = 3348 B is above 3000 B: dropped, and nothing is written.
    assert_eq!(offer(9_216), (Drop, 512, 1_976 * 64));
    // 1976 + 1500 − 640 = 2836 B is above 2048 B.
    assert_eq!(offer(13_312), (Mark, 832, 2_836 * 64));
    // In a millisecond 123,328 B could have been drained; what was there, and this packet, is gone.
    assert_eq!(offer(1_000_000), (Pass, 62_500, 0));
}

#[test]
fn hours_of_idleness_are_told_right_if_it_is_refreshed() {
    for rate in [1_000, 400_000_000_000] {
        for hours in [1u64, 24, 24 * 365] {
            let mut limiter = nimble(rate, 64_000_000);
            while limiter.offer(1_000_000, Nanos(0)) != Drop {}
            let idle = hours * HOUR;
            for refresh in 1..=idle / REFRESH_NANOS {
                limiter.refresh(Nanos(refresh * REFRESH_NANOS));
            }
            limiter.refresh(Nanos(idle));
            limiter.offer(1, Nanos(idle));
            let drained = (1_000 * hours * 3_600 / 8).min(64_000_000);
            let left = if rate == 1_000 { 64_000_001 - drained } else { 0 };
            // The word of this rate is off by up to 0.025%, and by a quantum.
            let off = left.abs_diff(limiter.occupancy().0);
            assert!(off <= drained / 4_000 + 64, "{rate}, {hours} h: {} for {left}", limiter.occupancy().0);
        }
    }
}

#[test]
fn a_long_silence_empties_the_slowest_and_largest_bucket_and_no_sooner_than_it_should() {
    let mut full = nimble(1_000, format_max_burst());
    while full.offer(65_535, Nanos(0)) != Drop {}
    let occupancy = full.occupancy_units;
    // 6 days at 1 kbit/s are 64.8 MB of the 67.1 MB that it holds.
    let after = |now| {
        let mut limiter = full;
        limiter.refresh_between(Nanos(0), now);
        limiter.occupancy_units
    };
    assert!((1..occupancy / 20).contains(&after(Nanos(6 * 24 * HOUR))));
    assert_eq!([after(Nanos(7 * 24 * HOUR)), after(Nanos::MAX)], [0, 0]);
    assert_eq!(after(Nanos(REFRESH_NANOS - 1)), occupancy);
}

#[test]
fn without_a_refresh_idleness_may_be_underrated_and_never_overrated() {
    let mut limiter = nimble(1_000_000, 1_000_000);
    limiter.offer(1_000_000, Nanos(0));
    // A wrap and 8 ms: only those 8 ms are seen, in which at most 1000 B are drained.
    assert_eq!(limiter.offer(1_001, Nanos(WRAP_NANOS + 8_000_000)), Drop);
    assert!(limiter.occupancy().0 >= 999_000);
}

#[test]
fn the_wrap_of_the_clock_is_not_felt() {
    for rate in [1_000, 1_000_000, 999_999_937, 400_000_000_000] {
        let mut here = nimble(rate, 30_000);
        // As far before the wrap as the other is after zero is the same for every quantum.
        let offset = WRAP_NANOS - (1 << 30);
        let mut across = Nimble { last_ticks: ticks(Nanos(offset)), ..here };
        for packet in 0..4_000u64 {
            let nanos = packet * 1_000_003;
            assert_eq!(here.offer(1_500, Nanos(nanos)), across.offer(1_500, Nanos(offset + nanos)), "{rate}");
            assert_eq!(here.occupancy_units, across.occupancy_units);
        }
        // Drops write nothing, this does: the clock has wrapped.
        let end = 4_000 * 1_000_003;
        assert_eq!([here.offer(1, Nanos(end)), across.offer(1, Nanos(offset + end))], [Pass, Pass]);
        assert!(across.last_ticks < here.last_ticks);
    }
}

#[test]
fn late_packets_are_charged_and_turn_no_clock_back() {
    let mut limiter = nimble(SECOND, 3_000);
    let now = 5 * SECOND;
    limiter.offer(1_500, Nanos(now));
    let occupancy = limiter.occupancy_units;
    let late = LATE_TICKS as u64 * 16;
    assert_eq!(limiter.offer(100, Nanos(now - late)), Pass);
    assert_eq!(limiter.occupancy_units, occupancy + 100 * 64);
    assert_eq!(limiter.offer(2_901, Nanos(now - 1)), Drop);
    assert_eq!(limiter.last_ticks, format_ticks(now));
    // Later than that is taken for a wrap less a little.
    assert_eq!(limiter.offer(2_901, Nanos(now - late - 16)), Pass);
}

fn format_ticks(nanos: u64) -> u32 {
    ticks(Nanos(nanos))
}

/// Bytes of those packets of `size` that pass, one each `gap` nanoseconds from `start` on.
fn admitted(limiter: &mut Nimble, size: u32, start: u64, gap: u64, packets: u64) -> u64 {
    let passed =
        (0..packets).filter(|packet| limiter.offer(size, Nanos(start + packet * gap)) != Drop).count();
    passed as u64 * u64::from(size)
}

#[test]
fn a_flood_loses_nothing_by_rounding() {
    for (rate, gap) in [(1_000, 1_000), (1_000, 4_001), (1_000_000, 1), (937_000_001, 1)] {
        let mut limiter = nimble(rate, 500);
        let (packets, size) = (8_000_000, 64);
        let sum = admitted(&mut limiter, size, 0, gap, packets);
        let seconds = (packets * gap) as f64 / 1e9;
        let expected = limiter.rate.bits_per_sec() / 8.0 * seconds;
        // Burst, packet, quantum.
        assert!((sum as f64 - expected).abs() <= 500.0 + 64.0 + 64.0, "{rate}: {sum} for {expected}");
    }
    // A quantum of 1 kbit/s takes 0.27 s: packets 1 ns apart around its end, and no more than it drains.
    let mut limiter = nimble(1_000, 500);
    let quantum = TICK_NANOS_IN_QUANTUM;
    assert_eq!(admitted(&mut limiter, 1, 10 * quantum - 1_000_000, 1, 1_000_000), 501);
    let drained = u64::from(limiter.rate.mantissa()).div_ceil(UNITS_PER_BYTE);
    let sum = admitted(&mut limiter, 1, 10 * quantum, 1, 1_000_000);
    assert!(sum == drained || sum + 1 == drained, "{sum} B for {drained} B");
}

/// The quantum of 1 kbit/s in nanoseconds.
const TICK_NANOS_IN_QUANTUM: u64 = 1 << (24 + TICK_SHIFT);

#[test]
fn a_rate_may_change_at_run_time() {
    let mut limiter = nimble(1_000_000, 10_000);
    while limiter.offer(1_000, Nanos(0)) != Drop {}
    // From 1 Mbit/s to 1 Gbit/s: 8 µs now drain 1000 B; what was in the bucket still is.
    limiter.rate = RateWord::new(BitsPerSec(SECOND), None).unwrap();
    assert_eq!(limiter.offer(1_001, Nanos(7_999)), Drop);
    limiter.advance(Nanos(7_999));
    assert_eq!(limiter.occupancy().0, 10_000 - 7_999 / 256 * 32);
    assert_eq!(limiter.offer(900, Nanos(8_192)), Pass);
    // And the burst: what is too much now has to drain before anything passes.
    limiter.burst_units = burst_units(Bytes(2_000)).unwrap();
    let over = limiter.occupancy().0 - 2_000;
    assert_eq!(limiter.offer(0, Nanos(8_192)), Drop);
    assert_eq!(limiter.offer(0, Nanos(8_192 + over.next_multiple_of(32) * 8)), Pass);
}

/// The same in 128 bits, with a clock that does not wrap.
struct Reference {
    last: u64,
    occupancy: i128,
}

impl Reference {
    fn offer(&mut self, limiter: &Nimble, bytes: u32, now: Nanos) -> Verdict {
        let now = (now.0 >> TICK_SHIFT).max(self.last);
        let quantum = 1u64 << limiter.rate.quantum();
        let drained = i128::from(now / quantum - self.last / quantum) * i128::from(limiter.rate.mantissa());
        let after = (self.occupancy + i128::from(bytes) * 64 - drained).max(0);
        self.last = now;
        if after > i128::from(limiter.burst_units) {
            self.occupancy = (self.occupancy - drained).max(0);
            return Drop;
        }
        self.occupancy = after;
        let mark = limiter.rate.mark_units().is_some_and(|threshold| after > i128::from(threshold));
        if mark { Mark } else { Pass }
    }

    /// The limiter may have put off what it has to drain.
    fn agrees_with(&self, limiter: &Nimble) -> bool {
        let mut limiter = *limiter;
        limiter.advance(Nanos(self.last << TICK_SHIFT));
        self.occupancy == i128::from(limiter.occupancy_units)
    }
}

fn limiters() -> impl Strategy<Value = Nimble> {
    let rate = (0..29u32, any::<u64>()).prop_map(|(doublings, low)| {
        let floor = 1_000u64 << doublings;
        (floor + low % floor).min(400_000_000_000)
    });
    let burst = prop_oneof![1..3_000u64, 1..100_000u64, 1..=format_max_burst()];
    (rate, burst, prop::option::of(1..100_000u64))
        .prop_map(|(rate, burst, mark)| Nimble::new(BitsPerSec(rate), Bytes(burst), mark.map(Bytes)).unwrap())
}

fn format_max_burst() -> u64 {
    super::super::super::format::MAX_BURST.0
}

fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 64..=1_500u32, 1 => 0..100_000u32, 1 => any::<u32>()]
}

/// Gaps of every magnitude up to `longest` nanoseconds.
fn gaps(longest: u64) -> impl Strategy<Value = u64> {
    (0..64u32, 0..=longest).prop_map(|(shift, gap)| gap >> shift)
}

proptest! {
    #[test]
    fn no_interval_lets_through_more_than_the_bound(
        mut limiter in limiters(),
        packets in prop::collection::vec((gaps(1 << 24), sizes()), 1..150),
    ) {
        let mut now = 0;
        let mut passed = Vec::new();
        for (gap, bytes) in packets {
            now += gap;
            if limiter.offer(bytes, Nanos(now)) != Drop {
                passed.push((now >> TICK_SHIFT, u128::from(bytes) * 64));
            }
        }
        for first in 0..passed.len() {
            let mut sum = 0;
            for &(now, units) in &passed[first..] {
                sum += units;
                // Rate × (t + a quantum), in whole units: a quantum that has begun drains as a whole.
                let quanta = ((now - passed[first].0) >> limiter.rate.quantum()) + 1;
                let drained = u128::from(quanta) * u128::from(limiter.rate.mantissa());
                prop_assert!(sum <= u128::from(limiter.burst_units) + drained + passed[first].1);
            }
        }
    }

    /// A limiter puts off draining for a quarter of a wrap at most.
    #[test]
    fn as_in_128_bits_while_gaps_are_below_half_a_wrap(
        mut limiter in limiters(),
        start in any::<u32>(),
        packets in prop::collection::vec((gaps(WRAP_NANOS / 2), sizes()), 1..150),
    ) {
        let mut now = u64::from(start) << TICK_SHIFT;
        limiter.last_ticks = start;
        let mut reference = Reference { last: start.into(), occupancy: 0 };
        for (gap, bytes) in packets {
            now += gap;
            prop_assert_eq!(limiter.offer(bytes, Nanos(now)), reference.offer(&limiter, bytes, Nanos(now)));
            prop_assert!(reference.agrees_with(&limiter));
        }
    }

    /// A refresh is the same as a packet of no bytes, where it is one at all.
    #[test]
    fn as_in_128_bits_after_any_idle_time_if_it_is_refreshed(
        mut limiter in limiters(),
        packets in prop::collection::vec((gaps(6 * HOUR), sizes()), 1..100),
    ) {
        let mut reference = Reference { last: 0, occupancy: 0 };
        let (mut now, mut refreshed) = (0, 0);
        for (gap, bytes) in packets {
            now += gap;
            while refreshed + REFRESH_NANOS <= now {
                refreshed += REFRESH_NANOS;
                let before = limiter.last_ticks;
                limiter.refresh(Nanos(refreshed));
                if limiter.last_ticks != before {
                    reference.offer(&limiter, 0, Nanos(refreshed));
                }
                prop_assert!(reference.agrees_with(&limiter));
            }
            prop_assert_eq!(limiter.offer(bytes, Nanos(now)), reference.offer(&limiter, bytes, Nanos(now)));
            prop_assert!(reference.agrees_with(&limiter));
        }
    }

    /// All refreshes of a silence at once are the same as one after the other.
    #[test]
    fn many_refreshes_at_once_are_as_many_one_by_one(
        mut limiter in limiters(),
        packets in prop::collection::vec((gaps(1 << 46), sizes()), 1..30),
    ) {
        let mut one_by_one = limiter;
        let (mut last, mut refreshed) = (0, 0);
        for (gap, bytes) in packets {
            let now = last + gap;
            while refreshed + REFRESH_NANOS <= now {
                refreshed += REFRESH_NANOS;
                one_by_one.refresh(Nanos(refreshed));
            }
            limiter.refresh_between(Nanos(last), Nanos(now));
            prop_assert_eq!(limiter, one_by_one);
            prop_assert_eq!(limiter.offer(bytes, Nanos(now)), one_by_one.offer(bytes, Nanos(now)));
            last = now;
        }
    }

    /// From a nanosecond to 50 years.
    #[test]
    fn as_in_128_bits_after_years_if_the_refreshes_are_made_up_for(
        mut limiter in limiters(),
        packets in prop::collection::vec((gaps(50 * 365 * 24 * HOUR), sizes()), 1..30),
    ) {
        let mut reference = Reference { last: 0, occupancy: 0 };
        let mut last = 0;
        for (gap, bytes) in packets {
            let now = last + gap;
            let before = limiter.last_ticks;
            limiter.refresh_between(Nanos(last), Nanos(now));
            let turns = now / REFRESH_NANOS - last / REFRESH_NANOS;
            // One alone may come too soon to do anything.
            if turns > 1 || limiter.last_ticks != before {
                reference.offer(&limiter, 0, Nanos(now / REFRESH_NANOS * REFRESH_NANOS));
            }
            prop_assert!(reference.agrees_with(&limiter));
            prop_assert_eq!(limiter.offer(bytes, Nanos(now)), reference.offer(&limiter, bytes, Nanos(now)));
            prop_assert!(reference.agrees_with(&limiter));
            last = now;
        }
    }

    /// Whatever passes after an idle time of any length without a refresh passes with it, unless it is larger than the burst.
    #[test]
    fn a_packet_that_fits_passes_after_an_idle_time_if_it_is_refreshed(
        mut limiter in limiters(),
        packets in prop::collection::vec(sizes(), 1..20),
        idle in gaps(6 * HOUR),
        bytes in sizes(),
    ) {
        for bytes in packets {
            limiter.offer(bytes, Nanos(0));
        }
        let mut reference = Reference { last: 0, occupancy: limiter.occupancy_units.into() };
        for refresh in 1..=idle / REFRESH_NANOS {
            limiter.refresh(Nanos(refresh * REFRESH_NANOS));
        }
        let (found, expected) = (limiter.offer(bytes, Nanos(idle)), reference.offer(&limiter, bytes, Nanos(idle)));
        prop_assert!(found >= expected);
        prop_assert!(expected == Drop || found != Drop || u64::from(bytes) * 64 > u64::from(limiter.burst_units));
    }
}
