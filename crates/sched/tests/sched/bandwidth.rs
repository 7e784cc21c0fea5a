//! Who gets the line: the paper's figure 11.

use trueplane_sched::bandwidth::{Options, bandwidth};
use trueplane_sched::policy::PushDown;
use trueplane_sched::scheduler::SchedulerName;
use trueplane_units::{BitsPerSec, Nanos};

fn usual() -> Options {
    Options {
        schedulers: SchedulerName::NAMES.map(|(_, scheduler)| scheduler).into(),
        flows: 8,
        flow_rate: BitsPerSec(20_000_000_000),
        rate: BitsPerSec(10_000_000_000),
        queues: 4,
        depth: 10,
        step: Nanos(5_000_000),
        packet_bytes: 1500,
        bytes_per_round: 1500,
        push_down: PushDown::Cost,
        window: 1000,
        seed: 1,
    }
}

/// Figure 11: as long as there is a queue for every flow, the newest gets the line; a PIFO always gives it.
#[test]
fn the_newest_flow_gets_the_line() {
    let found = bandwidth(&usual(), &()).unwrap();
    for run in &found.schedulers {
        assert_eq!(run.arrivals, run.departures + run.drops, "{}", run.scheduler);
        for flow in &run.flows {
            assert_eq!(flow.arrivals, flow.departures + flow.drops);
            assert_eq!((flow.by_step_bps.len(), flow.over_time_bps.len()), (8, 160));
        }
        for step in 0..8 {
            let sum: u64 = run.flows.iter().map(|flow| flow.by_step_bps[step]).sum();
            // A packet at either end of a step. AFQ runs empty between rounds once everybody is a calendar ahead.
            let most = if run.scheduler == "afq" { 1_000_000_000 } else { 10_000_000 };
            assert!(sum.abs_diff(10_000_000_000) < most, "{} {step}: {sum}", run.scheduler);
        }
    }
    let share = |scheduler: SchedulerName, flow: usize, step: usize| {
        let run = found.schedulers.iter().find(|run| run.scheduler == scheduler.name()).unwrap();
        run.flows[flow].by_step_bps[step] as f64 / 10e9
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

#[test]
fn bandwidth_refuses_what_makes_no_sense() {
    for (said, change) in [
        ("expected 1 to 64 flows, got 0", (|options| options.flows = 0) as fn(&mut Options)),
        // Every scheduler would have 21 million numbers.
        ("expected 1 to 64 flows, got 1024", |options| options.flows = 1024),
        ("expected 1 to 4096 queues, got 0", |options| options.queues = 0),
        ("expected a depth of 1 to", |options| options.depth = 0),
        ("expected a --step of at least", |options| options.step = Nanos(1)),
        ("so short that at most 2e9 packets come", |options| options.step = Nanos(1 << 50)),
        // 6e8 for each of many schedulers.
        ("so short that at most 2e9 packets come", |options| options.step = Nanos(10_000_000_000)),
    ] {
        let mut options = usual();
        change(&mut options);
        let text = bandwidth(&options, &()).expect_err("it makes no sense").to_string();
        assert!(text.contains(said), "{text}");
    }
}
