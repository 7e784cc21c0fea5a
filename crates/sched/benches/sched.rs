//! How fast an output port is simulated, scheduler by scheduler: drawing packets, ranks, the buffer, and what is counted.
//!
//! One thread, ranks from 0 to 99, 8 queues of 10 packets, offered nine tenths of the line and a tenth more than it. Checked: every
//! packet has left or was dropped; PIFO is never out of order; and FIFO and PIFO drop as many, for they hold as many.

use std::time::Instant;

use trueplane_sched::inversions::found::SchedulerRun;
use trueplane_sched::inversions::{Inversions, Options};
use trueplane_sched::policy::SchedulerName;
use trueplane_study::Study;
use trueplane_units::Parameters;

const PACKETS: u64 = 3_000_000;
const ROUNDS: usize = 5;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    for load in ["0.9", "1.1"] {
        println!("\nload {load}; {PACKETS} packets of 1500 bytes");
        println!(
            "{:16} {:>12} {:>10} {:>10} {:>12}",
            "scheduler", "M packets/s", "ns/packet", "to fifo", "inversions"
        );
        let (mut base, mut dropped) = (None, None);
        for &scheduler in SchedulerName::ALL {
            let name = scheduler.name();
            let packets = PACKETS.to_string();
            let given = [("policies", name), ("load", load), ("packets", packets.as_str())];
            let options = Options::given(&given).expect("they are values");
            let (seconds, run) = pool.install(|| measure(&options));
            assert_eq!(run.arrivals, PACKETS);
            assert_eq!(run.departures + run.drops, PACKETS, "{name}: packets got lost");
            match scheduler {
                SchedulerName::Fifo => dropped = Some(run.drops),
                SchedulerName::Pifo => assert_eq!((run.inversions, Some(run.drops)), (0, dropped), "no PIFO"),
                _ => {}
            }
            let nanos = seconds * 1e9 / PACKETS as f64;
            let ratio = nanos / *base.get_or_insert(nanos);
            println!("{name:16} {:12.1} {nanos:10.1} {ratio:10.2} {:12}", 1e3 / nanos, run.inversions);
        }
    }
}

/// The least time of some rounds, and what they all found.
fn measure(options: &Options) -> (f64, SchedulerRun) {
    let (mut least, mut found) = (f64::INFINITY, None::<SchedulerRun>);
    for _ in 0..ROUNDS {
        let start = now();
        let study = Inversions::run(options, &()).expect("the options make sense");
        least = least.min(start.elapsed().as_secs_f64());
        let run = study.schedulers.into_iter().next().expect("one scheduler was asked for");
        let before = found.get_or_insert_with(|| run.clone());
        assert_eq!(before.inversions, run.inversions, "not the same twice");
    }
    (least, found.expect("there are rounds"))
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
