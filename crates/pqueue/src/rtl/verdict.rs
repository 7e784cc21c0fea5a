//! The findings in sentences.

use trueplane_study::prose::join;
use trueplane_units::Bytes;

use super::design::Queue;
use super::found::Rtl;
use super::options::Switch;

/// LUTs and block RAMs of the LFE5U-85F, for which synthesis is, as nextpnr counts them.
const LUTS: u64 = 83_640;
const BLOCK_RAMS: u64 = 208;

/// A number in millions.
fn millions(number: u64) -> String {
    format!("{} M", (number as f64 / 1e4).round() / 100.0)
}

/// A clock rate in MHz, to a tenth.
pub(super) fn megahertz(hertz: u64) -> String {
    format!("{} MHz", (hertz as f64 / 1e5).round() / 10.0)
}

/// What it does, at what clock, what it holds, and what a switch needs.
pub(super) fn sentences(rtl: &Rtl, queue: Queue) -> Vec<String> {
    let mut sentences = vec![
        what(rtl, queue),
        clock(rtl, queue),
        format!("Its tables hold {} bits ({}).", rtl.memory_bits, Bytes(rtl.memory_bits.div_ceil(8))),
    ];
    // A port of a switch has the other queues to itself.
    if queue == Queue::Bbq {
        sentences.push(switch(rtl));
    }
    sentences
}

fn what(rtl: &Rtl, queue: Queue) -> String {
    let Rtl { span, elements, latency_cycles, partitions, priority_bits, .. } = rtl;
    let queues =
        if *partitions == 1 { "one queue".to_owned() } else { format!("each of {partitions} queues") };
    match queue {
        Queue::Bbq => format!(
            "One operation in every cycle, each answered after {latency_cycles} cycles; {span} priorities in {queues} over {elements} elements."
        ),
        Queue::Window => format!(
            "One operation in every cycle, each answered after {latency_cycles} cycles; a window of {span} priorities of {priority_bits} bits over {elements} elements."
        ),
        Queue::Hier => format!(
            "One operation in every cycle, each answered after {latency_cycles} cycles; {partitions} tenants with {span} priorities each over {elements} elements."
        ),
        Queue::Exact => format!(
            "A push and a pop in every second cycle, with the first element on the ports; {span} priorities over {elements} elements."
        ),
        Queue::Pifo => format!(
            "A push and a pop in every cycle, with the first element on the ports; {span} priorities over {elements} elements."
        ),
    }
}

fn clock(rtl: &Rtl, queue: Queue) -> String {
    let speed = &rtl.speed;
    let reached = megahertz(speed.clock_hz);
    let rows = join(&speed.rows);
    let mut text = if speed.measured {
        let seeds: Vec<String> = speed.fmax_mhz_of_seeds.iter().map(f64::to_string).collect();
        let seeds = match seeds.as_slice() {
            [_] => ", of one run".to_owned(),
            seeds => format!(", the median of {}", seeds.join(", ")),
        };
        format!("Synthesis for an ECP5 reached {reached}{seeds} (row {rows}), with {} LUTs and", speed.comb)
    } else {
        let inside = if matches!(queue, Queue::Bbq | Queue::Exact | Queue::Pifo) {
            ""
        } else {
            " of the queue inside"
        };
        format!(
            "Not measured. An estimate from the nearest rows{inside} ({rows}) is {reached} on an ECP5, with about {} LUTs and",
            speed.comb
        )
    };
    text += &format!(" {} block RAMs", speed.block_rams);
    if let Some(operations) = rtl.operations_per_sec {
        text += ":";
        if let Some(wished) = rtl.wished_clock_hz {
            text += &match wished > speed.clock_hz {
                true => format!(" not the {} that you wish, at which nothing is counted;", megahertz(wished)),
                false => format!(" at the {} that you wish,", megahertz(wished)),
            };
        }
        text += &format!(" {} operations a second", millions(operations));
        if let Some(latency) = rtl.latency_ns.filter(|_| rtl.latency_cycles > 0) {
            text += &format!(", {latency:.1} ns from a request to its response");
        }
    }
    text += ".";
    if let Some(wished) = rtl.wished_clock_hz.filter(|_| !speed.measured) {
        text += &format!(" Whether it reaches the {} that you wish is not known.", megahertz(wished));
    }
    if speed.before {
        text += if speed.measured {
            " The circuit has changed since that run."
        } else {
            " The circuit has changed since some of these runs."
        };
    }
    if speed.block_rams > BLOCK_RAMS || speed.comb > LUTS {
        text +=
            &format!(" That is more than the device has, which is {LUTS} LUTs and {BLOCK_RAMS} block RAMs.");
    }
    text
}

fn switch(rtl: &Rtl) -> String {
    let Switch { ports, port_rate_bps, frame } = rtl.switch;
    let without = rtl.instances_without_partitions;
    let need = format!(
        "A switch of {ports} ports of {port_rate_bps} forwards up to {}/s of {} bytes",
        millions(rtl.switch_packets_per_sec),
        frame.0
    );
    match rtl.instances {
        Some(instances) => {
            let instances = match rtl.speed.measured {
                true => format!("{instances} of these"),
                false => format!("about {instances} of these, if the estimate is right,"),
            };
            format!(
                "{need}: {instances} in two layers, shared by all ports. Queues that cannot be partitioned take {without} at least, however fast."
            )
        }
        None => format!(
            "{need}. A circuit with fewer partitions ({}) than ports serves no port alone: it takes {without} of them at least. Give --partitions {ports} or more.",
            rtl.partitions
        ),
    }
}
