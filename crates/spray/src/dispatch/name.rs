//! Policies by their names.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use trueplane_units::Nanos;

use super::{Adaptive, Dispatch, Flowlet, RoundRobin, Rss, RssPlusPlus, Spray, Subset, flowlet};

/// A dispatch policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DispatchName {
    /// [`Rss::symmetric`].
    Rss,
    /// [`Rss::default_key`].
    RssDefault,
    /// [`Spray`].
    Spray,
    /// [`RoundRobin`].
    RoundRobin,
    /// [`Flowlet`].
    Flowlet,
    /// [`Subset`] of so many cores for each flow, one at least.
    Subset(u16),
    /// [`Adaptive`].
    Adaptive,
    /// [`RssPlusPlus`].
    RssPlusPlus,
}

/// The names as they are written, for help and errors.
pub const DISPATCH_NAMES: &str = "rss, rss:default, spray, round-robin, flowlet, subset:K, adaptive, rss++";

impl DispatchName {
    /// All of them; of `subset`, that of two cores.
    pub const ALL: [Self; 8] = [
        Self::Rss,
        Self::RssDefault,
        Self::Spray,
        Self::RoundRobin,
        Self::Flowlet,
        Self::Subset(2),
        Self::Adaptive,
        Self::RssPlusPlus,
    ];
}

impl fmt::Display for DispatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rss => "rss",
            Self::RssDefault => "rss:default",
            Self::Spray => "spray",
            Self::RoundRobin => "round-robin",
            Self::Flowlet => "flowlet",
            Self::Subset(cores) => return f.pad(&format!("subset:{cores}")),
            Self::Adaptive => "adaptive",
            Self::RssPlusPlus => "rss++",
        })
    }
}

impl FromStr for DispatchName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = match text.strip_prefix("subset:") {
            Some(cores) => cores.parse().ok().filter(|&cores| cores > 0).map(Self::Subset),
            None => Self::ALL.into_iter().find(|name| name.to_string() == text),
        };
        found.ok_or_else(|| format!("expected a dispatch policy ({DISPATCH_NAMES}), found \"{text}\""))
    }
}

impl Serialize for DispatchName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What policies can be told.
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
