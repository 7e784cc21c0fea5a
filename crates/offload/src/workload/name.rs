//! A workload as people write it.

use std::fmt;

use trueplane_units::{Datum, Value, unexpected};

use super::zipf::{PREFIX, Zipf};

/// The text that names a workload: a generator `zipf:…` ([`Zipf`]), or the path of a trace, `-` being standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadName(String);

impl WorkloadName {
    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The name for titles.
    pub fn title(&self) -> &str {
        if self.0 == "-" { "stdin" } else { &self.0 }
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One that is not given is empty.
impl Value for WorkloadName {
    fn expected() -> String {
        "a generator such as zipf:0.99,keys=1M,seconds=3, or the path of a trace".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(unexpected(Self::expected(), text));
        }
        if let Some(zipf) = text.strip_prefix(PREFIX) {
            zipf.parse::<Zipf>().map_err(|problem| format!("{text}: {problem}"))?;
        }
        Ok(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.0.clone())
    }

    fn absent() -> Option<Self> {
        Some(Self(String::new()))
    }
}
