//! What the fuzz target of logs of tasks does with an input: read it, and write and read it again.
//!
//! `cargo test` does the same with the seeds (crates/fair/tests/fair/jobs).

use trueplane_fair::workload::{
    JobLog, LogFormat, LogOptions, MOST_AMOUNT, MOST_TIME, from_bytes, write_csv,
};
use trueplane_study::Error;

/// Reads `bytes` as a log of this format, or of the one that they look like: whether it is one. What is read keeps to the limits and is the
/// same when written and read again; an error is one line that blames the input.
pub fn read_log(format: Option<LogFormat>, bytes: &[u8]) -> bool {
    let options = LogOptions { format, ..LogOptions::default() };
    let log = match from_bytes("fuzz", bytes.to_vec(), &options, &()) {
        Ok(log) => log,
        Err(Error::Trace(error)) => {
            assert!(error.is_input() && !error.to_string().contains(['\n', '\r']), "{error:?}");
            return false;
        }
        Err(error) => panic!("{error:?}"),
    };
    check(&log);
    let mut written = Vec::new();
    // Names of resources can be read that cannot be written, as they may be in quotes.
    if write_csv(&log, &mut written).is_ok() {
        let options = LogOptions { format: Some(LogFormat::Csv), ..LogOptions::default() };
        let again = from_bytes("fuzz", written, &options, &()).expect("what was written can be read");
        assert_eq!(
            again,
            JobLog {
                left_out: Vec::new(),
                cut: Vec::new(),
                rows: Vec::new(),
                censored: Vec::new(),
                started: Vec::new(),
                ..log
            }
        );
    }
    true
}

/// Holds a log to what it promises.
fn check(log: &JobLog) {
    assert!(!log.tasks.is_empty() && !log.resources.is_empty());
    assert!(log.tasks.is_sorted_by_key(|task| task.submitted));
    let (mut users, mut demands) = (0, 0);
    for task in &log.tasks {
        assert!(task.submitted <= MOST_TIME && task.duration <= MOST_TIME, "{task:?}");
        assert!(task.user <= users && task.demand <= demands, "numbers are in the order of their first use");
        users = users.max(task.user + 1);
        demands = demands.max(task.demand + 1);
    }
    assert!(log.rows.is_empty() || log.rows.len() == log.tasks.len());
    assert_eq!((users as usize, demands as usize), (log.users.len(), log.demands.len()));
    for demand in &log.demands {
        assert_eq!(demand.len(), log.resources.len());
        assert!(
            demand.iter().any(|&amount| amount > 0) && demand.iter().all(|&amount| amount <= MOST_AMOUNT)
        );
    }
}
