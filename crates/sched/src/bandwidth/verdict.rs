//! The verdict of `sched bandwidth`.

use trueplane_study::prose::join;
use trueplane_units::{BitsPerSec, Nanos, Percent};

use crate::bandwidth::found::{Bandwidth, SchedulerRun};
use crate::scheduler::SchedulerName;

/// The verdict on who gets the line, the most important sentence first.
pub fn on_bandwidth(found: &Bandwidth) -> Vec<String> {
    let Some(last) = (found.flows as usize).checked_sub(1) else { return Vec::new() };
    let mut sentences = on_silence(found).map_or_else(|| on_shares(found, last), |silence| vec![silence]);
    sentences.push(
        "The gaps between a flow's packets are random, from a half to one and a half times their mean, so that flows of one rate do not stay in lock-step."
            .to_owned(),
    );
    sentences
}

/// Whether so many flows together send more than the line can.
fn compete(found: &Bandwidth, flows: usize) -> bool {
    flows as u128 * u128::from(found.flow_rate_bps) > u128::from(found.rate_bps)
}

/// Why shares of the line would say nothing, if so.
fn on_silence(found: &Bandwidth) -> Option<String> {
    let silent = |flow: usize| {
        found.schedulers.iter().all(|run| run.flows.get(flow).is_none_or(|flow| flow.arrivals == 0))
    };
    let flows = found.flows as usize;
    let step = Nanos(found.step_ns);
    if (0..flows).all(silent) {
        return Some(format!(
            "No packet came: a step of {step} is shorter than the gap between a flow's packets."
        ));
    }
    if silent(flows - 1) {
        return Some(format!(
            "Of the newest flow no packet came: a step of {step} is shorter than the gap between its packets."
        ));
    }
    let (each, line) = (BitsPerSec(found.flow_rate_bps), BitsPerSec(found.rate_bps));
    (!compete(found, flows)).then(|| match flows {
        1 => format!("Nothing competes: the only flow sends {each}, and the line {line}."),
        _ => {
            let all = BitsPerSec(found.flow_rate_bps.saturating_mul(flows as u64));
            format!("Nothing competes: all {flows} flows together send {all}, and the line {line}, whoever schedules.")
        }
    })
}

fn on_shares(found: &Bandwidth, last: usize) -> Vec<String> {
    let share = |run: &SchedulerRun, flow: usize, step: usize| {
        let rate = run.flows.get(flow).and_then(|flow| flow.by_step_bps.get(step)).copied().unwrap_or(0);
        Percent(rate as f64 / found.rate_bps.max(1) as f64).to_string()
    };
    let parts: Vec<String> = (found.schedulers.iter().enumerate())
        .map(|(index, run)| {
            let of_line = if index == 0 { " of the line" } else { "" };
            format!("{}{of_line} under {}", share(run, last, last), run.scheduler)
        })
        .collect();
    let all = if found.flows == 1 {
        "The only flow".to_owned()
    } else {
        format!("Once all {} flows send, that of the lowest rank", found.flows)
    };
    let mut sentences = vec![format!("{all} gets {}.", join(&parts))];
    let queues = found.queues as usize;
    if (2..=last).contains(&queues) && compete(found, queues) {
        for name in [SchedulerName::SpPifo, SchedulerName::SpPifoArrivals].map(SchedulerName::name) {
            let run = found.schedulers.iter().find(|run| run.scheduler == name);
            sentences.extend(run.map(|run| {
                format!(
                    "Under {name} the newest flow gets {} while there are as many flows as queues ({queues}), and {} with one more.",
                    share(run, queues - 1, queues - 1),
                    share(run, queues, queues)
                )
            }));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::super::super::bandwidth::{Options, bandwidth};
    use super::*;
    use crate::policy::PushDown;

    fn said(flows: u32, flow_rate: u64, step: u64) -> String {
        let options = Options {
            schedulers: vec![SchedulerName::Pifo, SchedulerName::Fifo],
            flows,
            flow_rate: BitsPerSec(flow_rate),
            rate: BitsPerSec(10_000_000_000),
            queues: 4,
            depth: 10,
            step: Nanos(step),
            packet_bytes: 1500,
            bytes_per_round: 1500,
            push_down: PushDown::Cost,
            window: 1000,
            seed: 1,
        };
        on_bandwidth(&bandwidth(&options, &()).unwrap()).remove(0)
    }

    #[test]
    fn shares_are_told_where_flows_compete() {
        let competing = said(2, 20_000_000_000, 5_000_000);
        assert!(
            competing.starts_with(
                "Once all 2 flows send, that of the lowest rank gets 100.0 % of the line under pifo"
            ),
            "{competing}"
        );
        assert_eq!(competing.matches("of the line").count(), 1, "{competing}");
        let alone = said(1, 20_000_000_000, 5_000_000);
        assert!(alone.starts_with("The only flow gets 100.0 % of the line under pifo"), "{alone}");
    }

    #[test]
    fn a_line_for_all_and_a_step_for_none_are_named() {
        assert_eq!(
            said(2, 2_000_000_000, 1_000_000),
            "Nothing competes: all 2 flows together send 4Gbps, and the line 10Gbps, whoever schedules."
        );
        assert_eq!(
            said(1, 2_000_000_000, 1_000_000),
            "Nothing competes: the only flow sends 2Gbps, and the line 10Gbps."
        );
        // A packet every 12 s.
        let none = said(2, 1_000, 1_000);
        assert_eq!(none, "No packet came: a step of 1us is shorter than the gap between a flow's packets.");
    }
}
