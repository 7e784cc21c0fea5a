#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    trueplane_fuzz::limit::read_classes(text);
});
