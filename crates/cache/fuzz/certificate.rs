//! What the fuzz target of certificates does with an input: verify it against a small trace, as it is and with the checksum
//! that it ought to have.
//!
//! `cargo test` does the same with the seeds (crates/cache/tests/cache/bound_certificate.rs).

use trueplane_cache::check::{Certificate, verify};
use trueplane_study::Error;
use trueplane_trace::{Trace, TraceOptions};

/// What the seeds are certificates of.
pub const TRACE: &str = "\
time_ns,key,size,fetch_ns
0,1,2,5
3,2,1,0
5,1,2,7
9,1,2,1
12,2,1,30
12,3,4,2
20,1,2,5
21,2,1,4
21,4,1,0
21,4,1,3
40,1,2,5
41,3,4,9
";

/// Verifies `bytes` as a certificate: whether it holds. What holds has a lower bound that is none above the upper one; a refusal is one
/// line that blames the input.
pub fn check(bytes: &[u8]) -> bool {
    let holds = check_as_it_is(bytes);
    // Few inputs have a right checksum, and all that comes after it is to be tried as well.
    if let Ok(mut certificate) = serde_json::from_slice::<Certificate>(bytes) {
        certificate.checksum = certificate.sum();
        let repaired = serde_json::to_vec(&certificate).expect("numbers and text can be written");
        let repaired_holds = check_as_it_is(&repaired);
        assert!(repaired_holds || !holds, "what holds has the right checksum");
    }
    holds
}

fn check_as_it_is(bytes: &[u8]) -> bool {
    let trace = TRACE.as_bytes().to_vec();
    let trace = Trace::from_bytes("trace.csv", trace, &TraceOptions::default()).expect("it is one");
    match verify("fuzz", bytes, &trace, &()) {
        Ok(checked) => {
            assert!(checked.bounds.lower <= checked.bounds.upper, "{checked:?}");
            assert!(checked.fullest <= checked.terms.capacity, "{checked:?}");
            assert!(checked.hits + checked.delayed_hits + checked.misses <= checked.requests, "{checked:?}");
            true
        }
        Err(Error::Parameters(line)) => {
            assert!(!line.contains(['\n', '\r']), "{line:?}");
            false
        }
        Err(error) => panic!("{error:?}"),
    }
}
