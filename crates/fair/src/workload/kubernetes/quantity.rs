//! Amounts as Kubernetes writes them.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;

use crate::workload::decimal;

/// An amount in billionths.
///
/// Source: `k8s.io/apimachinery/pkg/api/resource`, the grammar of `Quantity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity(pub u128);

const EXPECTED: &str = "an amount of zero or more such as 2, 500m or 1.5Gi";

/// Suffixes with what they stand for: a power of two, or a power of ten.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
const DECIMAL: [(&str, u32); 9] =
    [("n", 0), ("u", 3), ("m", 6), ("k", 12), ("M", 15), ("G", 18), ("T", 21), ("P", 24), ("E", 27)];

impl Quantity {
    /// The amount in `text`; none if it is no amount of zero or more, or larger than 128 bits hold.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('+').unwrap_or(text);
        if let Some((number, power)) = suffix(text, &BINARY) {
            let billionths = decimal::parse(number.as_bytes(), 9)?;
            return billionths.checked_mul(1 << power).map(Self);
        }
        let (number, places) = suffix(text, &DECIMAL).unwrap_or((text, 9));
        decimal::parse(number.as_bytes(), places).map(Self)
    }
}

fn suffix<'t>(text: &'t str, suffixes: &[(&str, u32)]) -> Option<(&'t str, u32)> {
    suffixes.iter().find_map(|&(name, power)| Some((text.strip_suffix(name)?, power)))
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, found) = match Value::deserialize(deserializer)? {
            Value::String(text) => (text.clone(), format!("\"{}\"", text.escape_debug())),
            // Numbers without quotes are read, too.
            Value::Number(number) => (number.to_string(), number.to_string()),
            Value::Null => (String::new(), "null".to_owned()),
            Value::Bool(_) => (String::new(), "a boolean".to_owned()),
            Value::Array(_) | Value::Object(_) => (String::new(), "more than one value".to_owned()),
        };
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("expected {EXPECTED}, got {found}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_suffixes_of_kubernetes() {
        const BILLION: u128 = 1_000_000_000;
        for (text, billionths) in [
            ("2", 2 * BILLION),
            ("0", 0),
            ("+1.5", 3 * BILLION / 2),
            ("500m", BILLION / 2),
            ("250u", BILLION / 4000),
            ("1n", 1),
            ("1.5Gi", (3 * BILLION) << 29),
            ("128974848", 128_974_848 * BILLION),
            ("129e6", 129_000_000 * BILLION),
            ("129M", 129_000_000 * BILLION),
            ("1E", BILLION * BILLION * BILLION),
            ("1Ei", BILLION << 60),
            ("1k", 1000 * BILLION),
        ] {
            assert_eq!(Quantity::parse(text), Some(Quantity(billionths)), "{text}");
        }
        for wrong in ["", "-1", "m", "Gi", "1Kib", "1 Gi", "0x1", "1e99", "abc", "1.2.3"] {
            assert_eq!(Quantity::parse(wrong), None, "{wrong}");
        }
    }
}
