//! Where the packets of an attack come from: `--attack`.

use std::path::PathBuf;

use trueplane_units::{Choice as _, Datum, Name, Value, choice, choices, unexpected};

choices! {
    /// The way to choose the packets of an attack.
    pub enum AttackMethod {
        /// By theory: for each policy and rate, the worst attack that is sent evenly for a long time.
        Optimal = "optimal",
        /// By trying: the worst of --trials attacks on this run, bursts among them; the first one is the optimal attack.
        Search = "search",
        /// The smallest packet with the largest job, for any policy.
        Largest = "largest",
        /// Real packets, which only reassembly and match have.
        Own = "own",
    }
}

/// The source of the packets of an attack: a method, or an earlier study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttackSource {
    /// A method, tried in this study.
    Method(AttackMethod),
    /// The file of an earlier study.
    File(PathBuf),
}

const FILE: &str = "file:";

impl Value for AttackSource {
    fn expected() -> String {
        choice::one_of(Self::names().iter().map(|name| name.name))
    }

    fn names() -> Vec<Name> {
        let file = Name {
            name: "file:FOUND.json",
            about: "What an earlier study with --json sent against each policy at each pair of rates.",
            in_all: true,
        };
        AttackMethod::names().into_iter().chain([file]).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix(FILE) {
            Some("") => Err(unexpected(format!("a file after {FILE}"), text)),
            Some(path) => Ok(AttackSource::File(path.into())),
            None => {
                let method = AttackMethod::from_name(text).map(AttackSource::Method);
                method.map_err(|_| unexpected(Self::expected(), text))
            }
        }
    }

    fn show(&self) -> String {
        match self {
            AttackSource::Method(method) => method.name().to_owned(),
            AttackSource::File(path) => format!("{FILE}{}", path.display()),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_come_from_a_method_or_a_file() {
        for text in ["optimal", "search", "largest", "own", "file:found.json"] {
            assert_eq!(AttackSource::parse(text).unwrap().show(), text);
        }
        assert_eq!(AttackSource::parse("file:").unwrap_err(), "expected a file after file:, got \"file:\"");
        let names: Vec<&str> = AttackSource::names().iter().map(|name| name.name).collect();
        assert_eq!(names, ["optimal", "search", "largest", "own", "file:FOUND.json"]);
    }
}
