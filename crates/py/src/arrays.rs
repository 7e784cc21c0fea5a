//! Arrays of arguments: a value for each, or one for all.

use std::ops::Range;

use pyo3::prelude::*;
use trueplane_units::Nanos;

use crate::errors;

/// The value of `index`, from an array with a value for each or one for all.
#[inline]
pub(crate) fn at<T: Copy>(values: &[T], index: usize) -> T {
    if let [only] = values { *only } else { values[index] }
}

/// Refuses an array of another length than `expected`, or than 1 if `or_one`.
pub(crate) fn check_length(name: &str, found: usize, expected: usize, or_one: bool) -> PyResult<()> {
    if found == expected || (or_one && found == 1) {
        return Ok(());
    }
    Err(errors::parameter(format!("{name}: expected {expected} values, one for each, got {found}")))
}

/// Refuses times that go back, or lie before `last`. `what` comes at each of them.
pub(crate) fn check_times(times: &[u64], mut last: u64, what: &str) -> PyResult<()> {
    for (index, &time) in times.iter().enumerate() {
        if time < last {
            let message = format!("times: expected {last} ns or later for {what} {index}, got {time} ns");
            return Err(errors::parameter(message));
        }
        last = time;
    }
    Ok(())
}

/// A number of bytes that fits 32 bits, as packets have them.
pub(crate) fn bytes_of(name: &str, bytes: u64) -> PyResult<u32> {
    let refuse = || errors::parameter(format!("{name}: expected up to 4294967295 bytes, got {bytes}"));
    u32::try_from(bytes).map_err(|_| refuse())
}

/// Items of a batch between two looks at Ctrl-C.
const CHUNK: usize = 1 << 16;

/// Works on the indices below `len`, chunk by chunk, and sees to Ctrl-C meanwhile: then the rest is left out.
pub(crate) fn in_chunks(py: Python<'_>, len: usize, mut work: impl FnMut(Range<usize>)) -> PyResult<()> {
    for start in (0..len).step_by(CHUNK) {
        work(start..len.min(start + CHUNK));
        py.check_signals()?;
    }
    Ok(())
}

/// The nanoseconds of a time as people write it, such as 100ms. `name` says in the error what it is.
#[pyfunction]
pub(crate) fn nanos_of(name: &str, text: &str) -> PyResult<u64> {
    text.parse().map(|Nanos(nanos)| nanos).map_err(|error| errors::parameter(format!("{name}: {error}")))
}
