//! How long the eBPF limiter takes for a packet, measured by the kernel's test bench (`BPF_PROG_TEST_RUN`).
//!
//! Frames of 64 bytes meet limiters in an order that caches cannot foresee. *Empty* is a program that does nothing: what the
//! test bench itself takes. The *floor* is what no limiter can do without: that, parsing, and the clock. Variants take turns, and the counters must say that every packet was counted
//! once. Another load on the machine shows in the numbers: it is printed beside them.

use std::{fs, thread};

use trueplane_limit::classes::Classes;
use trueplane_limit::live::{Bench, Clock, Subject, Tuning};

const ROUNDS: usize = 5;
const PACKETS: u32 = 1 << 20;

fn main() {
    println!("{}", machine());
    for (limiters, each) in [(1u32, None), (1 << 16, Some(24)), (1 << 20, Some(28))] {
        println!("\n{limiters} limiters, median (least) ns per packet of {ROUNDS} runs of {PACKETS}");
        println!(
            "{:18} {:>9} {:>9} {:>9} {:>11} {:>6}",
            "", "empty", "floor", "one core", "both cores", "load"
        );
        let variants = variants();
        let benches = variants.iter().map(|(_, tuning)| bench(each, *tuning)).collect::<Result<Vec<_>, _>>();
        let benches = match benches {
            Ok(benches) => benches,
            Err(error) => {
                println!("skipped: {error}");
                return;
            }
        };
        let mut times = vec![[const { Vec::new() }; 4]; variants.len()];
        let mut offered = vec![0u64; variants.len()];
        for _ in 0..ROUNDS {
            for (variant, bench) in benches.iter().enumerate() {
                times[variant][0].push(run(bench, Subject::Floor, NOT_IP));
                times[variant][1].push(run(bench, Subject::Floor, WHOLE));
                times[variant][2].push(run(bench, Subject::Walk, WHOLE));
                let both: Vec<u128> = thread::scope(|scope| {
                    let cores: Vec<_> =
                        (0..2).map(|_| scope.spawn(|| run(bench, Subject::Walk, WHOLE))).collect();
                    cores.into_iter().map(|core| core.join().expect("the run ended")).collect()
                });
                times[variant][3].extend(both);
                offered[variant] += 3 * u64::from(PACKETS);
            }
        }
        for (variant, (name, _)) in variants.iter().enumerate() {
            let counted = benches[variant].counter(0).expect("the counter is there").arrived_packets();
            assert_eq!(counted, offered[variant], "{name}: every packet is counted once");
            let [empty, floor, one, both] = times[variant].each_mut().map(|times| summary(times));
            println!("{name:18} {empty:>9} {floor:>9} {one:>9} {both:>11} {:>6}", load());
        }
    }
}

fn variants() -> Vec<(&'static str, Tuning)> {
    let amortised = Clock::Amortised { every: 16 };
    vec![
        ("exact time", Tuning { clock: Clock::Exact, draw_bytes: 0 }),
        ("clock every 16th", Tuning { clock: amortised, draw_bytes: 0 }),
        ("credit of 16 KiB", Tuning { clock: Clock::Exact, draw_bytes: 16 << 10 }),
        ("both", Tuning { clock: amortised, draw_bytes: 16 << 10 }),
    ]
}

fn bench(each: Option<u8>, tuning: Tuning) -> Result<Bench, trueplane_linux::Error> {
    let each = each.map_or(String::new(), |each| format!("each = {each}\n"));
    let classes =
        format!("[[class]]\nname = 'all'\nrate = '1Gbps'\nburst = '64KiB'\nsource = '10.0.0.0/8'\n{each}");
    let classes = Classes::parse("bench", &classes).expect("the bench's classes are well-formed");
    Bench::new(&classes, tuning)
}

/// A frame that ends before its addresses, with which the program of the floor does nothing.
const NOT_IP: usize = 28;
const WHOLE: usize = 64;

fn run(bench: &Bench, subject: Subject, length: usize) -> u128 {
    let mut frame = [0; WHOLE];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[26] = 10;
    let (_, mean) = bench.run(subject, &frame[..length], PACKETS).expect("the program runs");
    mean.as_nanos()
}

fn summary(times: &mut [u128]) -> String {
    times.sort_unstable();
    format!("{} ({})", times[times.len() / 2], times[0])
}

/// The kernel, the processor and its number.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    format!(
        "Linux {}, {cores} × {}",
        read("/proc/sys/kernel/osrelease").trim(),
        model.trim_start_matches([' ', '\t', ':'])
    )
}

/// Runnable tasks over the last minute.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or("?").to_owned()
}
