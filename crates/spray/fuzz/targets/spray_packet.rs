#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_fuzz::spray_packet;

fuzz_target!(|bytes: &[u8]| {
    spray_packet::edit(bytes);
});
