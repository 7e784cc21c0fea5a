//! The resources that count, and the units in which they are counted.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use trueplane_fair::workload::kubernetes::{Amounts, Quantity};

use crate::admission::MOST_AMOUNT;

/// Billionths in one.
const BILLION: u128 = 1_000_000_000;

/// Nodes that are counted by themselves, such as those with a model of GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flavor {
    /// Its name.
    pub name: String,
    /// The labels that its nodes have. Pods are of the flavor if they ask for all of these labels with their node selector.
    pub labels: BTreeMap<String, String>,
}

/// Several flavors, as people write them: `a100:gpu=a100,zone=west,h100:gpu=h100` are two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flavors(pub Vec<Flavor>);

impl FromStr for Flavors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut flavors: Vec<Flavor> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let wrong = || format!("expected a flavor such as a100:gpu=a100, got {part:?}");
            let (name, label) = match part.split_once(':') {
                Some((name, label)) => (Some(name.trim()), label),
                None => (None, part),
            };
            let (key, value) = label.split_once('=').ok_or_else(wrong)?;
            if let Some(name) = name {
                flavors.push(Flavor { name: name.to_owned(), labels: BTreeMap::new() });
            }
            let flavor = flavors.last_mut().ok_or_else(wrong)?;
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            if flavor.name.is_empty() || key.is_empty() || flavor.labels.insert(key, value).is_some() {
                return Err(wrong());
            }
        }
        Ok(Self(flavors))
    }
}

impl fmt::Display for Flavors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for flavor in &self.0 {
            for (place, (key, value)) in flavor.labels.iter().enumerate() {
                let (name, colon) = if place == 0 { (flavor.name.as_str(), ":") } else { ("", "") };
                write!(f, "{separator}{name}{colon}{key}={value}")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

/// The resources that count: thousandths of a core of `cpu`, KiB of `memory` and of storage, and whole ones of all others.
///
/// With flavors, each resource counts once for each flavor, as `a100:cpu`, and once for the nodes of no flavor, as `cpu`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceNames {
    /// The names without flavors.
    plain: Vec<String>,
    flavors: Vec<Flavor>,
    /// All names: the plain ones, and then those of each flavor.
    names: Vec<String>,
}

impl ResourceNames {
    /// These resources, without flavors.
    ///
    /// # Errors
    ///
    /// There are none, or one is there twice or has no name.
    pub fn new(names: Vec<String>) -> Result<Self, String> {
        let is_wrong = |(place, name): (usize, &String)| name.is_empty() || names[..place].contains(name);
        if names.is_empty() || names.iter().enumerate().any(is_wrong) {
            return Err(format!(
                "expected different names of resources such as cpu,memory, got {:?}",
                names.join(",")
            ));
        }
        Ok(Self { plain: names.clone(), flavors: Vec::new(), names })
    }

    /// The same resources, with these flavors.
    ///
    /// # Errors
    ///
    /// Two flavors have one name.
    pub fn with_flavors(mut self, Flavors(flavors): Flavors) -> Result<Self, String> {
        for (place, flavor) in flavors.iter().enumerate() {
            if flavors[..place].iter().any(|other| other.name == flavor.name) {
                return Err(format!("expected different names of flavors, got {} twice", flavor.name));
            }
        }
        let of_flavor = |flavor: &Flavor| -> Vec<String> {
            self.plain.iter().map(|name| format!("{}:{name}", flavor.name)).collect()
        };
        self.names = self.plain.iter().cloned().chain(flavors.iter().flat_map(of_flavor)).collect();
        self.flavors = flavors;
        Ok(self)
    }

    /// The names of all that counts: those of nodes without a flavor first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of resources of each flavor.
    pub fn of_flavor(&self) -> usize {
        self.plain.len()
    }

    /// The number of a flavor: 0 if the labels are of none, else 1 and more for the first one all of whose labels are there.
    pub fn flavor<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> usize {
        let is_it = |flavor: &Flavor| {
            flavor.labels.iter().all(|(key, value)| label(key).is_some_and(|found| found == value))
        };
        self.flavors.iter().position(is_it).map_or(0, |place| place + 1)
    }

    /// The place of a resource of a flavor among the [names](Self::names).
    pub fn place(&self, flavor: Option<&str>, resource: &str) -> Option<usize> {
        let flavor = match flavor {
            None => 0,
            Some(flavor) => self.flavors.iter().position(|one| one.name == flavor)? + 1,
        };
        let place = self.plain.iter().position(|name| name == resource)?;
        Some(flavor * self.plain.len() + place)
    }

    /// The same amounts of another flavor.
    pub fn moved(&self, amounts: &[u64], flavor: usize) -> Vec<u64> {
        let count = self.plain.len();
        let mut moved = vec![0u64; self.names.len()];
        for (place, &amount) in amounts.iter().enumerate() {
            let sum = &mut moved[flavor * count + place % count];
            *sum = sum.saturating_add(amount);
        }
        moved
    }

    /// Billionths in a unit of the resource.
    fn unit(name: &str) -> u128 {
        let name = name.rsplit_once(':').map_or(name, |(_, plain)| plain);
        match name {
            "cpu" => BILLION / 1000,
            "memory" | "ephemeral-storage" => BILLION << 10,
            _ if name.starts_with("hugepages-") => BILLION << 10,
            _ => BILLION,
        }
    }

    fn amounts(&self, amounts: &Amounts, flavor: usize, whole: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let one = |name: &String| {
            let Quantity(billionths) = amounts.get(name).copied().unwrap_or_default();
            whole(billionths, Self::unit(name)).min(MOST_AMOUNT.into()) as u64
        };
        self.moved(&self.plain.iter().map(one).collect::<Vec<u64>>(), flavor)
    }

    /// What somebody needs of a [flavor](Self::flavor), in units, rounded up.
    pub fn needs(&self, amounts: &Amounts, flavor: usize) -> Vec<u64> {
        self.amounts(amounts, flavor, u128::div_ceil)
    }

    /// What somebody has of a [flavor](Self::flavor), in units, rounded down.
    pub fn has(&self, amounts: &Amounts, flavor: usize) -> Vec<u64> {
        self.amounts(amounts, flavor, |billionths, unit| billionths / unit)
    }

    /// Reads limits such as `cpu=20,memory=64Gi`.
    ///
    /// # Errors
    ///
    /// The text is not that, or names a resource that does not count.
    pub fn limits(&self, text: &str) -> Result<Vec<Option<u64>>, String> {
        let mut limits = vec![None; self.names.len()];
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || format!("expected a resource and its amount such as memory=64Gi, got {part:?}");
            let (name, amount) = part.rsplit_once('=').ok_or_else(wrong)?;
            let (name, amount) = (name.trim(), amount.trim());
            let place = self.names.iter().position(|other| other == name).ok_or_else(|| {
                format!("expected one of the resources that count, {}, got {name:?}", self.names.join(", "))
            })?;
            limits[place] = Some(self.amount(place, amount).ok_or_else(wrong)?);
        }
        Ok(limits)
    }

    /// An amount that somebody may have of a resource, such as `64Gi`, in units, rounded down.
    pub fn amount(&self, resource: usize, text: &str) -> Option<u64> {
        let Quantity(billionths) = Quantity::parse(text)?;
        Some(u64::try_from(billionths / Self::unit(&self.names[resource])).unwrap_or(u64::MAX))
    }

    /// An amount as people write it: `1.5` cores, `64Gi`.
    pub fn show(&self, resource: usize, amount: u64) -> String {
        let name = &self.names[resource];
        if Self::unit(name) == BILLION / 1000 {
            let text = format!("{}.{:03}", amount / 1000, amount % 1000);
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        if Self::unit(name) == BILLION {
            return amount.to_string();
        }
        let units = [("Ti", 30), ("Gi", 20), ("Mi", 10), ("Ki", 0)];
        let (suffix, power) = units.into_iter().find(|(_, power)| amount >= 1 << power).unwrap_or(("Ki", 0));
        let tenths = (u128::from(amount) * 10) >> power;
        let fraction = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
        format!("{}{fraction}{suffix}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_counted_in_units() {
        let names = ResourceNames::new(vec!["cpu".into(), "memory".into(), "nvidia.com/gpu".into()]).unwrap();
        let amounts = |text: [&str; 3]| -> Amounts {
            names.names().iter().cloned().zip(text.map(|text| Quantity::parse(text).unwrap())).collect()
        };
        assert_eq!(names.needs(&amounts(["1.5", "1Gi", "2"]), 0), [1500, 1 << 20, 2]);
        // What somebody needs is rounded up, and what somebody has down.
        assert_eq!(names.needs(&amounts(["100u", "1", "0"]), 0), [1, 1, 0]);
        assert_eq!(names.has(&amounts(["1900u", "2047", "0"]), 0), [1, 1, 0]);
        assert_eq!(names.needs(&amounts(["1E", "0", "0"]), 0)[0], MOST_AMOUNT);
        let limits = |text| names.limits(text);
        assert_eq!(limits("cpu=20, memory=64Gi"), Ok(vec![Some(20_000), Some(64 << 20), None]));
        assert_eq!(limits(""), Ok(vec![None; 3]));
        for wrong in ["cpu", "cpu=", "cpu=-1", "disk=3", "=3", "cpu=1=2"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
        assert_eq!(names.show(0, 1500), "1.5");
        assert_eq!(names.show(0, 2000), "2");
        assert_eq!((names.show(1, 64 << 20), names.show(1, 1536)), ("64Gi".to_owned(), "1.5Mi".to_owned()));
        assert_eq!(names.show(2, 3), "3");
        for wrong in [vec![], vec![""], vec!["cpu", "cpu"]] {
            assert!(ResourceNames::new(wrong.into_iter().map(str::to_owned).collect()).is_err());
        }
    }

    #[test]
    fn each_flavor_counts_by_itself() {
        let flavors: Flavors = "a100:gpu=a100,zone=west, h100:gpu=h100".parse().unwrap();
        assert_eq!(flavors.to_string(), "a100:gpu=a100,zone=west,h100:gpu=h100");
        let names = ResourceNames::new(vec!["cpu".into(), "memory".into()]).unwrap();
        let names = names.with_flavors(flavors).unwrap();
        assert_eq!(names.names(), ["cpu", "memory", "a100:cpu", "a100:memory", "h100:cpu", "h100:memory"]);
        let flavor = |labels: &[(&str, &'static str)]| {
            names.flavor(|key| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value))
        };
        assert_eq!(flavor(&[("gpu", "a100"), ("zone", "west"), ("other", "x")]), 1);
        assert_eq!((flavor(&[("gpu", "h100")]), flavor(&[("gpu", "a100")]), flavor(&[])), (2, 0, 0));
        let amounts = Amounts::from([("cpu".to_owned(), Quantity::parse("2").unwrap())]);
        assert_eq!(names.needs(&amounts, 1), [0, 0, 2000, 0, 0, 0]);
        assert_eq!(names.moved(&[0, 0, 2000, 5, 0, 0], 2), [0, 0, 0, 0, 2000, 5]);
        assert_eq!(names.limits("h100:cpu=3").unwrap()[4], Some(3000));
        assert_eq!(names.show(5, 64 << 20), "64Gi");
        assert_eq!((names.place(Some("h100"), "memory"), names.place(None, "cpu")), (Some(5), Some(0)));
        assert_eq!((names.place(Some("b200"), "cpu"), names.place(None, "gpu")), (None, None));
        for wrong in ["", "a100", "gpu=a100", ":gpu=a100", "a100:gpu", "a100:=x", "a100:x=1,x=1"] {
            assert!(wrong.parse::<Flavors>().is_err(), "{wrong:?}");
        }
        let twice = "a:x=1,a:x=2".parse().unwrap();
        assert!(ResourceNames::new(vec!["cpu".into()]).unwrap().with_flavors(twice).is_err());
    }
}
