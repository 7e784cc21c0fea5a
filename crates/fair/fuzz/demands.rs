//! What the fuzz target of demands documents does with an input: read it, divide what it has under every mechanism, and hold the parts to
//! what there is.
//!
//! `cargo test` does the same with the seeds (crates/fair/tests/fair/demands.rs).

use trueplane_fair::allocate::{Allocate, Demands, Found, Options, run::divide};
use trueplane_fair::allocation::Mechanism;
use trueplane_fair::delta::Delta;
use trueplane_study::Error;
use trueplane_study::study::report;
use trueplane_units::Choices;

/// What of a share may be rounding.
const ROUNDING: f64 = 1e-6;

/// Users times stages times resources of one input, so that every input is done in no time.
const MOST: usize = 1 << 10;

/// Reads `bytes` as a demands document: whether it is one. What is read can be divided and shown, nobody has more than there is; an error is
/// one line that blames the input.
pub fn read_demands(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let demands = match Demands::read("fuzz", text) {
        Ok(demands) => demands,
        Err(error) => {
            blames(&error);
            return false;
        }
    };
    assert!(!demands.resources.is_empty() && !demands.users.is_empty());
    if demands.users.len() * demands.stages() * demands.resources.len() > MOST {
        return true;
    }
    for delta in [None, Delta::new(0.5)] {
        let policies = Choices(Mechanism::ALL.to_vec());
        let options = Options { policies, delta, ..Options::default() };
        match divide(&demands, &options, &()) {
            Ok(found) => check(&options, &found),
            Err(error) => {
                assert!(delta.is_none() && demands.has_stages(), "what was read can be divided: {error}");
                blames(&error);
            }
        }
    }
    true
}

/// Holds an error to one line about the input.
fn blames(error: &Error) {
    let text = error.to_string();
    assert!(matches!(error, Error::Parameters(_)) && text.starts_with("fuzz"), "{error:?}");
    assert!(!text.contains(['\n', '\r']), "{text:?}");
}

/// Holds what everybody gets to what there is.
fn check(options: &Options, found: &Found) {
    assert_eq!(found.policies.len(), Mechanism::ALL.len());
    for stage in found.policies.iter().flat_map(|divided| &divided.stages) {
        for used in &stage.resources {
            assert!((0.0..=1.0 + ROUNDING).contains(&used.given_share), "{used:?}");
            assert!((0.0..=used.given_share + ROUNDING).contains(&used.stranded_share), "{used:?}");
        }
        for part in &stage.users {
            assert!((0.0..=1.0 + ROUNDING).contains(&part.dominant_share), "{part:?}");
            let wanted = part.wanted_share.unwrap_or(f64::INFINITY);
            assert!(part.dominant_share <= wanted * (1.0 + ROUNDING) + ROUNDING, "{part:?}");
            assert!(part.amounts.iter().all(|amount| amount.is_finite() && *amount >= 0.0), "{part:?}");
        }
    }
    let shown = report::<Allocate>(options, found);
    assert!(!shown.tables.is_empty() && shown.verdict.len() <= 5, "{:?}", shown.verdict);
}
