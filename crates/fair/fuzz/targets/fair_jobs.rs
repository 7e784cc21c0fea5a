#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::fair_jobs::read_log(None, bytes);
});
