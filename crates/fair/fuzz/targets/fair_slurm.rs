#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_fair::workload::LogFormat;

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::fair_jobs::read_log(Some(LogFormat::Slurm), bytes);
});
