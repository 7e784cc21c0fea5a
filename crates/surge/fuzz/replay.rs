//! What the fuzz target of found attacks does with an input: read it as what `surge compare --json` wrote.
//!
//! `cargo test` does the same with the seeds (crates/surge/tests/surge/attacker.rs).

use trueplane_study::Error;
use trueplane_surge::policy::PolicyName;
use trueplane_surge::replay::Replay;
use trueplane_units::BitsPerSec;

/// Reads `bytes` as a study: whether it is one. An error is one line, and so is what is said of an attack that it does not have.
pub fn read_replay(bytes: &[u8]) -> bool {
    let one_line = |error: Error| {
        let said = error.to_string();
        assert!(matches!(error, Error::Parameters(_)) && !said.contains(['\n', '\r']), "{error:?}");
        said
    };
    match Replay::parse("fuzz", bytes) {
        Ok(replay) => {
            for &policy in PolicyName::ALL {
                if let Err(error) = replay.of(policy, BitsPerSec(900), BitsPerSec(100), 0) {
                    assert!(one_line(error).starts_with("fuzz: "));
                }
            }
            true
        }
        Err(error) => {
            assert!(one_line(error).starts_with("fuzz: "));
            false
        }
    }
}
