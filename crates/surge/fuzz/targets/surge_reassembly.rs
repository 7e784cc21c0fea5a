#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_fuzz::surge_reassembly::{reassemble, reassemble_capture};

fuzz_target!(|bytes: &[u8]| {
    reassemble(bytes);
    reassemble_capture(bytes);
});
