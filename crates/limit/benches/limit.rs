//! How long a limiter takes for a packet, from one limiter to a million, side by side.
//!
//! Packets of 64 to 1500 bytes meet limiters in a random order, at twice what they let through. What passed is confirmed by
//! serving one limiter after another, and for Nimble by a leaky bucket in 128 bits.

use std::hint::black_box;
use std::time::Instant;

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_limit::drain::{DrainTable, Tabled};
use trueplane_limit::policy::{Gcra, Hierarchy, Nimble, SingleRateMeter, TokenBucket, TwoRateMeter};
use trueplane_limit::{Limiter, Verdict};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

const PACKETS: usize = 1 << 23;
const ROUNDS: usize = 5;
/// Between two packets, of whatever limiters: 100 million packets a second.
const GAP_NANOS: u64 = 10;
const MEAN_BYTES: u64 = 782;
const BURST: Bytes = Bytes(6_000);

/// A packet: its limiter and its bytes.
type Packet = (u32, u32);

fn main() {
    for limiters in [1usize, 1 << 16, 1 << 20] {
        let packets = packets(limiters);
        let rate = BitsPerSec(MEAN_BYTES * 8 * 1_000_000_000 / (2 * GAP_NANOS * limiters as u64));
        println!("\n{limiters} limiters of {rate}");
        println!("{:20} {:>6} {:>10} {:>10}", "limiter", "bytes", "ns/packet", "to nimble");
        let nimble = Nimble::new(rate, BURST, Some(Bytes(3_000))).expect("within the format");
        let (base, sum) = measure("nimble", nimble, limiters, &packets, None);
        assert_eq!(sum, in_128_bits(&nimble, limiters, &packets), "not as in 128 bits");
        let base = Some(base);
        for (name, ppm) in [("nimble, table 1%", 10_000), ("nimble, table 12%", 120_000)] {
            let table = DrainTable::new(ppm).expect("between 0 and 1");
            measure(name, Tabled { nimble, table: &table }, limiters, &packets, base);
        }
        let bucket = TokenBucket::new(rate, BURST);
        measure("token bucket", bucket, limiters, &packets, base);
        measure("gcra", Gcra::new(rate, BURST), limiters, &packets, base);
        let srtcm = SingleRateMeter::new(rate, BURST, BURST).expect("above zero");
        measure("srtcm", srtcm, limiters, &packets, base);
        let trtcm = TwoRateMeter::new((rate, BURST), (BitsPerSec(rate.0 / 2), BURST)).expect("in order");
        measure("trtcm", trtcm, limiters, &packets, base);
        let pair =
            Hierarchy { class: nimble, tenant: Nimble { burst_units: nimble.burst_units / 2, ..nimble } };
        measure("nimble in nimble", pair, limiters, &packets, base);
    }
}

fn packets(limiters: usize) -> Vec<Packet> {
    let mut random = Xoshiro256StarStar::seed_from_u64(1);
    let next = || (random.next_u32() % limiters as u32, 64 + random.next_u32() % (1_500 - 64 + 1));
    std::iter::repeat_with(next).take(PACKETS).collect()
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}

/// When the packet with this index arrives.
fn arrival(index: usize) -> Nanos {
    Nanos(index as u64 * GAP_NANOS)
}

/// Prints the least time of some rounds; returns it, and the bytes that passed.
fn measure<L: Limiter + Copy>(
    name: &str,
    limiter: L,
    limiters: usize,
    packets: &[Packet],
    base: Option<f64>,
) -> (f64, u64) {
    let expected = one_after_another(limiter, limiters, packets);
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut table = vec![limiter; limiters];
        let (mut passed, start) = (0, now());
        for (index, &(which, bytes)) in packets.iter().enumerate() {
            let verdict = table[which as usize].offer(bytes, arrival(index));
            passed += if verdict == Verdict::Drop { 0 } else { u64::from(bytes) };
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / packets.len() as f64);
        assert_eq!(black_box(passed), expected, "{name}: what passed depends on the order");
        black_box(&table);
    }
    let ratio = least / base.unwrap_or(least);
    println!("{name:20} {:6} {least:10.2} {ratio:10.2}", size_of::<L>());
    (least, expected)
}

/// The packets of each limiter with their times, one limiter after another.
fn by_limiter(limiters: usize, packets: &[Packet]) -> Vec<(usize, Packet)> {
    let mut sorted: Vec<(usize, Packet)> = packets.iter().copied().enumerate().collect();
    if limiters > 1 {
        sorted.sort_by_key(|&(index, (which, _))| (which, index));
    }
    sorted
}

fn one_after_another<L: Limiter + Copy>(fresh: L, limiters: usize, packets: &[Packet]) -> u64 {
    let (mut limiter, mut current, mut passed) = (fresh, 0, 0);
    for (index, (which, bytes)) in by_limiter(limiters, packets) {
        if which != current {
            (limiter, current) = (fresh, which);
        }
        if limiter.offer(bytes, arrival(index)) != Verdict::Drop {
            passed += u64::from(bytes);
        }
    }
    passed
}

/// What a leaky bucket with the same words lets through, in wide integers and with a clock that does not wrap.
fn in_128_bits(nimble: &Nimble, limiters: usize, packets: &[Packet]) -> u64 {
    let (mut occupancy, mut last, mut current, mut passed) = (0i128, 0, 0, 0);
    for (index, (which, bytes)) in by_limiter(limiters, packets) {
        if which != current {
            (occupancy, last, current) = (0, 0, which);
        }
        let quanta = (arrival(index).0 / 16) >> nimble.rate.quantum();
        let drained = i128::from(quanta - last) * i128::from(nimble.rate.mantissa());
        last = quanta;
        let after = (occupancy + i128::from(bytes) * 64 - drained).max(0);
        let fits = after <= i128::from(nimble.burst_units);
        passed += if fits { u64::from(bytes) } else { 0 };
        occupancy = if fits { after } else { (occupancy - drained).max(0) };
    }
    passed
}
