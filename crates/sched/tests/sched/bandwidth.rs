//! Who gets the line: the paper's figure 11.

use trueplane_sched::bandwidth::{Bandwidth, Options};
use trueplane_sched::policy::SchedulerName;
use trueplane_study::Study;
use trueplane_units::Choices;

fn all_schedulers() -> Options {
    Options { policies: Choices(SchedulerName::ALL.into()), ..Options::default() }
}

/// Figure 11: as long as there is a queue for every flow, the newest gets the line; a PIFO always gives it.
#[test]
fn the_newest_flow_gets_the_line() {
    let found = Bandwidth::run(&all_schedulers(), &()).unwrap();
    for run in &found {
        assert_eq!(run.arrivals(), run.departures() + run.drops(), "{}", run.scheduler);
        for flow in &run.flows {
            assert_eq!(flow.arrivals, flow.departures + flow.drops);
            assert_eq!((flow.by_step.len(), flow.over_time.len()), (8, 160));
        }
        for step in 0..8 {
            let sum: u64 = run.flows.iter().map(|flow| flow.by_step[step].0).sum();
            // A packet at either end of a step. AFQ runs empty between rounds once everybody is a calendar ahead.
            let most = if run.scheduler == SchedulerName::Afq { 1_000_000_000 } else { 10_000_000 };
            assert!(sum.abs_diff(10_000_000_000) < most, "{} {step}: {sum}", run.scheduler);
        }
    }
    let share = |scheduler: SchedulerName, flow: usize, step: usize| {
        let run = found.iter().find(|run| run.scheduler == scheduler).unwrap();
        run.flows[flow].by_step[step].0 as f64 / 10e9
    };
    for step in 0..8 {
        assert!(share(SchedulerName::Pifo, step, step) > 0.99, "{step}");
        // All flows have the same rate, and none is preferred.
        let fair = 1.0 / (step + 1) as f64;
        assert!((share(SchedulerName::Fifo, step, step) - fair).abs() < 0.05, "{step}");
    }
    // The switch of figure 11 maps before it buffers: with more flows than queues the newest has to share.
    for step in 0..4 {
        assert!(share(SchedulerName::SpPifoArrivals, step, step) > 0.95, "{step}");
    }
    for step in 4..8 {
        assert!(share(SchedulerName::SpPifoArrivals, step, step) < 0.8, "{step}");
    }
    assert!(share(SchedulerName::SpPifoArrivals, 7, 7) > 2.0 * share(SchedulerName::Fifo, 7, 7));
    // Where what is dropped moves no bounds, flows whose queues are full leave them to the newest.
    for step in 0..8 {
        assert!(share(SchedulerName::SpPifo, step, step) > 0.95, "{step}");
    }
}
