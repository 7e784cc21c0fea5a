//! Both bounds with all that proves them, for whoever wants to verify them: [`check`](crate::check) does.

use std::io::{self, Write};

use super::problem::{Problem, Scenario};
use super::replay::decisions;
use super::search::Solution;
use crate::check::Certificate;
use crate::check::format::{Claims, Digest, FORMAT, Header, Terms, TraceFacts, VERSION};

/// The certificate of a solution to the problem that `scenario` posed on the trace called `trace`. O(n).
pub fn certificate(trace: &str, problem: &Problem, scenario: &Scenario, solution: &Solution) -> Certificate {
    let instance = &problem.instance;
    let mut digest = Digest::default();
    for (index, request) in (0..).zip(&problem.requests) {
        let fetch = scenario.latency.of(request, index);
        digest.push(request.time.0, request.key, request.size, fetch.0);
    }
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        trace: TraceFacts {
            name: trace.to_owned(),
            requests: problem.requests.len() as u64,
            objects: instance.objects() as u64,
            digest: digest.finish(),
        },
        terms: Terms {
            clock: scenario.clock,
            latency: scenario.latency.clone(),
            capacity: instance.terms.capacity,
            by_bytes: problem.by_bytes,
            hit_latency: instance.terms.hit_latency,
            warmup: instance.terms.warmup,
            bypass: instance.terms.bypass,
            bypass_oversized: scenario.bypass_oversized,
            prefix: scenario.requests,
        }
        .written(),
        claims: Claims {
            lower: solution.lower,
            upper: solution.upper,
            lower_scaled: solution.prices.bound(instance),
            price_bits: solution.prices.bits,
        },
    };
    let keep = decisions(instance, &solution.schedule);
    Certificate::new(header, &solution.prices.gaps, keep.into_iter())
}

/// Writes the [`certificate`] as one JSON document, a list a line.
///
/// # Errors
/// If `out` fails.
pub fn write(
    trace: &str,
    problem: &Problem,
    scenario: &Scenario,
    solution: &Solution,
    out: &mut dyn Write,
) -> io::Result<()> {
    let certificate = certificate(trace, problem, scenario, solution);
    write!(out, "{{\n  \"header\": ")?;
    serde_json::to_writer(&mut *out, &certificate.header)?;
    write!(out, ",\n  \"prices\": ")?;
    serde_json::to_writer(&mut *out, &certificate.prices)?;
    write!(out, ",\n  \"schedule\": ")?;
    serde_json::to_writer(&mut *out, &certificate.schedule)?;
    writeln!(out, ",\n  \"checksum\": \"{}\"\n}}", certificate.checksum)
}
