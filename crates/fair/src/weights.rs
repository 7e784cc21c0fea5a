//! Weights of users from a file.

use std::path::Path;

use trueplane_study::Error;
use trueplane_trace::{Table, TableColumn};

use crate::cluster::MOST_WEIGHT;
use crate::options::Weights;

const COLUMNS: [TableColumn; 2] =
    [TableColumn { name: "user", required: true }, TableColumn { name: "weight", required: true }];
const USER: usize = 0;
const WEIGHT: usize = 1;

impl Weights {
    /// The weights in the CSV file at `path`, with the columns `user` and `weight`; `-` is standard input.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no such file, or a weight is out of range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut table = Table::open(path, &COLUMNS)?;
        let mut weights = Vec::new();
        while table.advance()? {
            let user = table.cell(USER).map(String::from_utf8_lossy).unwrap_or_default();
            let weight = table.whole(WEIGHT).and_then(|weight| u32::try_from(weight).ok());
            let weight = weight
                .filter(|weight| (1..=MOST_WEIGHT).contains(weight))
                .ok_or_else(|| table.expected(&format!("a weight from 1 to {MOST_WEIGHT}"), WEIGHT))?;
            weights.push((user.into_owned(), weight));
        }
        Ok(Self(weights))
    }
}
