//! One table that every rate limiter must pass.
//!
//! Amounts are in nanobits, in which every rate, every span and the units of all limiters are whole numbers.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_limit::drain::{DrainTable, Tabled};
use trueplane_limit::policy::{
    Gcra, Hierarchy, Nanobits, Nimble, PolicyName, SingleRateMeter, TokenBucket, TwoRateMeter,
};
use trueplane_limit::{Limiter, Verdict};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

/// A Nimble's unit, 1/64 byte.
const UNIT: u128 = 125_000_000;
const MILLION: u128 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// The table of a switch that errs by up to 6% (figure 12b).
const TABLE_PPM: u32 = 60_000;

/// What a limiter says of itself.
struct Bound {
    /// What passes in a span, at most: this much,
    burst: u128,
    /// plus what the rate passes in the span,
    earned: Box<dyn Fn(Nanos) -> u128>,
    /// plus the first packet, if that is on top.
    and_a_packet: bool,
    /// A source that conforms to a token bucket with this burst …
    fits: Bytes,
    /// … and a rate that is lower by so many millionths is never dropped.
    below_ppm: u128,
    /// How far the long-run rate may be off under overload, in millionths, …
    error_ppm: u128,
    /// … and what may be lost with every packet that arrives.
    lost_per_packet: u128,
    /// Whether what drains in two spans is what drains in both together, so that calls in between change nothing.
    adds_up: bool,
}

/// Something to be done with every limiter of the table.
trait Check {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, bound: &Bound);
}

fn reference(rate: BitsPerSec, burst: Bytes) -> Bound {
    Bound {
        burst: Nanobits::from(burst).0,
        earned: Box::new(move |span| Nanobits::earned(rate, span).0),
        and_a_packet: false,
        fits: burst,
        below_ppm: 0,
        error_ppm: 0,
        lost_per_packet: 0,
        adds_up: true,
    }
}

fn of_nimble(nimble: &Nimble) -> Bound {
    let (mantissa, quantum) = (u128::from(nimble.rate.mantissa()), nimble.rate.quantum());
    let drained_at_once = (mantissa * UNIT).div_ceil(8 * u128::from(SECOND)) as u64;
    Bound {
        burst: u128::from(nimble.burst_units) * UNIT,
        // A quantum that has begun drains as a whole, and a tick begins at both ends of the span.
        earned: Box::new(move |span| u128::from((span.0.div_ceil(16) >> quantum) + 1) * mantissa * UNIT),
        and_a_packet: true,
        fits: Bytes(nimble.burst().0.saturating_sub(drained_at_once)),
        below_ppm: 250,
        error_ppm: 250,
        lost_per_packet: 0,
        adds_up: true,
    }
}

fn of_table(nimble: &Nimble, ppm: u32) -> Bound {
    let (mantissa, quantum) = (u128::from(nimble.rate.mantissa()), nimble.rate.quantum());
    let ppm = u128::from(ppm);
    let ticks_of = move |span: Nanos| u128::from(span.0.div_ceil(16));
    Bound {
        earned: Box::new(move |span| {
            ((ticks_of(span) * mantissa * UNIT * (MILLION + ppm)) >> quantum).div_ceil(MILLION)
        }),
        // A tick may drain later than it began; a unit that is lost with a packet of 64 bytes is 244 millionths of it.
        fits: Bytes(nimble.burst().0.saturating_sub(((mantissa >> quantum) as u64).div_ceil(64) + 1)),
        below_ppm: ppm + 250 + 250,
        error_ppm: ppm + 250,
        lost_per_packet: UNIT,
        adds_up: false,
        ..of_nimble(nimble)
    }
}

/// Every limiter, set to the same rate and burst.
fn table(rate: BitsPerSec, burst: Bytes, check: &impl Check) {
    for &policy in PolicyName::ALL {
        row(policy, rate, burst, check);
    }
    let nimble = nimble(rate, burst);
    let drain = DrainTable::new(TABLE_PPM).expect("between 0 and 1");
    check.check("tabled", Tabled { nimble, table: &drain }, &of_table(&nimble, TABLE_PPM));
    // A class inside a tenant with twice as much; and the other way round, where the tenant is what binds.
    let wide = TokenBucket::new(BitsPerSec(2 * rate.0), Bytes(2 * burst.0));
    check.check("class", Hierarchy { class: nimble, tenant: wide }, &of_nimble(&nimble));
    let tenant = TokenBucket::new(rate, burst);
    check.check("tenant", Hierarchy { class: wide, tenant }, &reference(rate, burst));
}

fn nimble(rate: BitsPerSec, burst: Bytes) -> Nimble {
    Nimble::new(rate, burst, Some(Bytes(burst.0 / 2))).expect("within the format")
}

/// The row of a policy: whoever adds one says here what it promises.
fn row(policy: PolicyName, rate: BitsPerSec, burst: Bytes, check: &impl Check) {
    let name = policy.name();
    match policy {
        PolicyName::Nimble => {
            let nimble = nimble(rate, burst);
            check.check(name, nimble, &of_nimble(&nimble));
        }
        PolicyName::TokenBucket => {
            check.check(name, TokenBucket::new(rate, burst), &reference(rate, burst));
        }
        PolicyName::Gcra => check.check(name, Gcra::new(rate, burst), &reference(rate, burst)),
        PolicyName::SrTcm => {
            let srtcm = SingleRateMeter::new(rate, burst, burst).expect("above zero");
            let bound = Bound { fits: burst, ..reference(rate, Bytes(2 * burst.0)) };
            check.check(name, srtcm, &bound);
        }
        PolicyName::TrTcm => {
            let committed = (BitsPerSec(rate.0 / 2), Bytes(burst.0.div_ceil(2)));
            let trtcm = TwoRateMeter::new((rate, burst), committed).expect("in order");
            check.check(name, trtcm, &reference(rate, burst));
        }
    }
}

/// Packets with their times, which may go back a little.
#[derive(Debug)]
struct Packets(Vec<(u64, u32)>);

impl Check for Packets {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, bound: &Bound) {
        let mut limiter = limiter;
        // The packet's time, the latest time that the limiter has seen, and the amount.
        let mut passed: Vec<(u64, u64, u128)> = Vec::new();
        let mut clock = 0;
        for &(now, bytes) in &self.0 {
            clock = clock.max(now);
            let step = limiter.step(bytes, Nanos(now));
            check_step(name, &limiter, bytes, Nanos(now), bound);
            let mut offered = limiter;
            assert_eq!(offered.offer(bytes, Nanos(now)), step.verdict, "{name}");
            limiter = step.settled();
            assert_eq!(offered, limiter, "{name}: offer is not the settled step");
            if step.verdict != Verdict::Drop {
                passed.push((now, clock, Nanobits::from(bytes).0));
            }
        }
        for first in 0..passed.len() {
            let (mut earliest, mut sum, mut largest) = (passed[first].0, 0, 0);
            for &(now, latest, amount) in &passed[first..] {
                earliest = earliest.min(now);
                sum += amount;
                // The packet on top is the first in the order of time, which late packets leave open.
                largest = largest.max(amount);
                let packet = if bound.and_a_packet { largest } else { 0 };
                let most = bound.burst + (bound.earned)(Nanos(latest - earliest)) + packet;
                assert!(
                    sum <= most,
                    "{name}: {sum} nanobits passed in {} ns, at most {most}",
                    latest - earliest
                );
            }
        }
    }
}

/// Refused leaves a limiter as if only time had passed.
fn check_step<L: Limiter + Copy + PartialEq + std::fmt::Debug>(
    name: &str,
    limiter: &L,
    bytes: u32,
    now: Nanos,
    bound: &Bound,
) {
    let step = limiter.step(bytes, now);
    if step.verdict == Verdict::Drop {
        assert_eq!(step.admitted, step.refused, "{name}");
    }
    for other in [0, 1, u32::MAX] {
        assert_eq!(limiter.step(other, now).refused, step.refused, "{name}: what was refused shows");
    }
    if bound.adds_up {
        let later = now.after(Nanos(1_000_000));
        for other in [64, 1_500] {
            let (after, without) = (step.refused.step(other, later), limiter.step(other, later));
            // A packet that Nimble refuses ends the idle time that would have drained the next one as well.
            assert!(after.verdict >= without.verdict, "{name}: gained by being refused");
            assert_eq!(after.refused, without.refused, "{name}: what was refused shows later");
        }
    }
}

fn packets(longest_gap: u64, latest: u64) -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = (0..40u32, 0..=longest_gap).prop_map(|(shift, gap)| gap >> shift);
    let late = prop_oneof![3 => Just(0), 1 => 0..=latest];
    let size = prop_oneof![8 => 64..=1_500u32, 1 => 0..10_000u32, 1 => any::<u32>()];
    prop::collection::vec((gap, late, size), 1..60).prop_map(|packets| {
        let mut now = 0u64;
        let place = |(gap, late, bytes): (u64, u64, u32)| {
            now += gap;
            (now.saturating_sub(late), bytes)
        };
        packets.into_iter().map(place).collect()
    })
}

fn rates() -> impl Strategy<Value = BitsPerSec> {
    (0..28u32, 1_000..2_000u64).prop_map(|(doublings, rate)| BitsPerSec(rate << doublings))
}

proptest! {
    #[test]
    fn no_interval_lets_through_more_than_the_bound(
        rate in rates(),
        burst in prop_oneof![1..100_000u64, 1..60_000_000u64],
        packets in packets(1 << 32, 0),
    ) {
        table(rate, Bytes(burst), &Packets(packets));
    }

    #[test]
    fn nor_do_packets_that_come_late(
        rate in rates(),
        burst in 1..100_000u64,
        packets in packets(1 << 26, 1 << 24),
    ) {
        table(rate, Bytes(burst), &Packets(packets));
    }
}

/// Packets after each of which the limiter is asked how long the next one would have to wait.
#[derive(Debug)]
struct Waits(Vec<(u64, u32)>);

impl Check for Waits {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, bound: &Bound) {
        let mut limiter = limiter;
        let dropped = |mut limiter: L, bytes, at| limiter.offer(bytes, Nanos(at)) == Verdict::Drop;
        for &(now, bytes) in &self.0 {
            for asked in [bytes, 1_500] {
                let wait = limiter.retry_after(asked, Nanos(now));
                if !dropped(limiter, asked, now) {
                    assert_eq!(wait, Some(Nanos(0)), "{name}");
                } else if let Some(Nanos(wait)) = wait {
                    assert!(!dropped(limiter, asked, now + wait), "{name}: {asked} B after {wait} ns");
                    for early in [1, wait.div_ceil(3), wait.div_ceil(2), wait] {
                        assert!(
                            dropped(limiter, asked, now + wait - early),
                            "{name}: {asked} B, {early} ns early"
                        );
                    }
                } else {
                    let horizon = limiter.horizon(Nanos(now));
                    assert!(dropped(limiter, asked, horizon.0), "{name}: {asked} B pass at the horizon");
                    let never = horizon == Nanos::MAX;
                    assert!(!never || u64::from(asked) > bound.fits.0, "{name}: {asked} B fit");
                }
            }
            limiter.offer(bytes, Nanos(now));
        }
    }
}

proptest! {
    #[test]
    fn every_wait_is_exact_to_the_nanosecond(
        rate in rates(),
        burst in prop_oneof![1..5_000u64, 1..60_000_000u64],
        packets in packets(1 << 32, 1 << 24),
    ) {
        table(rate, Bytes(burst), &Waits(packets));
    }
}

/// Whatever one limiter of the table is offered at the ends of time and of sizes.
struct Extremes;

impl Check for Extremes {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, _: &Bound) {
        for times in [[0, u64::MAX], [u64::MAX, 0], [1 << 63, 1], [u64::MAX - 1, u64::MAX], [15, 16]] {
            let mut limiter = limiter;
            for now in times.map(Nanos) {
                for bytes in [0, 1, 1_500, u32::MAX, u32::MAX, 0] {
                    let step = limiter.step(bytes, now);
                    let verdict = limiter.offer(bytes, now);
                    assert_eq!((verdict, limiter), (step.verdict, step.settled()), "{name}");
                }
            }
        }
    }
}

#[test]
fn sizes_and_times_may_be_anything() {
    for (rate, burst) in
        [(1_000, 1), (1_000, 60_000_000), (400_000_000_000, 1), (400_000_000_000, 60_000_000)]
    {
        table(BitsPerSec(rate), Bytes(burst), &Extremes);
    }
}

/// How packets follow each other.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// In equal distances of time for equal amounts of data.
    Cbr,
    /// With exponential distances.
    Poisson,
    /// In trains of eight, back to back at a hundred times the rate; the pauses at 1 kbit/s then are shorter than the wrap.
    Bursty,
}

const ARRIVALS: [Arrivals; 3] = [Arrivals::Cbr, Arrivals::Poisson, Arrivals::Bursty];

/// Packets of 64 to 1500 bytes that amount to `rate` in the long run.
fn source(arrivals: Arrivals, rate: f64, seed: u64) -> impl Iterator<Item = (Nanos, u32)> {
    let mut random = Xoshiro256StarStar::seed_from_u64(seed);
    let (mut now, mut owed, mut index) = (0.0f64, 0.0, 0u32);
    std::iter::repeat_with(move || {
        let bytes = 64 + random.next_u32() % (1_500 - 64 + 1);
        let share = f64::from(bytes) * 8e9 / rate;
        index += 1;
        let gap = match arrivals {
            Arrivals::Cbr => share,
            Arrivals::Poisson => {
                let uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                -(1.0 - uniform).ln() * 782.0 * 8e9 / rate
            }
            Arrivals::Bursty if index % 8 == 0 => share + std::mem::take(&mut owed),
            Arrivals::Bursty => {
                owed += share * 0.99;
                share * 0.01
            }
        };
        now += gap;
        (Nanos(now as u64), bytes)
    })
}

const RATES: [u64; 7] =
    [1_000, 56_000, 1_000_000, 999_999_937, 10_000_000_000, 100_000_000_000, 400_000_000_000];

/// A source that offers more than the rate.
struct Overload {
    rate: BitsPerSec,
    arrivals: Arrivals,
    times: f64,
}

impl Check for Overload {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, bound: &Bound) {
        const PACKETS: usize = 100_000;
        let mut limiter = limiter;
        let (mut passed, mut end) = (0u128, Nanos(0));
        for (now, bytes) in source(self.arrivals, self.rate.0 as f64 * self.times, 1).take(PACKETS) {
            if limiter.offer(bytes, now) != Verdict::Drop {
                passed += Nanobits::from(bytes).0;
            }
            end = now;
        }
        let exact = Nanobits::earned(self.rate, end).0;
        let error = exact * bound.error_ppm / MILLION;
        // What the bucket held at the beginning; and what it lacked at the end, a packet and a quantum.
        let edge = Nanobits::from(1_500u32 + 64 + 800).0;
        let most = exact + error + bound.burst + edge;
        let least = exact - error - bound.lost_per_packet * PACKETS as u128 - edge;
        assert!(
            (least..=most).contains(&passed),
            "{name}, {} {:?} x{}: {:.6} of the rate",
            self.rate,
            self.arrivals,
            self.times,
            passed as f64 / exact as f64
        );
    }
}

#[test]
fn under_overload_the_rate_is_what_passes() {
    for rate in RATES.map(BitsPerSec) {
        for arrivals in ARRIVALS {
            for times in [1.5, 4.0] {
                // Four trains, so that the pauses between them empty no bucket.
                table(rate, Bytes(4 * 8 * 1_500), &Overload { rate, arrivals, times });
            }
        }
    }
}

/// A source that a token bucket has let through.
struct Conforming {
    rate: BitsPerSec,
    arrivals: Arrivals,
}

impl Check for Conforming {
    fn check<L: Limiter + Copy + PartialEq + std::fmt::Debug>(&self, name: &str, limiter: L, bound: &Bound) {
        let rate = BitsPerSec((u128::from(self.rate.0) * (MILLION - bound.below_ppm) / MILLION) as u64);
        let mut shaper = TokenBucket::new(rate, bound.fits);
        let mut limiter = limiter;
        let mut passed = 0;
        for (now, bytes) in source(self.arrivals, self.rate.0 as f64 * 2.0, 2).take(100_000) {
            if shaper.offer(bytes, now) != Verdict::Drop {
                passed += 1;
                let verdict = limiter.offer(bytes, now);
                assert_ne!(
                    verdict,
                    Verdict::Drop,
                    "{name}, {} {:?}: packet {passed}",
                    self.rate,
                    self.arrivals
                );
            }
        }
        assert!(passed > 40_000, "{name}: {passed} packets are no test");
    }
}

#[test]
fn a_source_below_the_rate_is_never_dropped() {
    for rate in RATES.map(BitsPerSec) {
        for arrivals in ARRIVALS {
            for burst in [8_000, 96_000] {
                table(rate, Bytes(burst), &Conforming { rate, arrivals });
            }
        }
    }
}
