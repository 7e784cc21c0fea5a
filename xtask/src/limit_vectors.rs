//! Test vectors of the limiters: packets, and what becomes of them.
//!
//! A file is a list of cases: a limiter as its words, and packets with the verdict and the words that change after each.

use std::fmt::Write as _;

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_limit::credit::Credit;
use trueplane_limit::format::{LATE_TICKS, MAX_BURST, RateWord, TICK_NANOS, TICK_SHIFT};
use trueplane_limit::policy::Nimble;
use trueplane_limit::{Limiter, Verdict, credit};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

const RATES: [u64; 13] = [
    1_000,
    10_000,
    64_000,
    1_000_000,
    10_000_000,
    100_000_000,
    999_999_937,
    1_000_000_000,
    10_000_000_000,
    25_000_000_000,
    40_000_000_000,
    100_000_000_000,
    400_000_000_000,
];

/// The clock of a limiter starts again after so many nanoseconds.
const WRAP_NANOS: u64 = 1 << (32 + TICK_SHIFT);
const LATE_NANOS: u64 = LATE_TICKS as u64 * TICK_NANOS;
const SECOND: u64 = 1_000_000_000;

/// A packet before its verdict.
#[derive(Clone, Copy)]
struct Packet {
    now: u64,
    bytes: u32,
    core: usize,
}

/// `vectors/limit/nimble.json`
pub(crate) fn nimble_vectors() -> String {
    let mut cases = Vec::new();
    let mut case = |name: &str, limiter: Nimble, packets: &[(u64, u32)]| {
        let mut limiter = limiter;
        let mut text = head(name, &limiter);
        text.push_str("\"packets\": [\n");
        let lines = packets.iter().map(|&(now, bytes)| {
            let verdict = limiter.offer(bytes, Nanos(now));
            format!("  {}}}", line(now, bytes, verdict, &limiter))
        });
        text.push_str(&lines.collect::<Vec<_>>().join(",\n"));
        text.push_str("\n]}");
        cases.push(text);
    };
    let random = &mut Xoshiro256StarStar::seed_from_u64(1);
    for rate in RATES {
        let limiter = nimble(rate, 12_000, Some(6_000));
        case(&format!("overload at {rate} bit/s"), limiter, &paced(random, 0, rate, 1.5, 60));
        case(&format!("half load at {rate} bit/s"), limiter, &paced(random, 7 * SECOND, rate, 0.5, 20));
        let start = WRAP_NANOS - 20 * 800 * 8 * SECOND / rate.max(4_000);
        let across = Nimble { last_ticks: (start >> TICK_SHIFT) as u32, ..limiter };
        case(&format!("wrap of the clock at {rate} bit/s"), across, &paced(random, start, rate, 2.0, 40));
        let flood: Vec<_> = (0..30).map(|packet| (SECOND + packet, 64)).collect();
        case(&format!("one packet a nanosecond at {rate} bit/s"), nimble(rate, 1_000, None), &flood);
    }
    edges(&mut case);
    for index in 0..40 {
        let rate = 1_000u64 << (random.next_u64() % 29);
        let mark = (index % 2 == 0).then(|| random.next_u64() % 50_000);
        let limiter = nimble(rate, 1 + random.next_u64() % 60_000, mark);
        case(&format!("random packets {index}"), limiter, &any_packets(random, 40));
    }
    for index in 0..30 {
        let limiter = Nimble {
            last_ticks: random.next_u32(),
            occupancy_units: random.next_u32(),
            rate: RateWord(random.next_u32()),
            burst_units: random.next_u32(),
        };
        case(&format!("random words {index}"), limiter, &any_packets(random, 20));
    }
    list(&cases)
}

/// What has gone wrong, or might, in one implementation or another.
fn edges(case: &mut impl FnMut(&str, Nimble, &[(u64, u32)])) {
    let example = nimble(SECOND, 3_000, Some(2_048));
    let packets = [0, 8_192, 9_216, 13_312, 1_000_000].map(|now| (now, 1_500));
    case("the worked example", example, &packets);

    let now = 100 * SECOND;
    let used = Nimble { last_ticks: (now >> TICK_SHIFT) as u32, occupancy_units: 2_000 * 64, ..example };
    case(
        "late by a nanosecond, and by more",
        used,
        &[1, 15, 16, 17, 1_000, 1_000_000].map(|by| (now - by, 100)),
    );
    case("late by as much as counts as late", used, &[(now - LATE_NANOS, 100), (now, 1_000)]);
    case("later than counts as late", used, &[(now - LATE_NANOS - TICK_NANOS, 100), (now, 1_000)]);
    let at_zero = Nimble { last_ticks: 5, ..used };
    case(
        "late across the wrap",
        at_zero,
        &[(WRAP_NANOS - 160, 500), (WRAP_NANOS, 500), (WRAP_NANOS + 96, 500)],
    );

    for (rate, gap) in [
        (1_000, SECOND),
        (1_000, 30 * SECOND),
        (1_000, 68 * SECOND),
        (1_000, WRAP_NANOS - (1 << 27)),
        (1_000, WRAP_NANOS - LATE_NANOS - TICK_NANOS),
        (1_000, WRAP_NANOS),
        (1_000, WRAP_NANOS + SECOND),
        (400_000_000_000, WRAP_NANOS - LATE_NANOS - TICK_NANOS),
        (400_000_000_000, 3_600 * SECOND),
        (400_000_000_000, 24 * 365 * 3_600 * SECOND),
    ] {
        let name = format!("idle for {gap} ns at {rate} bit/s");
        let packets = [(50, 9_000), (50 + gap, 9_000), (51 + 2 * gap, 1_500), (51 + 2 * gap, 1_500)];
        case(&name, nimble(rate, 10_000, Some(4_000)), &packets);
    }

    let large = [1, 64, 65_535, 1 << 20, 67_108_863, 67_108_864, 1 << 31, u32::MAX, 0];
    let at_once = large.map(|bytes| (SECOND, bytes));
    case("oversize packets", nimble(1_000_000, 3_000, None), &at_once);
    case("oversize packets and the largest burst", nimble(1_000_000, MAX_BURST.0, None), &at_once);
    let spaced: Vec<_> = (1..).zip(large).map(|(index, bytes)| (index * SECOND, bytes)).collect();
    case("oversize packets that idle time drains", nimble(400_000_000_000, 1_500, None), &spaced);

    for mark in [0, 1, 100, 2_999, 3_000, 1 << 20, MAX_BURST.0] {
        let packets: Vec<_> = (0..12).map(|packet| (packet * 100, 1 + 37 * packet as u32)).collect();
        case(&format!("marks above {mark} bytes"), nimble(10_000_000, 3_000, Some(mark)), &packets);
    }

    let lowered = Nimble { occupancy_units: 9_000 * 64, ..example };
    let packets = [(0, 0), (10_000, 64), (48_384, 0), (48_640, 0), (48_640, 64), (60_000, 1_500)];
    case("a burst that was lowered below the occupancy", lowered, &packets);
}

/// `vectors/limit/credit.json`
pub(crate) fn credit_vectors() -> String {
    let mut cases = Vec::new();
    let random = &mut Xoshiro256StarStar::seed_from_u64(2);
    let mut case = |name: &str, limiter: Nimble, cores: usize, draw: u32, packets: &[Packet]| {
        let (mut shared, mut credits) = (limiter, vec![Credit::default(); cores]);
        let mut text = head(name, &limiter);
        writeln!(text, "\"draw_bytes\": {draw}, \"cores\": {cores}, \"packets\": [")
            .expect("a string takes it");
        let lines = packets.iter().map(|&Packet { now, bytes, core }| {
            let held = &mut credits[core];
            let verdict = credit::offer(&mut shared, held, draw, bytes, || Nanos(now));
            let line = line(now, bytes, verdict, &shared);
            format!("  {line}, \"core\": {core}, \"credit_bytes\": {}}}", held.bytes)
        });
        text.push_str(&lines.collect::<Vec<_>>().join(",\n"));
        text.push_str("\n]}");
        cases.push(text);
    };
    let on_cores = |random: &mut Xoshiro256StarStar, packets: Vec<(u64, u32)>, cores: usize| -> Vec<Packet> {
        let place = |(now, bytes): (u64, u32)| Packet {
            now,
            bytes: bytes.clamp(1, 1 << 24),
            core: random.next_u32() as usize % cores,
        };
        packets.into_iter().map(place).collect()
    };
    for rate in RATES {
        for (cores, draw) in [(1, 3_000), (2, 0), (2, 6_000), (8, 1_500)] {
            let packets = paced(random, SECOND, rate, 6.0, 40);
            let packets = on_cores(random, packets, cores);
            let name = format!("{cores} cores draw {draw} bytes at {rate} bit/s");
            case(&name, nimble(rate, 12_000, Some(9_000)), cores, draw, &packets);
        }
    }
    bound_is_attained(&mut case);
    for index in 0..40 {
        let rate = 1_000u64 << (random.next_u64() % 29);
        let (cores, draw) = (1 + random.next_u32() as usize % 8, random.next_u32() % 20_000);
        let mark = (index % 2 == 0).then(|| random.next_u64() % 50_000);
        let limiter = nimble(rate, 1 + random.next_u64() % 60_000, mark);
        let packets = any_packets(random, 40);
        let packets = on_cores(random, packets, cores);
        case(&format!("random packets {index}"), limiter, cores, draw, &packets);
    }
    list(&cases)
}

/// The case that lets through as much too much as there can be.
fn bound_is_attained(case: &mut impl FnMut(&str, Nimble, usize, u32, &[Packet])) {
    let cores = 4;
    let draw_on_all = (0..cores).map(|core| Packet { now: core as u64 * SECOND, bytes: 1_500, core });
    let then_at_once =
        (0..cores).flat_map(|core| [Packet { now: 20 * SECOND, bytes: 1_500, core }; 15].into_iter());
    let packets: Vec<_> = draw_on_all.chain(then_at_once).collect();
    case("as much too much as there can be", nimble(SECOND, 9_000, None), cores, 3_000, &packets);
}

fn nimble(rate: u64, burst: u64, mark: Option<u64>) -> Nimble {
    Nimble::new(BitsPerSec(rate), Bytes(burst), mark.map(Bytes)).expect("within the format")
}

/// Packets of 64 to 1500 bytes from `start` on, with random gaps, that amount to `load` times the rate.
fn paced(
    random: &mut Xoshiro256StarStar,
    start: u64,
    rate: u64,
    load: f64,
    packets: usize,
) -> Vec<(u64, u32)> {
    let mut now = start as f64;
    let next = || {
        let bytes = 64 + random.next_u32() % (1_500 - 64 + 1);
        // From nothing to twice the mean.
        let share = f64::from(random.next_u32() >> 8) / f64::from(1 << 23);
        now += share * f64::from(bytes) * 8e9 / (rate as f64 * load);
        (now as u64, bytes)
    };
    std::iter::repeat_with(next).take(packets).collect()
}

/// Packets of any size after gaps of any magnitude, some of them late.
fn any_packets(random: &mut Xoshiro256StarStar, packets: usize) -> Vec<(u64, u32)> {
    let mut now = random.next_u64() >> 24;
    let next = || {
        let late = if random.next_u32().is_multiple_of(8) { random.next_u64() % LATE_NANOS } else { 0 };
        now += (random.next_u64() % WRAP_NANOS) >> (random.next_u32() % 37);
        let bytes = match random.next_u32() % 10 {
            0 => random.next_u32() >> (random.next_u32() % 32),
            _ => 64 + random.next_u32() % 1_437,
        };
        (now - late.min(now), bytes)
    };
    std::iter::repeat_with(next).take(packets).collect()
}

/// The beginning of a case.
fn head(name: &str, limiter: &Nimble) -> String {
    let Nimble { last_ticks, occupancy_units, rate: RateWord(rate_word), burst_units } = limiter;
    format!(
        "{{\"name\": \"{name}\", \"limiter\": {{\"last_ticks\": {last_ticks}, \"occupancy_units\": {occupancy_units}, \
         \"rate_word\": {rate_word}, \"burst_units\": {burst_units}}}, "
    )
}

/// A packet and what became of it; its object is left open.
fn line(now: u64, bytes: u32, verdict: Verdict, after: &Nimble) -> String {
    let verdict = match verdict {
        Verdict::Pass => "pass",
        Verdict::Mark => "mark",
        Verdict::Drop => "drop",
    };
    let Nimble { last_ticks, occupancy_units, .. } = after;
    format!(
        "{{\"now_ns\": {now}, \"bytes\": {bytes}, \"verdict\": \"{verdict}\", \"last_ticks\": {last_ticks}, \
         \"occupancy_units\": {occupancy_units}"
    )
}

fn list(cases: &[String]) -> String {
    format!("[\n{}\n]\n", cases.join(",\n"))
}
