#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_trace::Format;

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::read_as(Format::Pcap, bytes);
});
