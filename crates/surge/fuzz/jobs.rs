//! What the fuzz target of job files does with an input: read it, and write and read it again.
//!
//! `cargo test` does the same with the seeds (crates/surge/tests/surge/jobs.rs).

use trueplane_study::Error;
use trueplane_surge::jobs::{Jobs, MOST_JOB};

/// Jobs that are read of one input at most.
const MOST: u64 = 1 << 12;

/// Reads `bytes` as a job file: whether it is one. What is read keeps to the limits and is the same when written and read again; an
/// error is one line that blames the input.
pub fn read_jobs(bytes: &[u8]) -> bool {
    let jobs = match Jobs::from_bytes("fuzz", bytes.to_vec(), MOST, &()) {
        Ok(jobs) => jobs,
        Err(Error::Trace(error)) => {
            assert!(error.is_input() && !error.to_string().contains(['\n', '\r']), "{error:?}");
            return false;
        }
        Err(error) => panic!("{error:?}"),
    };
    assert!((1..=MOST).contains(&(jobs.packets().len() as u64)));
    for job in jobs.iter() {
        assert!(job.bits >= 8 && job.bits % 8 == 0, "{job:?}");
        assert!(job.job.0 > 0 && job.estimate.0 > 0 && job.job.max(job.estimate) <= MOST_JOB, "{job:?}");
    }
    assert!(jobs.times().is_none_or(|times| times[0].0 == 0 && times.is_sorted()));
    let mut written = Vec::new();
    jobs.write(&mut written).expect("memory takes everything");
    let again = Jobs::from_bytes("fuzz", written, MOST, &()).expect("what was written can be read");
    assert!(jobs.packets() == again.packets() && jobs.times() == again.times());
    true
}
