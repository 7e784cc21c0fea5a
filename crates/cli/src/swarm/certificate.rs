//! Certificates of `cache bound`, for `cache check` to verify.

use std::fs::File;
use std::path::Path;

use trueplane_cache::bound::run::{bound, open};
use trueplane_cache::bound::{Found, Options, certificate};
use trueplane_units::Parameters as _;

/// Searches bounds with these parameters and writes their certificate into `folder`. Returns the file's path.
pub(super) fn write(given: &[(&str, &str)], folder: &Path) -> String {
    let options = Options::given(given).expect("they are values");
    let trace = open(&options).expect("the trace can be read");
    let found = bound(&trace, &options, &()).expect("the bounds can be searched");
    let Found { scenario, problem, solution, .. } = &found;
    let path = folder.join("certificate.json");
    let mut file = File::create(&path).expect("the folder can be written to");
    certificate::write(trace.name(), problem, scenario, solution, &mut file).expect("the file is written");
    path.display().to_string()
}
