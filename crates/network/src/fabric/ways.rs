//! Rules for ways and links as people name them.

use trueplane_units::{Datum, Nanos, Value, unexpected};

use crate::simulator::{Named, Spread};

/// The text before the pause that ends a flowlet.
const FLOWLET: &str = "flowlet:";
/// The text before a number of paths.
const PATHS: &str = "paths:";
/// Paths of a flow, at most.
const MOST_PATHS: u32 = 64;

/// How packets are spread over the ways to their host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balancing(pub Spread);

impl Value for Balancing {
    fn expected() -> String {
        format!("hash, spray, flowlet:GAP such as flowlet:100us, or paths:K with K from 1 to {MOST_PATHS}")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let spread = match text {
            "hash" => Some(Spread::Hash),
            "spray" => Some(Spread::Spray),
            _ => {
                let gap = text.strip_prefix(FLOWLET).and_then(|gap| gap.parse::<Nanos>().ok());
                let paths = text.strip_prefix(PATHS).and_then(|paths| paths.parse::<u32>().ok());
                let paths = paths.filter(|paths| (1..=MOST_PATHS).contains(paths));
                gap.map(Spread::Flowlet).or(paths.map(Spread::Paths))
            }
        };
        spread.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        match self.0 {
            Spread::Hash => "hash".to_owned(),
            Spread::Spray => "spray".to_owned(),
            Spread::Flowlet(gap) => format!("{FLOWLET}{}", gap.show()),
            Spread::Paths(most) => format!("{PATHS}{most}"),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

/// The text that names a link in one direction: the nodes at its beginning and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkName(String);

impl LinkName {
    /// The number of the link; of several between two nodes, the first.
    ///
    /// # Errors
    ///
    /// In one line, if there is no such link.
    pub fn find(&self, network: &Named) -> Result<u32, String> {
        let nodes = network.nodes();
        let node = |name: &str| nodes.get(name).copied();
        // Names may have dashes, too.
        let links = network.topology.links();
        let place = self.splits().find_map(|(from, to)| {
            let ends = (node(from)?, node(to)?);
            links.iter().position(|link| (link.from, link.to) == ends)
        });
        place.map(|place| place as u32).ok_or_else(|| {
            let first = links.first().map_or_else(String::new, |link| {
                format!(" such as {}-{}", network.name(link.from), network.name(link.to))
            });
            unexpected(format!("a link of the network{first}"), &self.0)
        })
    }

    /// The text before and behind each dash.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.match_indices('-').map(|(place, _)| (&self.0[..place], &self.0[place + 1..]))
    }
}

impl Value for LinkName {
    fn expected() -> String {
        "two nodes with a dash between them, such as 0-leaf0".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let name = Self(text.to_owned());
        let is_name = name.splits().any(|(from, to)| !from.is_empty() && !to.is_empty());
        if is_name { Ok(name) } else { Err(unexpected(Self::expected(), text)) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.0.clone())
    }
}
