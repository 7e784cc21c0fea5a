#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_sim::trace::{Format, TraceOptions};

fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::read(bytes, &TraceOptions { format: Some(Format::Lis), ..TraceOptions::default() });
});
