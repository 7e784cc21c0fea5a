//! Policies by name, with what is known of each without running it.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use trueplane_units::{Choice as _, Datum, Listed, Name, Nanos, Value, choices, unexpected};

use super::{Adaptive, Dispatch, Flowlet, RoundRobin, Rss, RssPlusPlus, Spray, Subset, flowlet};

/// Properties of a policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether all packets of a flow always go to one core, whatever loads are told.
    pub whole_flows: bool,
    /// Whether the card shares out packets of TCP by their checksums.
    pub by_checksum: bool,
    /// Whether the eBPF program has it, so that it shares out live packets.
    pub in_kernel: bool,
    /// Whether there are cards that have it.
    pub on_cards: bool,
}

impl Properties {
    const NONE: Self = Self { whole_flows: false, by_checksum: false, in_kernel: true, on_cards: false };
    const HASHED: Self = Self { whole_flows: true, on_cards: true, ..Self::NONE };
    const SPRAYED: Self = Self { by_checksum: true, ..Self::NONE };
}

choices! {
    /// A dispatch policy, but for the number that `subset` has.
    pub enum PolicyName: Properties {
        /// By one hash for both directions of a connection.
        Rss = "rss" { ..Properties::HASHED },
        /// By the hash that cards have from the factory: the directions are scattered.
        RssDefault = "rss:default" { ..Properties::HASHED },
        /// TCP by the last bits of its checksum, all else by hash.
        Spray = "spray" { on_cards: true, ..Properties::SPRAYED },
        /// One packet to each core in turn.
        RoundRobin = "round-robin" { ..Properties::NONE },
        /// A burst of a flow to one core; after a gap the next burst may go elsewhere.
        Flowlet = "flowlet" { in_kernel: false, ..Properties::NONE },
        /// Each flow sprayed over K cores, which its hash chooses.
        Subset = "subset:K" { ..Properties::SPRAYED },
        /// By hash, until a core drowns while another has room.
        Adaptive = "adaptive" { ..Properties::SPRAYED },
        /// By hash, whose rows move from busy cores to idle ones.
        RssPlusPlus = "rss++" { ..Properties::NONE },
    }
}

/// A dispatch policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DispatchName {
    /// [`Rss::symmetric`].
    Rss,
    /// [`Rss::default_key`].
    RssDefault,
    /// The policy [`Spray`].
    Spray,
    /// The policy [`RoundRobin`].
    RoundRobin,
    /// The policy [`Flowlet`].
    Flowlet,
    /// The policy [`Subset`] of so many cores for each flow, one at least.
    Subset(u16),
    /// The policy [`Adaptive`].
    Adaptive,
    /// The policy [`RssPlusPlus`].
    RssPlusPlus,
}

/// The prefix of the name of [`Subset`], before its number.
const SUBSET: &str = "subset:";

impl DispatchName {
    /// All of them; of `subset`, that of two cores.
    pub fn all() -> impl Iterator<Item = Self> {
        PolicyName::ALL.iter().copied().map(Self::from)
    }

    /// The policy without its number.
    pub fn policy(self) -> PolicyName {
        match self {
            Self::Rss => PolicyName::Rss,
            Self::RssDefault => PolicyName::RssDefault,
            Self::Spray => PolicyName::Spray,
            Self::RoundRobin => PolicyName::RoundRobin,
            Self::Flowlet => PolicyName::Flowlet,
            Self::Subset(_) => PolicyName::Subset,
            Self::Adaptive => PolicyName::Adaptive,
            Self::RssPlusPlus => PolicyName::RssPlusPlus,
        }
    }

    /// Properties of the policy: a subset of one core is hashing.
    pub fn properties(self) -> Properties {
        match self {
            Self::Subset(1) => Properties::HASHED,
            name => name.policy().properties(),
        }
    }

    /// Whether all packets of a flow always go to one of so many cores: what functions need that write a flow's state with every packet,
    /// for nothing moves that with the flow.
    pub fn keeps_flows_whole(self, cores: usize) -> bool {
        let is_one = matches!(self, Self::Subset(of) if cores.min(of.into()) == 1);
        is_one || self.properties().whole_flows
    }
}

/// The policy of this name; for `subset`, that of two cores.
impl From<PolicyName> for DispatchName {
    fn from(policy: PolicyName) -> Self {
        match policy {
            PolicyName::Rss => Self::Rss,
            PolicyName::RssDefault => Self::RssDefault,
            PolicyName::Spray => Self::Spray,
            PolicyName::RoundRobin => Self::RoundRobin,
            PolicyName::Flowlet => Self::Flowlet,
            PolicyName::Subset => Self::Subset(2),
            PolicyName::Adaptive => Self::Adaptive,
            PolicyName::RssPlusPlus => Self::RssPlusPlus,
        }
    }
}

impl fmt::Display for DispatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subset(cores) => f.pad(&format!("{SUBSET}{cores}")),
            name => f.pad(name.policy().name()),
        }
    }
}

impl FromStr for DispatchName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let found = match name.strip_prefix(SUBSET) {
            Some(cores) if cores.starts_with(|c: char| c.is_ascii_digit()) => {
                cores.parse().ok().filter(|&cores| cores > 0).map(Self::Subset)
            }
            Some(_) => None,
            None => PolicyName::from_name(&name).ok().map(Self::from),
        };
        found.ok_or_else(|| unexpected(Self::expected(), text))
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

/// A place where live packets are shared out, which not every policy can be at.
pub trait Place: Copy + Eq + fmt::Debug + Send + Sync + 'static {
    /// Whether a policy with these properties can be there.
    fn has(properties: Properties) -> bool;
}

/// The eBPF program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel;

impl Place for Kernel {
    fn has(properties: Properties) -> bool {
        properties.in_kernel
    }
}

/// A card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card;

impl Place for Card {
    fn has(properties: Properties) -> bool {
        properties.on_cards
    }
}

/// A dispatch policy that can be at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At<P>(DispatchName, PhantomData<P>);

impl<P: Place> At<P> {
    /// The policy, if it can be there.
    pub fn new(name: DispatchName) -> Option<Self> {
        P::has(name.policy().properties()).then_some(Self(name, PhantomData))
    }

    /// The policy.
    pub fn get(self) -> DispatchName {
        self.0
    }
}

impl<P: Place> Value for At<P> {
    fn expected() -> String {
        let names: Vec<&str> = Self::names().iter().map(|name| name.name).collect();
        format!("one of {}", names.join(", "))
    }

    fn names() -> Vec<Name> {
        let has =
            |name: &Name| PolicyName::from_name(name.name).is_ok_and(|policy| P::has(policy.properties()));
        PolicyName::names().into_iter().filter(has).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let name = text.parse().ok().and_then(Self::new);
        name.ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn datum(&self) -> Datum {
        self.0.datum()
    }
}

impl<P: Place> Listed for At<P> {
    fn usual() -> Vec<Self> {
        DispatchName::usual().into_iter().filter_map(Self::new).collect()
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
    match name {
        DispatchName::Rss => Box::new(Rss::symmetric(cores)),
        DispatchName::RssDefault => Box::new(Rss::default_key(cores)),
        DispatchName::Spray => Box::new(Spray::new(cores)),
        DispatchName::RoundRobin => Box::new(RoundRobin::new(cores)),
        DispatchName::Flowlet => Box::new(Flowlet::new(cores, options.gap)),
        DispatchName::Subset(of) => Box::new(Subset::new(cores, of.into())),
        DispatchName::Adaptive => Box::new(Adaptive::new(cores)),
        DispatchName::RssPlusPlus => Box::new(RssPlusPlus::new(cores)),
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Choices;

    use super::*;

    #[test]
    fn a_place_has_only_its_policies() {
        let refused = <At<Kernel>>::parse("flowlet").unwrap_err();
        assert_eq!(
            refused,
            "expected one of rss, rss:default, spray, round-robin, subset:K, adaptive, rss++, got \"flowlet\""
        );
        assert_eq!(<At<Card>>::expected(), "one of rss, rss:default, spray");
        assert_eq!(<At<Kernel>>::parse("subset:3").map(At::get), Ok(DispatchName::Subset(3)));
        let all = <Choices<At<Kernel>>>::parse("all").unwrap().show();
        assert_eq!(all, "rss,rss:default,spray,round-robin,subset:2,adaptive,rss++");
    }
}
