//! A scheduler and a worker on two cores under flood: the goodput that each queue leaves, figure 3.20 of Atre 2025.
//!
//! `cargo bench -p trueplane-surge --bench pipeline -- --queues heap,ffs --attack-rate 10Mbps..1Gbps:5 --duration 1s`
//!
//! Packets come by the clock into a receive ring, as from a network card. One thread schedules them, least work per bit first, out of a
//! bounded buffer; another works on one after the other. `heap` finds only the best packet, and drops newcomers when it is full;
//! `two-ended` also finds the worst, by comparing; `ffs` does in constant time, by the first set bit; `fcfs` is first come, first served.
//! The queues take turns, so that a machine that is busy for a while is so for all of them.
//!
//! A job passes the time that its packet says. With `--capture FILE --rules FILE` the worker matches the payloads of a capture against
//! rules, and the attacker sends the packet with the most work per bit that a search finds for them.
//!
//! Checked: every packet that came was served, dropped, lost at the ring or is left, and as many came for every queue.

mod engine;
mod rivals;
mod traffic;

use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use trueplane_pqueue::BadShape;
#[cfg(feature = "pcre2")]
use trueplane_surge::matching::engine::Pcre2;
use trueplane_surge::matching::engine::{Backtracking, Engine, Linear, STEP_LIMIT};
use trueplane_surge::matching::{Costs, Matcher, Rules, Search, search};
use trueplane_surge::policy::{Fcfs, Wsjf};
use trueplane_surge::rate::{Rate, Sweep};
use trueplane_surge::segments::{Segments, Wanted};
use trueplane_surge::tally::Class;
use trueplane_surge::traffic::{Load, Offered};
use trueplane_surge::workload::iid::{Distribution, Iid};
use trueplane_surge::workload::size::Size;
use trueplane_surge::{Bounded, Capacity, Overflow, Packet};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::{BitsPerSec, Choices, List, Nanos, Within, choices, parameters, program};

use engine::{Clock, Run, Settings, Work, cores, run};
use rivals::{OneEnded, TwoEnded};
use traffic::{Source, Task, Traffic};

/// So many different packets are drawn; they are sent round and round.
const DRAWN: u64 = 1 << 13;

/// At most so many packets of a capture are sent.
const MOST_PACKETS: u64 = 1 << 20;

/// A real packet is matched so often to know what it takes; the quickest counts.
const TRIES: u32 = 3;

/// Standard deviation of sizes and jobs of users: a tenth of their means.
const SPREAD: u64 = 10;

/// A job takes at most so long: a run cannot end in the middle of one.
const LONGEST_JOB: u64 = 1_000_000_000;

/// A run lasts at most so long, without its warm-up, in nanoseconds.
const LONGEST: u64 = 60_000_000_000;

/// From so long on a thread did not stand still by itself.
const STALL: Nanos = Nanos(1_000_000);

type Job = Within<Nanos, 1, LONGEST_JOB>;

/// What is known of a queue without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Properties {
    /// Packet that goes when the buffer is full: the worst, if the queue can find it.
    overflow: Overflow,
}

choices! {
    /// What orders the packets that wait.
    enum Queue: Properties {
        /// WSJF over a bounded binary heap; it drops the newcomer.
        Heap = "heap" { overflow: Overflow::DropNewcomer },
        /// WSJF over a min-max heap; it drops the worst.
        TwoEnded = "two-ended" { overflow: Overflow::DropWorst },
        /// WSJF over the find-first-set queue; it drops the worst.
        Ffs = "ffs" { overflow: Overflow::DropWorst },
        /// First come, first served; it drops the newcomer.
        Fcfs = "fcfs" { overflow: Overflow::DropNewcomer },
    }
}

choices! {
    /// What tries regular expressions.
    enum Tries {
        /// By backtracking, for which the attack is searched.
        Backtracking = "backtracking",
        /// In linear time.
        Linear = "linear",
        /// PCRE2, in builds with that feature.
        Pcre2 = "pcre2",
    }
}

parameters! {
    /// What is measured.
    #[derive(Clone, Debug)]
    struct Options {
        /// Queues to compare.
        queues: Choices<Queue> => { default: "all" },
        /// Mean size of the packets of users.
        packet: Size => { default: "1250B" },
        /// Mean job of the packets of users.
        job: Job => { default: "1us" },
        /// Largest job, which all packets of the attacker have.
        largest_job: Job => { default: "10us" },
        /// Rate at which users send.
        innocent: Rate => { default: "90%" },
        /// Rates at which the attacker sends.
        attack_rate: List<Sweep> => { default: "1Mbps..5Gbps" },
        /// Size of the attacker's packets.
        attack_packet: Size => { default: "64B" },
        /// Packets that may wait.
        buffer: Within<usize, 1, { 1 << 22 }> => { default: "1024" },
        /// Descriptors of the receive ring.
        ring: Within<usize, 1, { 1 << 20 }> => { default: "1024" },
        /// Packets that are chosen before the worker is done with the last.
        depth: Within<usize, 1, 64> => { default: "1" },
        /// Time for which each queue is measured at each rate.
        duration: Within<Nanos, 1, LONGEST> => { default: "300ms" },
        /// Time before that, until the buffer is as full as it will be; without it a third of the duration.
        warmup: Option<Within<Nanos, 0, LONGEST>> => {},
        /// Number from which random draws begin.
        seed: u64 => { default: "1" },
        /// Capture whose payloads are matched.
        capture: PathBuf => {},
        /// File of the rules.
        rules: PathBuf => {},
        /// Engine that tries regular expressions.
        engine: Tries => { default: "backtracking" },
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What is worked on.
struct Offer {
    innocent: Arc<[Packet]>,
    attack: Packet,
}

fn main() -> ExitCode {
    program::run(measured)
}

fn measured(options: &Options) -> Outcome<()> {
    let is_given = |path: &PathBuf| !path.as_os_str().is_empty();
    match (is_given(&options.capture), is_given(&options.rules)) {
        (false, false) => emulated(options),
        (true, true) => match options.engine {
            Tries::Backtracking => matched::<Backtracking>(options),
            Tries::Linear => matched::<Linear>(options),
            #[cfg(feature = "pcre2")]
            Tries::Pcre2 => matched::<Pcre2>(options),
            #[cfg(not(feature = "pcre2"))]
            Tries::Pcre2 => Err("built without PCRE2: add --features pcre2".into()),
        },
        _ => Err("expected --capture with --rules".into()),
    }
}

/// Jobs that pass the time.
fn emulated(options: &Options) -> Outcome<()> {
    if options.job > options.largest_job {
        return Err(format!("expected a --largest-job of {} or more", *options.job).into());
    }
    let drawn = |mean: u64| Distribution::Normal(mean, (mean / SPREAD).max(1));
    let (size, job) = (drawn(options.packet.bits().into()), drawn(options.job.0));
    let packet = |offered: Offered<()>| {
        let work = match offered.load {
            Load::Given { job, .. } => job.min(*options.largest_job),
            Load::Real(()) => *options.job,
        };
        Packet { flow: offered.flow, bits: offered.bits, work }
    };
    let iid = Iid { size, job, packets: DRAWN, flows: 1 };
    let attack = Packet { flow: 1, bits: options.attack_packet.bits(), work: *options.largest_job };
    let innocent = iid.draw(options.seed).into_iter().map(packet).collect();
    compared(options, &Offer { innocent, attack }, || Work::Spin::<fn(Task)>)
}

/// Payloads that are matched against rules.
fn matched<E: Engine>(options: &Options) -> Outcome<()> {
    let rules = Rules::parse(&options.rules.display().to_string(), &std::fs::read(&options.rules)?)?;
    let wanted = Wanted { packets: MOST_PACKETS, ..Wanted::default() };
    let trace = Trace::open(&options.capture, &TraceOptions::default())?;
    let segments = Segments::read(&trace, &wanted, &())?;
    let matcher = Matcher::<E>::new(&rules, STEP_LIMIT)?;
    // The search counts steps, and so is for the engine that does. Another may find the packet harmless, as PCRE2 does a payload that
    // lacks a character which every match would have to have; what it really takes is measured below, and told.
    let counting = Matcher::<Backtracking>::new(&rules, STEP_LIMIT)?;
    let attempts = Search { seed: options.seed, ..Search::default() };
    let worst = search(&rules, &counting, &Costs::default(), &attempts, &())?;

    let mut scratch = Default::default();
    let mut took = |payload: &[u8]| {
        let mut once = |_| {
            let clock = Clock::new();
            black_box(matcher.matches(payload, &mut scratch));
            clock.now()
        };
        (0..TRIES).map(&mut once).min().unwrap_or_default().max(Nanos(1))
    };
    let packets = segments.all().iter().map(|segment| {
        let work = took(segments.payload(segment));
        Packet { flow: segment.flow, bits: segment.bits, work }
    });
    let innocent: Arc<[Packet]> = packets.collect();
    let attack = Packet { flow: u64::MAX, bits: worst.bits, work: took(&worst.payload) };
    println!("the attack takes {} when it is matched alone", attack.work);
    let worker = || {
        let mut scratch = Default::default();
        let (matcher, segments, worst) = (&matcher, &segments, &worst.payload);
        Work::Real(move |task: Task| {
            let payload = match task.class {
                Class::Innocent => segments.payload(&segments.all()[task.index as usize]),
                Class::Attack => worst,
            };
            black_box(matcher.matches(payload, &mut scratch));
        })
    };
    compared(options, &Offer { innocent, attack }, worker)
}

/// Measures every queue without an attack and at every attack rate, with a worker from `worker` for each run.
fn compared<F: FnMut(Task) + Send>(
    options: &Options,
    offer: &Offer,
    worker: impl Fn() -> Work<F>,
) -> Outcome<()> {
    let sum = |of: fn(&Packet) -> u64| offer.innocent.iter().map(of).sum::<u64>();
    // E[P] / E[J] in bits per nanosecond: what the worker could serve of users if a scheduler cost nothing.
    let most = sum(|packet| packet.bits.into()) as f64 / sum(|packet| packet.work.0).max(1) as f64;
    let users = options.innocent.resolve(most, None)?;
    let innocent = Source::new(offer.innocent.clone(), users)?;
    let mut rates = vec![BitsPerSec(0)];
    for sweep in options.attack_rate.iter() {
        rates.extend(sweep.resolve(most)?);
    }
    rates.sort_unstable();
    rates.dedup();
    let settings = Settings {
        ring: *options.ring,
        depth: *options.depth,
        warm_up: options.warmup.map_or(Nanos(options.duration.0 / 3), Within::get),
        duration: *options.duration,
    };
    let cores = cores().len();
    println!("users send {users} of the {most:.3} Gbit/s that the worker could serve; {cores} cores");
    println!(
        "{:>10} {:10} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>14}",
        "attack", "queue", "goodput", "served", "dropped", "lost", "left", "ns/packet", "stood still"
    );
    for rate in rates {
        let attack = Source::new(Arc::from([offer.attack]), rate)?;
        let traffic = Traffic { innocent: innocent.clone(), attack };
        let mut arrived = None;
        for &queue in options.queues.iter() {
            let run = ordered(queue, *options.buffer, &traffic, &settings, worker())?;
            let [users, attacker] = [run.tally.innocent, run.tally.attack].map(|fate| {
                let accounted = fate.served + fate.dropped + fate.lost + fate.left;
                assert_eq!(accounted, fate.arrived, "{queue}: packets got lost");
                fate.arrived
            });
            let came = (users, attacker);
            assert_eq!(*arrived.get_or_insert(came), came, "{queue}: other packets came");
            print(rate, queue, &run);
        }
    }
    Ok(())
}

/// Runs a pipeline with a buffer of `packets` in this order.
fn ordered(
    queue: Queue,
    packets: usize,
    traffic: &Traffic,
    settings: &Settings,
    work: Work<impl FnMut(Task) + Send>,
) -> Result<Run, BadShape> {
    let (capacity, overflow) = (Some(Capacity::Packets(packets)), queue.properties().overflow);
    // One more than the buffer, as dropping the worst needs.
    let room = packets + 1;
    Ok(match queue {
        Queue::Heap => run(traffic, Bounded::new(OneEnded::new(room), capacity, overflow)?, settings, work),
        Queue::TwoEnded => {
            run(traffic, Bounded::new(TwoEnded::new(room), capacity, overflow)?, settings, work)
        }
        Queue::Ffs => run(traffic, Bounded::new(Wsjf::new(room)?, capacity, overflow)?, settings, work),
        Queue::Fcfs => run(traffic, Bounded::new(Fcfs::new(room), capacity, overflow)?, settings, work),
    })
}

fn print(rate: BitsPerSec, queue: Queue, run: &Run) {
    let Run { tally, scheduler, .. } = run;
    let goodput = BitsPerSec(run.goodput_bps.round() as u64);
    let both = |of: fn(&engine::Fate) -> u64| of(&tally.innocent) + of(&tally.attack);
    // Something else had its core.
    let stall = if scheduler.stall < STALL { String::new() } else { scheduler.stall.to_string() };
    println!(
        "{:>10} {queue:10} {:>12} {:12} {:12} {:12} {:12} {:12.1} {stall:>14}",
        rate.to_string(),
        goodput.to_string(),
        both(|fate| fate.served),
        both(|fate| fate.dropped),
        both(|fate| fate.lost),
        both(|fate| fate.left),
        scheduler.busy.0 as f64 / scheduler.packets.max(1) as f64,
    );
}
