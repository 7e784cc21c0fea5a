//! One limiter shared by several cores.
//!
//! Cores that update one limiter for every packet wait for each other: its cache line goes back and forth. Here each core
//! draws some bytes in advance, as *credit* of its own, and comes back when that is used up. One access to the shared
//! limiter, and one reading of the clock, then serve many packets.
//!
//! # How much too much
//!
//! **In any time, `N` cores that draw `D` bytes each let through at most `(N + 1) × D` bytes more than the bound of the one
//! limiter**, which for [`Nimble`](super::policy::Nimble) is burst + rate × (`t` + one quantum) + one packet; and this is tight.
//!
//! Proof. A core lets through what it held as credit when the time began, plus what it charged, less what it still holds at
//! the end. Let `c` be the credit that the core with the first charge holds just before it, for a packet of `b` bytes. It
//! charges `b + D − c` (or `b − c`), and the limiter's bound takes that one for the *one packet*; all further charges
//! are within burst + rate × (`t` + one quantum). Credit at the beginning is at most `N × D`. So at most
//! `N × D + (b + D − c)` + burst + rate × (`t` + one quantum) pass, which is `(N + 1) × D` above the limiter's bound if `c` is
//! zero. It is attained: all cores hold `D` while the limiter is idle so long that the first charge is drained at once, whatever
//! its size; they use it up, one charges `b + D`, and then the burst is used up to the last byte
//! (`tests::the_bound_is_attained`). ∎
//!
//! What a core holds and does not use is lost to the others, `N × D` at most, and only once: the long-run rate is that of the
//! limiter. With `D = 0` every packet is charged at once, and everything is as without credit.

use trueplane_units::Nanos;

use crate::{Limiter, Verdict};

/// Credit that a core has drawn from a limiter and not used yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct Credit {
    /// Bytes that may pass without asking.
    pub bytes: u32,
    /// Whether the packets that they are used for are marked, as the draw was.
    pub marked: bool,
}

impl Credit {
    fn verdict(self) -> Verdict {
        if self.marked { Verdict::Mark } else { Verdict::Pass }
    }
}

/// Decides on a packet of `bytes` on a core that holds `credit` and draws `draw` bytes at a time from `shared`.
///
/// - If the credit covers the packet, it is taken from it and `shared` is left alone; the clock is not read.
/// - Else what is lacking is charged, and `draw` bytes of new credit with it.
/// - If that is too much, only what is lacking is charged, and the credit is used up.
/// - If that is too much as well, the packet is dropped, and the credit stays.
///
/// Sums beyond 2³² − 1 bytes, sixty times the largest burst, are charged as 2³² − 1.
pub fn offer<L: Limiter>(
    shared: &mut L,
    credit: &mut Credit,
    draw: u32,
    bytes: u32,
    now: impl FnOnce() -> Nanos,
) -> Verdict {
    if let Some(left) = credit.bytes.checked_sub(bytes) {
        credit.bytes = left;
        return credit.verdict();
    }
    let now = now();
    let lacking = bytes - credit.bytes;
    let with_draw = shared.step(lacking.saturating_add(draw), now);
    let (step, drawn) = match with_draw.verdict {
        Verdict::Drop => (shared.step(lacking, now), 0),
        Verdict::Pass | Verdict::Mark => (with_draw, draw),
    };
    let verdict = step.verdict;
    *shared = step.settled();
    if verdict != Verdict::Drop {
        *credit = Credit { bytes: drawn, marked: verdict == Verdict::Mark };
    }
    verdict
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_units::{BitsPerSec, Bytes};

    use super::super::format::ticks;
    use super::super::policy::Nimble;
    use super::*;

    fn units(bytes: u64) -> u64 {
        bytes * 64
    }

    #[test]
    fn credit_is_drawn_used_and_drawn_again() {
        // 1 Gbit/s, 6000 B, marks above 3000 B: a byte in 8 ns.
        let mut shared = Nimble::new(BitsPerSec(1_000_000_000), Bytes(6_000), Some(Bytes(3_000))).unwrap();
        let mut credit = Credit::default();
        let mut offer = |now| {
            let mut read = false;
            let clock = || {
                read = true;
                Nanos(now)
            };
            let verdict = offer(&mut shared, &mut credit, 1_500, 1_000, clock);
            (verdict, read, credit.bytes, shared.occupancy().0)
        };
        assert_eq!(offer(0), (Verdict::Pass, true, 1_500, 2_500));
        assert_eq!(offer(0), (Verdict::Pass, false, 500, 2_500));
        // Lacks 500 B and draws 1500 B: 4500 B, marked.
        assert_eq!(offer(0), (Verdict::Mark, true, 1_500, 4_500));
        assert_eq!(offer(0), (Verdict::Mark, false, 500, 4_500));
        // 2000 B more would be too much, the 500 B that are lacking are not.
        assert_eq!(offer(0), (Verdict::Mark, true, 0, 5_000));
        assert_eq!(offer(0), (Verdict::Mark, true, 0, 6_000));
        assert_eq!(offer(0), (Verdict::Drop, true, 0, 6_000));
        // In 8192 ns 1024 B are drained.
        assert_eq!(offer(8_192), (Verdict::Mark, true, 0, 5_976));
    }

    #[test]
    fn a_drop_leaves_the_credit_as_it_is() {
        let mut shared = Nimble::new(BitsPerSec(1_000), Bytes(2_000), None).unwrap();
        let mut credit = Credit { bytes: 700, marked: true };
        assert_eq!(offer(&mut shared, &mut credit, 300, 3_000, || Nanos(0)), Verdict::Drop);
        assert_eq!(credit, Credit { bytes: 700, marked: true });
        assert_eq!(offer(&mut shared, &mut credit, u32::MAX, u32::MAX, || Nanos(0)), Verdict::Drop);
        assert_eq!(offer(&mut shared, &mut credit, 300, 700, || unreachable!()), Verdict::Mark);
    }

    #[test]
    fn the_bound_is_attained() {
        let (draw, packet, burst) = (3_000u32, 1_500u32, 9_000u32);
        for cores in 1..=8usize {
            let mut shared = Nimble::new(BitsPerSec(1_000_000_000), Bytes(burst.into()), None).unwrap();
            let mut credits = vec![Credit::default(); cores];
            // Every core draws, a long time before the packets that count.
            for (second, credit) in (0..).zip(&mut credits) {
                offer(&mut shared, credit, draw, packet, || Nanos(second * 1_000_000_000));
                assert_eq!(credit.bytes, draw);
            }
            let mut passed = 0;
            // Each sends until it is refused, at one instant.
            for credit in &mut credits {
                while offer(&mut shared, credit, draw, packet, || Nanos(20_000_000_000)) != Verdict::Drop {
                    passed += packet;
                }
            }
            assert_eq!(passed, burst + packet + (cores as u32 + 1) * draw, "{cores} cores");
        }
    }

    /// The core, the nanoseconds since the packet before, and the packet's bytes.
    fn packets() -> impl Strategy<Value = Vec<(usize, u64, u32)>> {
        let gap = prop_oneof![4 => Just(0u64), 4 => 0..20_000u64, 1 => 0..2_000_000u64];
        prop::collection::vec((0..8usize, gap, 1..2_000u32), 1..200)
    }

    proptest! {
        #[test]
        fn no_interval_lets_through_more_than_the_bound(
            packets in packets(),
            cores in 1..=8usize,
            draw in 0..10_000u32,
            burst in 1..20_000u64,
            rate in prop_oneof![1_000..1_000_000u64, 1_000_000..400_000_000_000u64],
        ) {
            let mut shared = Nimble::new(BitsPerSec(rate), Bytes(burst), None).unwrap();
            let (word, burst_units) = (shared.rate, u64::from(shared.burst_units));
            let mut credits = [Credit::default(); 8];
            let mut now = 0;
            let mut passed = Vec::new();
            for (core, gap, bytes) in packets {
                now += gap;
                if offer(&mut shared, &mut credits[core % cores], draw, bytes, || Nanos(now)) != Verdict::Drop {
                    passed.push((now, u64::from(bytes)));
                }
            }
            let quanta = |now| u64::from(ticks(Nanos(now)) >> word.quantum());
            for first in 0..passed.len() {
                let (mut sum, mut largest) = (0, 0);
                for &(now, bytes) in &passed[first..] {
                    sum += units(bytes);
                    largest = largest.max(units(bytes));
                    let drained = (quanta(now) - quanta(passed[first].0)) * u64::from(word.mantissa());
                    let too_much = units(u64::from(draw) * (cores as u64 + 1));
                    prop_assert!(sum <= burst_units + drained + largest + too_much);
                }
            }
        }

        #[test]
        fn without_a_draw_it_is_the_limiter_itself(packets in packets(), burst in 1..20_000u64, mark in 1..20_000u64) {
            let mut exact = Nimble::new(BitsPerSec(100_000_000), Bytes(burst), Some(Bytes(mark))).unwrap();
            let mut shared = exact;
            let mut credits = [Credit::default(); 8];
            let mut now = 0;
            for (core, gap, bytes) in packets {
                now += gap;
                let verdict = offer(&mut shared, &mut credits[core], 0, bytes, || Nanos(now));
                prop_assert_eq!(verdict, exact.offer(bytes, Nanos(now)));
                prop_assert_eq!(shared, exact);
            }
        }
    }
}
