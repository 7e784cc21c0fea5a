#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trueplane_limit::classes::Classes;
use trueplane_limit::classifier::Classifier;
use trueplane_fuzz::limit;

static CLASSES: LazyLock<Classes> =
    LazyLock::new(|| Classes::parse("every_rule.toml", limit::CLASSES).expect("a good seed"));
static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::new(&CLASSES));

fuzz_target!(|bytes: &[u8]| {
    limit::classify_frame(&CLASSES, &CLASSIFIER, bytes);
});
