//! Dispatch policies that a place has: commands name only those that they can do something with.

use std::marker::PhantomData;

use trueplane_units::{Datum, Listed, Name, Value, choice, unexpected};

use super::{DispatchName, PolicyName, Properties};

/// A place where packets are shared out. The simulator has all policies; other places have some.
pub trait Place: Copy + Eq {
    /// Whether the place has a policy with these properties.
    fn has(properties: Properties) -> bool;
}

/// The program in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel;

impl Place for Kernel {
    fn has(properties: Properties) -> bool {
        properties.in_kernel
    }
}

/// A card that `ethtool` configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card;

impl Place for Card {
    fn has(properties: Properties) -> bool {
        properties.on_cards
    }
}

/// A dispatch policy that a place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On<P> {
    name: DispatchName,
    place: PhantomData<P>,
}

impl<P> On<P> {
    /// The policy.
    pub fn name(self) -> DispatchName {
        self.name
    }
}

impl<P: Place> On<P> {
    /// The policy, if the place has it.
    pub fn new(name: DispatchName) -> Option<Self> {
        P::has(name.policy().properties()).then_some(Self { name, place: PhantomData })
    }
}

impl<P: Place> Value for On<P> {
    fn expected() -> String {
        choice::one_of(Self::names().iter().map(|name| name.name))
    }

    fn names() -> Vec<Name> {
        let names = PolicyName::ALL.iter().zip(PolicyName::names());
        names.filter(|(policy, _)| P::has(policy.properties())).map(|(_, name)| name).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().ok().and_then(Self::new).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.name.show()
    }

    fn datum(&self) -> Datum {
        self.name.datum()
    }
}

impl<P: Place> Listed for On<P> {
    fn usual() -> Vec<Self> {
        DispatchName::usual().into_iter().filter_map(Self::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Choices;

    use super::*;

    #[test]
    fn a_place_has_only_its_policies() {
        assert_eq!(On::<Card>::expected(), "one of rss, rss:default, spray");
        assert_eq!(
            On::<Kernel>::expected(),
            "one of rss, rss:default, spray, round-robin, subset:K, adaptive, rss++"
        );
        assert_eq!(On::<Kernel>::parse("subset:3").map(On::name), Ok(DispatchName::subset(3)));
        let all = Choices::<On<Kernel>>::parse("all").unwrap().show();
        assert_eq!(all, "rss,rss:default,spray,round-robin,subset:2,adaptive,rss++");
        assert!(On::<Kernel>::parse("flowlet").is_err() && On::<Card>::parse("subset:1").is_err());
    }
}
