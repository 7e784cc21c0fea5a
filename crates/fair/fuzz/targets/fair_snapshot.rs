#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::fair_snapshot::restore(bytes);
    trueplane_fuzz::fair_snapshot::restore_body(bytes);
});
