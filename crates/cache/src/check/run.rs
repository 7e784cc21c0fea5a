//! Verifies a certificate, part by part.

use std::io::Read;
use std::path::Path;

use trueplane_study::{Error, Observer};
use trueplane_trace::{Trace, TraceError, decompressed, name_of, without_code};

use super::format::{self, Certificate};
use super::found::CheckedCertificate;
use super::options::Options;
use super::refusal::Refusal;
use super::workload::Workload;
use super::{lower, upper};

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<CheckedCertificate, Error> {
    options.check()?;
    let trace = options.source.open()?;
    check(&options.certificate, &trace, observer)
}

/// Verifies the certificate in the file at `path`, compressed or not, `-` being standard input.
///
/// # Errors
/// If it cannot be read, does not hold for this trace, or the trace cannot be read; if the observer interrupts.
fn check(path: &Path, trace: &Trace, observer: &dyn Observer) -> Result<CheckedCertificate, Error> {
    let name = name_of(path);
    let file = decompressed(path).map_err(|source| TraceError::Io { trace: name.clone(), source })?;
    verify(&name, file, trace, observer)
}

/// Verifies the certificate that `file` holds, called `name` in errors. O(n log n) for n requests.
///
/// # Errors
/// As `check`.
pub fn verify(
    name: &str,
    mut file: impl Read,
    trace: &Trace,
    observer: &dyn Observer,
) -> Result<CheckedCertificate, Error> {
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
    Ok(CheckedCertificate::new(name, trace.name(), &certificate.header, terms, &served))
}
