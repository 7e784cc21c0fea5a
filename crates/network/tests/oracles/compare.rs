//! How near our senders are to those of others.

use crate::trace::Summary;

/// Greatest difference between the two, as a share of theirs.
const BOUND: f64 = 0.1;

/// Fails where our value differs from theirs by more than the bound.
pub(crate) fn near(what: &str, theirs: f64, ours: f64) {
    let ratio = ours / theirs;
    assert!(
        (ratio - 1.0).abs() <= BOUND,
        "{what}: {ours:.4}, and theirs is {theirs:.4}: a ratio of {ratio:.3}"
    );
}

/// Mean window and shape of the two differ by no more than the bound.
pub(crate) fn compare(name: &str, theirs: &Summary, ours: &Summary) {
    eprintln!("{name}: {theirs:.3?}\nours: {ours:.3?}");
    near("mean window in segments", theirs.mean, ours.mean);
    for (theirs, ours) in theirs.shape.iter().zip(ours.shape) {
        near("share of the mean window", *theirs, ours);
    }
}
