//! The resources that count, and the units in which they are counted.

use trueplane_fair::workload::kubernetes::{Amounts, Quantity};

use crate::admission::MOST_AMOUNT;

/// Billionths in one.
const BILLION: u128 = 1_000_000_000;

/// The resources that count: thousandths of a core of `cpu`, KiB of `memory` and of storage, and whole ones of all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceNames(Vec<String>);

impl ResourceNames {
    /// These resources.
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
        Ok(Self(names))
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Billionths in a unit of the resource.
    fn unit(name: &str) -> u128 {
        match name {
            "cpu" => BILLION / 1000,
            "memory" | "ephemeral-storage" => BILLION << 10,
            _ if name.starts_with("hugepages-") => BILLION << 10,
            _ => BILLION,
        }
    }

    fn amounts(&self, amounts: &Amounts, whole: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let one = |name: &String| {
            let Quantity(billionths) = amounts.get(name).copied().unwrap_or_default();
            whole(billionths, Self::unit(name)).min(MOST_AMOUNT.into()) as u64
        };
        self.0.iter().map(one).collect()
    }

    /// What somebody needs, in units, rounded up.
    pub fn needs(&self, amounts: &Amounts) -> Vec<u64> {
        self.amounts(amounts, u128::div_ceil)
    }

    /// What somebody has, in units, rounded down.
    pub fn has(&self, amounts: &Amounts) -> Vec<u64> {
        self.amounts(amounts, |billionths, unit| billionths / unit)
    }

    /// Reads limits such as `cpu=20,memory=64Gi`.
    ///
    /// # Errors
    ///
    /// The text is not that, or names a resource that does not count.
    pub fn limits(&self, text: &str) -> Result<Vec<Option<u64>>, String> {
        let mut limits = vec![None; self.0.len()];
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || format!("expected a resource and its amount such as memory=64Gi, got {part:?}");
            let (name, amount) = part.rsplit_once('=').ok_or_else(wrong)?;
            let (name, amount) = (name.trim(), amount.trim());
            let place = self.0.iter().position(|other| other == name).ok_or_else(|| {
                format!("expected one of the resources that count, {}, got {name:?}", self.0.join(", "))
            })?;
            let Quantity(billionths) = Quantity::parse(amount).ok_or_else(wrong)?;
            let units = billionths / Self::unit(name);
            limits[place] = Some(u64::try_from(units).unwrap_or(u64::MAX));
        }
        Ok(limits)
    }

    /// An amount as people write it: `1.5` cores, `64Gi`.
    pub fn show(&self, resource: usize, amount: u64) -> String {
        let name = &self.0[resource];
        if name == "cpu" {
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
        assert_eq!(names.needs(&amounts(["1.5", "1Gi", "2"])), [1500, 1 << 20, 2]);
        // What somebody needs is rounded up, and what somebody has down.
        assert_eq!(names.needs(&amounts(["100u", "1", "0"])), [1, 1, 0]);
        assert_eq!(names.has(&amounts(["1900u", "2047", "0"])), [1, 1, 0]);
        assert_eq!(names.needs(&amounts(["1E", "0", "0"]))[0], MOST_AMOUNT);
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
}
