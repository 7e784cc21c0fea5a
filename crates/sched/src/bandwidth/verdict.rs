//! The verdict of `sched bandwidth`.

use trueplane_study::prose::join;
use trueplane_units::{BitsPerSec, Percent};

use super::found::SchedulerRun;
use super::options::Options;
use crate::policy::Order;

/// The most important sentence first.
pub(super) fn verdict(options: &Options, found: &[SchedulerRun]) -> Vec<String> {
    let mut sentences = match without_competition(options, found) {
        Some(reason) => vec![reason],
        None => on_shares(options, found),
    };
    sentences.push(
        "The gaps between a flow's packets are random, from a half to one and a half times their mean."
            .to_owned(),
    );
    sentences
}

/// Whether so many flows together send more than the line can.
fn compete(options: &Options, flows: usize) -> bool {
    flows as u128 * u128::from(options.flow_rate.0) > u128::from(options.rate.0)
}

/// Why shares of the line would say nothing, if so.
fn without_competition(options: &Options, found: &[SchedulerRun]) -> Option<String> {
    let is_silent =
        |flow: usize| found.iter().all(|run| run.flows.get(flow).is_none_or(|flow| flow.arrivals == 0));
    let (flows, step) = (*options.flows as usize, *options.step);
    if (0..flows).all(is_silent) {
        return Some(format!(
            "No packet came: a step of {step} is shorter than the gap between a flow's packets."
        ));
    }
    if is_silent(flows - 1) {
        return Some(format!(
            "No packet of the newest flow came: a step of {step} is shorter than the gap between its packets."
        ));
    }
    let (each, line) = (*options.flow_rate, *options.rate);
    (!compete(options, flows)).then(|| match flows {
        1 => format!("Nothing competes: the only flow sends {each}, and the line {line}."),
        _ => {
            let all = BitsPerSec(each.0.saturating_mul(flows as u64));
            format!("Nothing competes: all {flows} flows together send {all}, and the line {line}.")
        }
    })
}

fn on_shares(options: &Options, found: &[SchedulerRun]) -> Vec<String> {
    let flows = *options.flows as usize;
    let share =
        |run: &SchedulerRun, flow: usize, step: usize| Percent(run.share(options, flow, step)).to_string();
    let parts: Vec<String> = (found.iter().enumerate())
        .map(|(index, run)| {
            let of_line = if index == 0 { " of the line" } else { "" };
            format!("{}{of_line} under {}", share(run, flows - 1, flows - 1), run.scheduler)
        })
        .collect();
    let who = match flows {
        1 => "The only flow".to_owned(),
        _ => format!("Once all {flows} flows send, the newest"),
    };
    let mut sentences = vec![format!("{who} gets {}.", join(&parts))];
    let queues = *options.queues as usize;
    if (2..flows).contains(&queues) && compete(options, queues) {
        for run in found.iter().filter(|run| run.scheduler.properties().pushes_down) {
            sentences.push(format!(
                "Under {} the newest flow gets {} while there are as many flows as queues ({queues}), and {} with one more.",
                run.scheduler,
                share(run, queues - 1, queues - 1),
                share(run, queues, queues)
            ));
        }
    }
    sentences
}

/// The scheduler that gives most to the newest flow, of those that need no exact order.
pub(super) fn advice(options: &Options, found: &[SchedulerRun]) -> String {
    let newest = *options.flows as usize - 1;
    let deployable: Vec<&SchedulerRun> =
        found.iter().filter(|run| run.scheduler.properties().order != Order::Exact).collect();
    if without_competition(options, found).is_some() || deployable.len() < 2 {
        return String::new();
    }
    let share = |run: &SchedulerRun| run.share(options, newest, newest);
    let best = deployable.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    best.map_or_else(String::new, |best| {
        format!(
            "Deploy {}: of the schedulers that need no exact order, it gives most to the flow of the highest priority.",
            best.scheduler
        )
    })
}

#[cfg(test)]
mod tests {
    use trueplane_study::Study;
    use trueplane_units::Parameters;

    use super::super::Bandwidth;
    use super::*;

    fn said(flows: &str, flow_rate: &str, step: &str) -> String {
        let given = [("policies", "pifo,fifo"), ("flows", flows), ("flow_rate", flow_rate), ("step", step)];
        let options = Options::given(&given).unwrap();
        verdict(&options, &Bandwidth::run(&options, &()).unwrap()).remove(0)
    }

    #[test]
    fn shares_are_told_where_flows_compete() {
        let competing = said("2", "20Gbps", "5ms");
        let start = "Once all 2 flows send, the newest gets 100.0% of the line under pifo";
        assert!(competing.starts_with(start), "{competing}");
        assert_eq!(competing.matches("of the line").count(), 1, "{competing}");
        let alone = said("1", "20Gbps", "5ms");
        assert!(alone.starts_with("The only flow gets 100.0% of the line under pifo"), "{alone}");
    }

    #[test]
    fn a_line_for_all_and_a_step_for_none_are_named() {
        assert_eq!(
            said("2", "2Gbps", "1ms"),
            "Nothing competes: all 2 flows together send 4Gbps, and the line 10Gbps."
        );
        assert_eq!(
            said("1", "2Gbps", "1ms"),
            "Nothing competes: the only flow sends 2Gbps, and the line 10Gbps."
        );
        // A packet every 12 s.
        let none = said("2", "1kbps", "1us");
        assert_eq!(none, "No packet came: a step of 1µs is shorter than the gap between a flow's packets.");
    }
}
