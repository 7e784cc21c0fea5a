//! What was found, in sentences, and what the machine does not let anybody find.

use trueplane_units::{BitsPerSec, Nanos, Percent};

use super::document::{Compare, Row};

/// From so long on a thread did not stand still by itself.
const STALL: u64 = 1_000_000;

/// Users who are alone get at least this part of what the worker could do, or something is wrong.
const ENOUGH: f64 = 0.9;

/// The clock is too coarse for jobs from this part of a mean job on.
const COARSE: f64 = 0.05;

/// The verdict, the most important sentence first.
pub(super) fn on_compare(found: &Compare) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(on_baseline(found));
    sentences.extend(on_flood(found));
    sentences.extend(on_half(found));
    sentences.extend(on_scheduler(found));
    sentences.extend(on_machine(found));
    sentences
}

/// The rows at an attack rate, in the order of the queues.
fn at(found: &Compare, attack_bps: u64) -> impl Iterator<Item = &Row> {
    found.rows.iter().filter(move |row| row.attack_bps == attack_bps)
}

fn rate(bps: f64) -> BitsPerSec {
    BitsPerSec(bps.round() as u64)
}

/// Whether the pipeline does not even serve users who are alone, and so measures the machine.
fn on_baseline(found: &Compare) -> Option<String> {
    let could = found.parameters.r_max_bps.min(found.parameters.innocent_bps as f64);
    let row = at(found, 0).min_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))?;
    (row.goodput_bps < ENOUGH * could).then(|| {
        format!(
            "Take this with care: without an attack, {} served only {} of the {} that the worker could have: scheduler or worker were too \
             slow or did not have their cores, and what follows measures that as well.",
            row.queue,
            rate(row.goodput_bps),
            rate(could)
        )
    })
}

/// What is left of the goodput when the attack is fastest.
fn on_flood(found: &Compare) -> Option<String> {
    let most = found.parameters.attack_bps.iter().copied().max()?;
    let mut rows: Vec<&Row> = at(found, most).collect();
    rows.sort_by(|a, b| b.goodput_bps.total_cmp(&a.goodput_bps));
    let part = |row: &&Row| {
        let before = at(found, 0).find(|other| other.queue == row.queue)?.goodput_bps;
        let share = Percent(row.goodput_bps / before.max(1.0));
        Some(format!("{} keeps {} ({share})", row.queue, rate(row.goodput_bps)))
    };
    let parts: Vec<String> = rows.iter().filter_map(part).collect();
    let (packet, job) = (found.parameters.attack_packet_bits / 8, Nanos(found.parameters.attack_job_ns));
    (!parts.is_empty()).then(|| {
        format!(
            "Under a flood of {} in packets of {packet} bytes that take {job} each, of the goodput without an attack {}.",
            BitsPerSec(most),
            parts.join(", ")
        )
    })
}

/// From where on a queue keeps less than half.
fn on_half(found: &Compare) -> Option<String> {
    let cliff = |&queue: &&'static str| {
        let mut rows = found.rows.iter().filter(|row| row.queue == queue);
        let before = rows.clone().find(|row| row.attack_bps == 0)?.goodput_bps;
        let first = rows.find(|row| row.attack_bps > 0 && row.goodput_bps < before / 2.0)?;
        Some(format!("{queue} from {}", BitsPerSec(first.attack_bps)))
    };
    let cliffs: Vec<String> = found.parameters.queues.iter().filter_map(cliff).collect();
    Some(if cliffs.is_empty() {
        "No queue lost half of its goodput at any rate that was tried.".to_owned()
    } else {
        format!("Less than half of the goodput is left with {} on.", cliffs.join(", "))
    })
}

/// What a packet costs the scheduler, and what it was too slow for.
fn on_scheduler(found: &Compare) -> Option<String> {
    let most = found.parameters.attack_bps.iter().copied().max()?;
    let part = |row: &Row| {
        let cost = row.scheduler_ns_per_packet?;
        let lost = Percent(row.lost as f64 / row.arrived.max(1) as f64);
        Some(format!("{} {cost:.0} ns ({lost} lost at the ring)", row.queue))
    };
    let parts: Vec<String> = at(found, most).filter_map(part).collect();
    let packets = most as f64 / f64::from(found.parameters.attack_packet_bits.max(1)) / 1e6;
    (!parts.is_empty()).then(|| {
        format!(
            "With {packets:.2} million attack packets a second, a packet costs the scheduler, receiving and the clock included: {}.",
            parts.join(", ")
        )
    })
}

/// What the machine does to the numbers.
fn on_machine(found: &Compare) -> Vec<String> {
    let cores = found.machine.cores;
    let mut sentences = Vec::new();
    if cores < 2 {
        sentences.push(
            "Scheduler and worker shared one core and took turns: the numbers say what was counted, and nothing about the queues."
                .to_owned(),
        );
    }
    let (jobs, excess) = found.rows.iter().fold((0, 0.0), |(jobs, excess), row| {
        let of_row = row.served + row.left.min(1);
        (jobs + of_row, excess + row.worker_excess_ns.unwrap_or(0.0) * of_row as f64)
    });
    let mean = if jobs > 0 { excess / jobs as f64 } else { 0.0 };
    let than = if found.parameters.is_real { "when it was measured alone" } else { "it should" };
    let coarse = if mean > COARSE * found.parameters.mean_job_ns {
        "; that is much for these jobs, and the worker can serve as much less than r_max"
    } else {
        ""
    };
    sentences.push(format!(
        "Measured with two threads on {cores} core{}, packets by the clock instead of a network card; a look at the clock takes {:.0} ns, \
         and a job took {:.0} ns {} than {than} on average{coarse}.",
        if cores == 1 { "" } else { "s" },
        found.machine.clock_ns,
        mean.abs(),
        if mean < 0.0 { "less" } else { "longer" },
    ));
    let stalled = found.rows.iter().filter(|row| row.scheduler.stall_ns >= STALL).count();
    let longest = found.rows.iter().map(|row| row.scheduler.stall_ns).max().unwrap_or(0);
    if stalled > 0 {
        sentences.push(format!(
            "In {stalled} of {} runs the scheduler once stood still for {} or more, up to {}: something else had its core, and what was \
             lost at the ring and missing in goodput may be its doing. Measure again when the machine is quiet.",
            found.rows.len(),
            Nanos(STALL),
            Nanos(longest)
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::super::document::{Machine, Parameters};
    use super::super::pipeline::Effort;
    use super::*;

    /// A heap that falls, a queue that does not, on so many cores with so long a stall.
    fn found(cores: usize, stall_ns: u64) -> Compare {
        let row = |queue, attack_bps, goodput_bps, lost| Row {
            queue,
            attack_bps,
            goodput_bps,
            arrived: 1_000,
            lost,
            scheduler_ns_per_packet: Some(60.0),
            scheduler: Effort { stall_ns, ..Effort::default() },
            ..Row::default()
        };
        Compare {
            parameters: Parameters {
                queues: vec!["heap", "ffs"],
                attack_bps: vec![10_000_000, 1_000_000_000],
                attack_packet_bits: 512,
                attack_job_ns: 10_000,
                innocent_bps: 9_000_000_000,
                r_max_bps: 1e10,
                ..Parameters::default()
            },
            machine: Machine { cores, clock_ns: 25.0 },
            rows: vec![
                row("heap", 0, 9e9, 0),
                row("heap", 10_000_000, 8e9, 0),
                row("heap", 1_000_000_000, 0.45e9, 0),
                row("ffs", 0, 9e9, 0),
                row("ffs", 10_000_000, 9e9, 0),
                row("ffs", 1_000_000_000, 8.1e9, 100),
            ],
            ..Compare::default()
        }
    }

    #[test]
    fn what_was_seen_is_said() {
        let said = on_compare(&found(2, 40_000));
        let expected = [
            "Under a flood of 1Gbps in packets of 64 bytes that take 10us each, of the goodput without an attack ffs keeps 8.1Gbps (90.0 %), \
             heap keeps 450Mbps (5.0 %).",
            "Less than half of the goodput is left with heap from 1Gbps on.",
            "With 1.95 million attack packets a second, a packet costs the scheduler, receiving and the clock included: heap 60 ns (0.0 % lost at \
             the ring), ffs 60 ns (10.0 % lost at the ring).",
            "Measured with two threads on 2 cores, packets by the clock instead of a network card; a look at the clock takes 25 ns, and a job \
             took 0 ns longer than it should on average.",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn what_the_machine_spoilt_is_said() {
        let said = on_compare(&found(1, 4_000_000)).join(" ");
        assert!(said.contains("shared one core") && said.contains("on 1 core,"), "{said}");
        assert!(
            said.contains("In 6 of 6 runs the scheduler once stood still for 1ms or more, up to 4ms"),
            "{said}"
        );
        assert!(!said.contains("Take this with care"), "{said}");
        let mut slow = found(2, 0);
        slow.rows[3].goodput_bps = 3e9;
        let said = &on_compare(&slow)[0];
        assert!(said.contains("without an attack, ffs served only 3Gbps of the 9Gbps"), "{said}");
        let mut calm = found(2, 0);
        calm.rows.retain(|row| row.queue == "ffs");
        calm.parameters.queues = vec!["ffs"];
        assert!(
            on_compare(&calm)
                .contains(&"No queue lost half of its goodput at any rate that was tried.".to_owned())
        );
    }
}
