//! `cache check`: verifies certificates of `cache bound`, both bounds anew, from the requests, in integers.
//!
//! A certificate holds a price for every gap between requests, which prove the lower bound, and a schedule, which has the
//! upper one. Nothing here comes from the solver (neither `bound` nor `belatedly`): the rules
//! are worked out once more, in another form, so that a mistake would have to be made twice to go unseen. What is
//! shared is the reader of traces, and [`Latency`](super::latency::Latency), which belongs to the workload.
//!
//! 1. [`mod@format`]: the document, its canonical form and its checksum.
//! 2. [`workload`]: the requests, and whether they are the certified ones.
//! 3. [`upper`]: the schedule, followed request by request. [`lower`]: what the prices prove, object by object.
//! 4. `refusal`: why one does not hold. [`verify`]: one after the other; [`CheckedCertificate`] is what came out.
//!
//! What a certificate claims is never trusted: the memory taken is proportional to the trace, at most 128 B of text and
//! about 150 B of numbers for each request.

pub mod format;
pub mod found;
pub mod lower;
pub mod options;
mod page;
mod refusal;
mod run;
pub mod upper;
mod verdict;
pub mod workload;

use trueplane_study::{Error, Observer, Page, Study, Threads};

pub use self::format::{Certificate, Header};
pub use self::found::CheckedCertificate;
pub use self::options::Options;
pub use self::refusal::Refusal;
pub use self::run::verify;
use crate::BELIEF;

/// The study.
#[derive(Debug)]
pub struct Check;

impl Study for Check {
    const NAME: &'static str = "cache.check";
    const ABOUT: &'static str = "
        Verify a certificate of trueplane cache bound: compute both bounds again from the trace.

        The check uses integers, and none of the solver's code. The certificate contains the settings of the cache. Give the same flags for
        reading the trace as to cache bound: a certificate for other requests is refused.

        The exit status is 0 if both bounds are true. It is 2 if the certificate is refused; one line then says why.";
    const EXAMPLES: &'static str = "\
        trueplane cache bound examples/cdn-200k.csv.zst --latency 10ms --capacity 500 --certificate proof.json.zst
        trueplane cache check proof.json.zst examples/cdn-200k.csv.zst
        trueplane cache check proof.json.zst examples/cdn-200k.csv.zst --columns time=time_ns,key=key --time-unit ns --json";
    const BELIEF: &'static str = BELIEF;
    const THREADS: Threads = Threads::One;

    type Options = Options;
    type Found = CheckedCertificate;

    fn title(options: &Options) -> String {
        format!("What is certified: {}", options.name())
    }

    fn run(options: &Options, observer: &dyn Observer) -> Result<CheckedCertificate, Error> {
        run::run(options, observer)
    }

    fn present(_: &Options, found: &CheckedCertificate, page: &mut Page) {
        page::present(found, page);
    }

    fn verdict(_: &Options, found: &CheckedCertificate) -> Vec<String> {
        verdict::verdict(found)
    }

    fn advice(_: &Options, _: &CheckedCertificate) -> String {
        String::new()
    }
}
