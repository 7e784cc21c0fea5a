//! A real log: nothing is lost or admitted twice, and the order is that of the simulator.

use super::job_log::JobLog;
use super::live::{run, set_up};
use super::load::Form;
use super::process::Controller;
use super::{number, recording, replay, report};

#[tokio::test]
async fn a_real_log_is_admitted_in_the_order_of_the_simulator() {
    let Some(log) = JobLog::read(number("PODS", 10_000)) else { return };
    let record = std::env::temp_dir().join(format!("trueplane-admission-{}.jsonl", std::process::id()));
    let capacity = set_up(&log, Form::Pods).await;
    let controller = Controller::start("controller", Some(&record));
    let run = run(&log, Form::Pods, capacity, controller.process()).await;
    controller.stop();
    let steps = recording::read(&record);
    report::write(&run);
    report::print(&run);
    run.check();
    let agreement = replay::compare(&steps);
    eprintln!("{agreement:?}");
    // If the machine is so busy that the API server does not answer for ten seconds, the controller leads no more for a while. What it had decided and not
    // written by then, it decides once more.
    let is_as_many = if agreement.terms == 1 { usize::eq } else { usize::ge };
    assert!(is_as_many(&agreement.found, &log.jobs.len()), "each has had its turn");
    assert!(agreement.is_whole(), "the simulator says another order than {}", record.display());
    std::fs::remove_file(&record).unwrap();
}
