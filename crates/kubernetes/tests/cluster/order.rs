//! A real log: nothing is lost or admitted twice, and the order is that of the simulator.

use super::job_log::JobLog;
use super::live::{run, set_up};
use super::load::Form;
use super::process::{Controller, half_life};
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
    std::fs::remove_file(&record).unwrap();
    report::write(&run);
    report::print(&run);
    run.check();
    // If the machine is so busy that the API server does not answer for ten seconds, the controller leads no more for a while.
    let term = recording::first_term(&steps);
    let agreement = replay::compare(term, half_life());
    eprintln!("{agreement:?}");
    if term.len() == steps.len() {
        assert_eq!(agreement.found, log.jobs.len());
    } else {
        eprintln!("the controller led more than once: the order was compared until it led anew");
    }
    assert_eq!((agreement.same, agreement.same_nobody), (agreement.found, agreement.nobody));
}
