//! Makes keys of text, and counts or finds texts where somebody wants to know them.

use std::sync::{Arc, OnceLock};

use crate::cell;
use crate::census::{Census, KeyCensus};
use crate::sip::sip_hash;

/// Makes keys, and looks at their texts if somebody wants to know something about them.
#[derive(Default)]
pub(super) enum Hashing {
    /// Makes keys.
    #[default]
    Only,
    /// Counts them, too.
    Counting(Box<Census>),
    /// Remembers the text of the first cell that becomes this key, too.
    Finding(u64, Arc<OnceLock<Vec<u8>>>),
}

impl Hashing {
    /// With a census or without.
    pub(super) fn new(census: bool) -> Self {
        if census { Hashing::Counting(Box::default()) } else { Hashing::Only }
    }

    /// The key that a cell stands for: [`cell::key`].
    #[inline]
    pub(super) fn text(&mut self, cell: &[u8]) -> u64 {
        self.seen(cell::key(cell), cell)
    }

    /// The key that a number stands for: itself.
    #[inline]
    pub(super) fn number(&mut self, key: u64) -> u64 {
        match self {
            Hashing::Only => key,
            _ => self.seen(key, key.to_string().as_bytes()),
        }
    }

    /// The key of bytes that are no text: [`sip_hash`].
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let key = sip_hash(bytes);
        match self {
            // They say nothing to people.
            Hashing::Finding(..) => key,
            _ => self.seen(key, bytes),
        }
    }

    #[inline]
    fn seen(&mut self, key: u64, bytes: &[u8]) -> u64 {
        match self {
            Hashing::Only => {}
            Hashing::Counting(census) => census.count(key, bytes),
            Hashing::Finding(wanted, found) => {
                if key == *wanted {
                    found.get_or_init(|| bytes.to_vec());
                }
            }
        }
        key
    }

    /// Counts of the keys so far, if they are counted.
    pub(super) fn census(&self) -> Option<KeyCensus> {
        match self {
            Hashing::Counting(census) => Some(census.result()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded results depend on these: they must never change.
    #[test]
    fn is_the_same_for_ever() {
        assert_eq!(sip_hash(b""), 0x1e92_4b9d_7377_00d7);
        assert_eq!(sip_hash(b"photo.jpg"), 0x2f8d_4663_f833_1c11);
    }
}
