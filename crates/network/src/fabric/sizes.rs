//! Flow sizes as people name them.

use std::fmt;
use std::fs::File;

use trueplane_units::{Datum, Value, unexpected};

use crate::simulator::Sizes;

/// The text that names flow sizes: a published distribution, or the path of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizesName(String);

impl SizesName {
    /// The name for titles.
    pub fn title(&self) -> &str {
        &self.0
    }

    /// The sizes that it names.
    ///
    /// # Errors
    ///
    /// In one line, if there is no such file or it is no such table.
    pub fn read(&self) -> Result<Sizes, String> {
        match self.title() {
            "web-search" => Ok(Sizes::web_search()),
            "data-mining" => Ok(Sizes::data_mining()),
            path => {
                let file =
                    File::open(path).map_err(|error| format!("{path}: {error}; {}", Self::expected()))?;
                Sizes::read(file).map_err(|error| format!("{path}: {error}"))
            }
        }
    }
}

impl fmt::Display for SizesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

impl Value for SizesName {
    fn expected() -> String {
        "expected web-search, data-mining or the path of a CSV file with the columns bytes and cdf".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(unexpected(Self::expected(), text)) } else { Ok(Self(text.to_owned())) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.0.clone())
    }
}
