#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_sim::trace::TraceOptions;

// Without a format, so that detection and decompression are fuzzed too; then with chosen columns, sorted.
fuzz_target!(|bytes: &[u8]| {
    trueplane_fuzz::read(bytes, &TraceOptions::default());
    let columns = "time=2,key=1,fetch=latency".parse().ok();
    trueplane_fuzz::read(bytes, &TraceOptions { columns, sort: true, ..TraceOptions::default() });
});
