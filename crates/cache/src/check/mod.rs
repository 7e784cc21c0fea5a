//! Verifies certificates of `cache bound`: both bounds anew, from the requests, in integers.
//!
//! A certificate holds a price for every gap between requests, which prove the lower bound, and a schedule, which has the
//! upper one. Nothing here comes from the solver (neither `bound` nor `belatedly`): the rules
//! are worked out once more, in another form, so that a mistake would have to be made twice to go unseen. What is
//! shared is the reader of traces, and [`Latency`](super::latency::Latency), which belongs to the workload.
//!
//! 1. [`mod@format`]: the document, its canonical form and its checksum.
//! 2. [`workload`]: the requests, and whether they are the certified ones.
//! 3. [`upper`]: the schedule, followed request by request. [`lower`]: what the prices prove, object by object.
//! 4. `refusal`: why one does not hold. [`verify`]: one after the other; [`Checked`] is what came out, and its report.
//!
//! What a certificate claims is never trusted: the memory taken is proportional to the trace, at most 128 B of text and
//! about 150 B of numbers for each request.

pub mod format;
pub mod lower;
mod refusal;
mod report;
pub mod upper;
pub mod workload;

pub use self::refusal::Refusal;
use std::io::Read;
use std::path::Path;

pub use self::format::{Certificate, Header};
pub use self::report::Checked;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Trace, TraceError, decompressed, without_code};

use self::workload::Workload;

/// Verifies the certificate in the file at `path`, compressed or not, `-` being standard input.
///
/// # Errors
/// If it cannot be read, does not hold for this trace, or the trace cannot be read; if the observer interrupts.
pub fn check(path: &Path, trace: &Trace, observer: &dyn Observer) -> Result<Checked, Error> {
    let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
    let file = decompressed(path).map_err(|source| TraceError::Io { trace: name.clone(), source })?;
    verify(&name, file, trace, observer)
}

/// Verifies the certificate that `file` holds, called `name` in errors. O(n log n) for n requests.
///
/// # Errors
/// As [`check`].
pub fn verify(
    name: &str,
    mut file: impl Read,
    trace: &Trace,
    observer: &dyn Observer,
) -> Result<Checked, Error> {
    let refuse = |refusal: Refusal| Error::Parameters(Refusal::new(format!("{name}: {refusal}")).0);
    let mut text = Vec::new();
    let mut read = |text: &mut Vec<u8>, most: u64| {
        let room = most.saturating_sub(text.len() as u64);
        let part = file.by_ref().take(room).read_to_end(text);
        part.map_err(|error| refuse(Refusal::new(without_code(&error))))
    };
    read(&mut text, format::LONGEST_HEADER)?;
    let header = format::header(&text).map_err(refuse)?;
    let terms = header.terms.understood().map_err(refuse)?;
    let workload = Workload::read(name, trace, &header, &terms, observer)?;
    let most = format::longest(workload.len());
    read(&mut text, most + 1)?;
    if text.len() as u64 > most {
        let message = format!("more than the {most} B that {} requests can need", workload.len());
        return Err(refuse(Refusal::new(message)));
    }
    let certificate = Certificate::parse(&text).map_err(refuse)?;
    drop(text);
    let claims = certificate.header.claims;
    observer.stage("verifying", 2 * workload.len() as u64);
    let keep = certificate.keep(workload.len()).map_err(refuse)?;
    let served = upper::follow(&workload, &terms, &keep).map_err(refuse)?;
    served.confirm(claims.upper).map_err(refuse)?;
    observer.advance(workload.len() as u64);
    let prices = certificate.prices(workload.len()).map_err(refuse)?;
    let scaled = lower::bound(&workload, &terms, &prices, claims.price_bits).map_err(refuse)?;
    lower::confirm(scaled, &claims).map_err(refuse)?;
    observer.advance(workload.len() as u64);
    if claims.lower > claims.upper {
        let message = format!("the lower bound {} is above the upper bound {}", claims.lower, claims.upper);
        return Err(refuse(Refusal::new(message)));
    }
    Ok(Checked::new(name, trace.name(), &certificate.header, &terms, &served))
}
