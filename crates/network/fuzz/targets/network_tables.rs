#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::network_tables::read_tables(bytes);
});
