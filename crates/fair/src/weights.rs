//! Weights of users, named on the command line or in a file.

use std::path::{Path, PathBuf};

use trueplane_study::Error;
use trueplane_trace::{Table, TableColumn};
use trueplane_units::{Datum, Value, unexpected};

use crate::cluster::MOST_WEIGHT;
use crate::workload::JobLog;

const COLUMNS: [TableColumn; 2] =
    [TableColumn { name: "user", required: true }, TableColumn { name: "weight", required: true }];
const USER: usize = 0;
const WEIGHT: usize = 1;

/// Weights as they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// A CSV file with the columns `user` and `weight`; `-` is standard input.
    File(PathBuf),
    /// `ann=2,bob=3`.
    Given(UserWeights),
}

/// Weights of users by name; who is not named weighs 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserWeights(pub Vec<(String, u32)>);

impl Weights {
    /// The weights, read if they are in a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no such file, or a weight is out of range.
    pub fn read(&self) -> Result<UserWeights, Error> {
        match self {
            Weights::File(path) => read(path),
            Weights::Given(weights) => Ok(weights.clone()),
        }
    }
}

impl Value for Weights {
    fn expected() -> String {
        "a file or weights such as ann=2,bob=3".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if !text.contains('=') {
            return if text.is_empty() {
                Err(unexpected(Self::expected(), text))
            } else {
                Ok(Self::File(text.into()))
            };
        }
        let user = |pair: &str| {
            let wrong =
                || unexpected(format!("a user and a weight from 1 to {MOST_WEIGHT} such as ann=2"), pair);
            let (name, weight) = pair.rsplit_once('=').ok_or_else(wrong)?;
            let weight: u32 = weight.trim().parse().map_err(|_| wrong())?;
            if name.trim().is_empty() || !(1..=MOST_WEIGHT).contains(&weight) {
                return Err(wrong());
            }
            Ok((name.trim().to_owned(), weight))
        };
        let named: Result<Vec<(String, u32)>, String> = text.split(',').map(user).collect();
        named.map(|named| Self::Given(UserWeights(named)))
    }

    fn show(&self) -> String {
        match self {
            Weights::File(path) => path.display().to_string(),
            Weights::Given(UserWeights(named)) => {
                named.iter().map(|(name, weight)| format!("{name}={weight}")).collect::<Vec<_>>().join(",")
            }
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }

    fn absent() -> Option<Self> {
        Some(Self::Given(UserWeights::default()))
    }
}

fn read(path: &Path) -> Result<UserWeights, Error> {
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
    Ok(UserWeights(weights))
}

impl UserWeights {
    /// The weight of every user of `log`.
    ///
    /// # Errors
    ///
    /// The log has no such user, one is named twice, or a weight is out of range.
    pub fn of(&self, log: &JobLog) -> Result<Vec<u32>, Error> {
        let mut weights = vec![None; log.users.len()];
        let places: std::collections::HashMap<&str, usize> =
            log.users.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        for (name, weight) in &self.0 {
            let place = places.get(name.as_str()).ok_or_else(|| {
                Error::Parameters(format!("--weights: {} has no user \"{name}\"", log.name))
            })?;
            if *weight == 0 || *weight > MOST_WEIGHT {
                return Err(Error::Parameters(format!(
                    "--weights: expected weights from 1 to {MOST_WEIGHT}, found {weight} for \"{name}\""
                )));
            }
            if weights[*place].replace(*weight).is_some() {
                return Err(Error::Parameters(format!("--weights: \"{name}\" is named twice")));
            }
        }
        Ok(weights.into_iter().map(|weight| weight.unwrap_or(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::tests::log;

    #[test]
    fn weights_are_of_users_of_the_log() {
        let of = |named: &[(&str, u32)]| {
            let weights =
                UserWeights(named.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect());
            weights.of(&log()).map_err(|error| error.to_string())
        };
        assert_eq!(of(&[("b", 3)]), Ok(vec![1, 3]));
        assert!(of(&[("c", 3)]).unwrap_err().contains("no user \"c\""));
        assert!(of(&[("a", 0)]).unwrap_err().contains("from 1 to 65536"));
        assert!(of(&[("a", 1), ("a", 2)]).unwrap_err().contains("named twice"));
    }

    #[test]
    fn weights_are_given_or_in_a_file() {
        let given = |named: &[(&str, u32)]| {
            let named = named.iter().map(|&(name, weight)| (name.to_owned(), weight));
            Ok(Weights::Given(UserWeights(named.collect())))
        };
        assert_eq!(Weights::parse("ann=2,b=c=3"), given(&[("ann", 2), ("b=c", 3)]));
        assert_eq!(Weights::parse("w.csv"), Ok(Weights::File("w.csv".into())));
        for bad in ["a=", "a=0", "=1", "a=65537", "a=1,", "a=1.5", ""] {
            assert!(Weights::parse(bad).is_err(), "{bad}");
        }
    }
}
