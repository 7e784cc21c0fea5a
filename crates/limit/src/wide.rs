//! Integers of 128 bits as they are saved: two words, the high one first. Not all formats have integers of more than 64 bits.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 128 bits as two words.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wide([u64; 2]);

impl From<u128> for Wide {
    fn from(number: u128) -> Self {
        Self([(number >> 64) as u64, number as u64])
    }
}

impl From<Wide> for u128 {
    fn from(Wide([high, low]): Wide) -> Self {
        u128::from(high) << 64 | u128::from(low)
    }
}

/// Writes a number as [`Wide`] does; `#[serde(with = "crate::wide")]` calls it.
pub(crate) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    Wide::from(*number).serialize(serializer)
}

/// Reads what [`serialize`] has written.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    Wide::deserialize(deserializer).map(u128::from)
}
