#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_fuzz::spray_rules;

fuzz_target!(|text: &str| {
    spray_rules::read_rules(text);
    spray_rules::read_backends(text);
});
