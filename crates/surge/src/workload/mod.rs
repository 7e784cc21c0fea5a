//! Where the packets of users come from.
//!
//! 1. [`Workload`]: what was asked for, as people write it: `iid:…`, `trace:jobs.csv`.
//! 2. [`Source`]: packets with what serving them takes; the same for the same seed. [`open`]: one of any kind.
//! 3. [`iid`]: drawn ones. [`trace`]: those of a file. [`reassembly`], [`matching`]: those of an application.
//! 4. [`arrivals`]: when they come. [`size`]: how big a packet is, as people write it.

pub mod arrivals;
pub mod iid;
pub mod matching;
pub mod open;
pub mod reassembly;
pub mod size;
pub mod source;
pub mod trace;

use std::path::PathBuf;
use std::str::FromStr;

use trueplane_trace::name_of;
use trueplane_units::{Datum, Nanos, Value, unexpected};

use crate::application::{Application, Given};
use crate::reassembly::Innocent;
use crate::theory::Job;
use crate::traffic::Offered;
use iid::Iid;
use source::{Drawn, Source};

/// Largest job of an attack packet where no application determines it: a millisecond, or as long as the longest job that was drawn.
const LARGEST_JOB: Nanos = Nanos(1_000_000);

impl Source for Iid {
    type Application = Given;

    fn largest_job(&self) -> Option<Nanos> {
        Some(LARGEST_JOB)
    }

    fn application(&self) -> Given {
        Given
    }

    fn draw(&self, seed: u64) -> Drawn<<Given as Application>::Packet> {
        Drawn { packets: Iid::draw(self, seed).into(), times: None }
    }

    /// Packets are collected, copied to where they are shared, and profiled.
    fn bytes(&self) -> u64 {
        let each = size_of::<Offered<<Given as Application>::Packet>>().max(size_of::<Job>());
        self.packets.saturating_mul(2 * each as u64)
    }

    fn is_random(&self) -> bool {
        true
    }
}

/// A workload as people name it.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// Drawn packets.
    Iid(Iid),
    /// The packets of a file, each with what it takes; `-` is standard input.
    Trace(PathBuf),
    /// The packets of a capture, to be reassembled.
    Reassembly(PathBuf),
    /// Drawn ones, to be reassembled.
    Generated(Innocent),
    /// The packets of a capture, to be matched against rules.
    Match(PathBuf),
}

/// Forms of a workload, for errors.
const KNOWN: &str = "iid:…, trace:FILE, reassembly:FILE, reassembly:generated or match:FILE";

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let file = || match rest {
            "" => Err(format!("expected a file after {kind}:, got \"{text}\"")),
            file => Ok(PathBuf::from(file)),
        };
        match kind {
            "iid" => rest.parse().map(Workload::Iid),
            "trace" => file().map(Workload::Trace),
            "reassembly" => match rest.strip_prefix("generated") {
                Some("") => Ok(Workload::Generated(Innocent::default())),
                Some(choices) if choices.starts_with(',') => {
                    reassembly::generated(choices).map(Workload::Generated)
                }
                _ => file().map(Workload::Reassembly),
            },
            "match" => file().map(Workload::Match),
            _ => Err(unexpected(KNOWN, text) + &meant(text)),
        }
    }
}

/// What somebody meant who gives a file alone.
fn meant(text: &str) -> String {
    match text {
        capture if capture.contains(".pcap") => {
            format!(": a capture is reassembly:{capture} or match:{capture}")
        }
        file if file.contains('.') => format!(": a log of jobs is trace:{file}"),
        _ => String::new(),
    }
}

impl Workload {
    /// The name for titles.
    fn title(&self) -> String {
        match self {
            Workload::Iid(_) => "packets drawn independently".to_owned(),
            Workload::Generated(_) => "innocent flows".to_owned(),
            Workload::Trace(path) | Workload::Reassembly(path) | Workload::Match(path) => name_of(path),
        }
    }
}

/// A workload with the text that names it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadName {
    text: String,
    workload: Workload,
}

impl WorkloadName {
    /// The workload.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The name for titles.
    pub fn title(&self) -> String {
        self.workload.title()
    }
}

/// One that is not given is a file without a name.
impl Value for WorkloadName {
    fn expected() -> String {
        KNOWN.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.to_owned(), workload: text.parse()? })
    }

    fn show(&self) -> String {
        self.text.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.text.clone())
    }

    fn absent() -> Option<Self> {
        Some(Self { text: String::new(), workload: Workload::Trace(PathBuf::new()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_have_names() {
        let parsed = |text: &str| text.parse::<Workload>();
        assert_eq!(parsed("iid"), parsed("iid:"));
        assert_eq!(parsed("trace:-"), Ok(Workload::Trace("-".into())));
        assert_eq!(parsed("match:a:b.pcap"), Ok(Workload::Match("a:b.pcap".into())));
        assert_eq!(parsed("reassembly:generated.pcap"), Ok(Workload::Reassembly("generated.pcap".into())));
        let generated = parsed("reassembly:generated,flows=7,packets=2K,late=5%,overtaken=9");
        let expected = Innocent { flows: 7, packets: 2_000, late: 0.05, overtaken: 9, ..Innocent::default() };
        assert_eq!(generated, Ok(Workload::Generated(expected)));
        for (bad, said) in [
            ("", "expected iid:…, trace:FILE, reassembly:FILE, reassembly:generated or match:FILE, got \"\""),
            ("jobs.csv", "got \"jobs.csv\": a log of jobs is trace:jobs.csv"),
            ("a.pcap.gz", ": a capture is reassembly:a.pcap.gz or match:a.pcap.gz"),
            ("trace:", "expected a file after trace:"),
            ("match", "expected a file after match:"),
            ("reassembly:generated,flows=0", "expected 1 to 1048576 flows"),
            ("reassembly:generated,late=much", "expected a share such as 1%, got \"much\""),
            ("reassembly:generated,late=101%", "expected a share such as 1%, got \"101%\""),
            ("reassembly:generated,size=1", "got \"size=1\""),
        ] {
            let error = parsed(bad).expect_err(bad);
            assert!(error.contains(said), "{bad}: {error}");
        }
    }
}
