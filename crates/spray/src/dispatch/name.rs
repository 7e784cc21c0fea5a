//! Policies by name, with what is known of each without running it.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trueplane_units::{Choice as _, Datum, Listed, Name, Nanos, Value, choices, unexpected};

use super::{Adaptive, Dispatch, Flowlet, RoundRobin, Rss, RssPlusPlus, Spray, Subset, flowlet};

/// Properties of a policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether all packets of a flow always go to one core, whatever loads are told.
    pub whole_flows: bool,
    /// Whether the card shares out packets of TCP by their checksums.
    pub by_checksum: bool,
    /// Whether the program in the kernel has the policy.
    pub in_kernel: bool,
    /// Whether cards have the policy, by commands of `ethtool`.
    pub on_cards: bool,
}

impl Properties {
    const SIMULATED: Self =
        Self { whole_flows: false, by_checksum: false, in_kernel: false, on_cards: false };
    const LIVE: Self = Self { in_kernel: true, ..Self::SIMULATED };
    const HASHED: Self = Self { whole_flows: true, on_cards: true, ..Self::LIVE };
    const SPRAYED: Self = Self { by_checksum: true, ..Self::LIVE };
}

choices! {
    /// A dispatch policy, but for the number that `subset` has.
    pub enum PolicyName: Properties {
        /// By a hash that is the same for both directions of a connection.
        Rss = "rss" { ..Properties::HASHED },
        /// By the default hash of network cards; it may send the two directions to different cores.
        RssDefault = "rss:default" { ..Properties::HASHED },
        /// TCP by the last bits of its checksum, and everything else by hash.
        Spray = "spray" { on_cards: true, ..Properties::SPRAYED },
        /// One packet to each core in turn.
        RoundRobin = "round-robin" { ..Properties::LIVE },
        /// Each burst of a flow to one core; after a gap, the next burst may go to another core.
        Flowlet = "flowlet" { ..Properties::SIMULATED },
        /// Each flow sprayed over K cores; its hash selects them.
        Subset = "subset:K" { ..Properties::SPRAYED },
        /// By hash, but sprayed while one core is overloaded and another has room.
        Adaptive = "adaptive" { ..Properties::SPRAYED },
        /// By hash; rows of the hash table move from busy cores to idle ones.
        RssPlusPlus = "rss++" { ..Properties::LIVE },
    }
}

/// A dispatch policy with the number that `subset` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DispatchName {
    policy: PolicyName,
    /// Cores of a flow under `subset`, one at least; of other policies 0.
    cores: u16,
}

/// The prefix of the name of [`Subset`], before its number.
const SUBSET: &str = "subset:";

impl DispatchName {
    /// The policy of this name; for `subset`, that of two cores.
    pub const fn of(policy: PolicyName) -> Self {
        Self { policy, cores: if matches!(policy, PolicyName::Subset) { 2 } else { 0 } }
    }

    /// The policy [`Subset`] of so many cores for each flow, one at least.
    pub const fn subset(cores: u16) -> Self {
        Self { policy: PolicyName::Subset, cores: if cores == 0 { 1 } else { cores } }
    }

    /// All of them; of `subset`, that of two cores.
    pub fn all() -> impl Iterator<Item = Self> {
        PolicyName::ALL.iter().copied().map(Self::of)
    }

    /// The policy without its number.
    pub fn policy(self) -> PolicyName {
        self.policy
    }

    /// Cores over which [`Subset`] sprays a flow; 0 for other policies.
    pub fn subset_cores(self) -> usize {
        self.cores.into()
    }

    /// Properties of the policy: a subset of one core keeps flows whole.
    pub fn properties(self) -> Properties {
        let properties = self.policy.properties();
        match self.cores {
            1 => Properties { whole_flows: true, by_checksum: false, ..properties },
            _ => properties,
        }
    }

    /// Whether all packets of a flow always go to one of so many cores: what functions need that write a flow's state with every packet,
    /// for nothing moves that with the flow.
    pub fn keeps_flows_whole(self, cores: usize) -> bool {
        let is_one = self.policy == PolicyName::Subset && cores.min(self.subset_cores()) == 1;
        is_one || self.properties().whole_flows
    }
}

impl fmt::Display for DispatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            PolicyName::Subset => f.pad(&format!("{SUBSET}{}", self.cores)),
            policy => f.pad(policy.name()),
        }
    }
}

impl FromStr for DispatchName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let found = match name.strip_prefix(SUBSET) {
            Some(cores) if cores.starts_with(|c: char| c.is_ascii_digit()) => {
                cores.parse().ok().filter(|&cores| cores > 0).map(Self::subset)
            }
            Some(_) => None,
            None => PolicyName::from_name(&name).ok().map(Self::of),
        };
        found.ok_or_else(|| unexpected(Self::expected(), text))
    }
}

impl Serialize for DispatchName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DispatchName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Value for DispatchName {
    fn expected() -> String {
        PolicyName::expected()
    }

    fn names() -> Vec<Name> {
        PolicyName::names()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.to_string())
    }
}

impl Listed for DispatchName {
    fn usual() -> Vec<Self> {
        Self::all().collect()
    }
}

/// Parameters of dispatch policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchOptions {
    /// After a silence of more than this, [`Flowlet`] chooses a core anew.
    pub gap: Nanos,
}

impl Default for DispatchOptions {
    fn default() -> Self {
        Self { gap: flowlet::GAP }
    }
}

/// The policy of this name for so many cores, one at least and 128 at most.
pub fn dispatcher(name: DispatchName, cores: usize, options: &DispatchOptions) -> Box<dyn Dispatch> {
    match name.policy() {
        PolicyName::Rss => Box::new(Rss::symmetric(cores)),
        PolicyName::RssDefault => Box::new(Rss::default_key(cores)),
        PolicyName::Spray => Box::new(Spray::new(cores)),
        PolicyName::RoundRobin => Box::new(RoundRobin::new(cores)),
        PolicyName::Flowlet => Box::new(Flowlet::new(cores, options.gap)),
        PolicyName::Subset => Box::new(Subset::new(cores, name.subset_cores())),
        PolicyName::Adaptive => Box::new(Adaptive::new(cores)),
        PolicyName::RssPlusPlus => Box::new(RssPlusPlus::new(cores)),
    }
}
