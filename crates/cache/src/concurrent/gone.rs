//! What has left a cache, on its way to the listener and to its end, both outside of all locks.

/// Why an entry has left the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The policy chose it when room was needed.
    Evicted,
    /// Its time is over.
    Expired,
    /// It was removed, or all were.
    Removed,
    /// Another value has come for its key.
    Replaced,
    /// It weighs more than its shard may hold, and was never kept.
    TooHeavy,
}

/// An entry that has left, and why.
pub(super) type Left<K, V> = (K, V, Cause);

/// What one call lets go: most often one entry or none, for which nothing is allocated.
pub(super) struct Gone<K, V> {
    first: Option<Left<K, V>>,
    others: Vec<Left<K, V>>,
}

impl<K, V> Default for Gone<K, V> {
    fn default() -> Self {
        Self { first: None, others: Vec::new() }
    }
}

impl<K, V> Gone<K, V> {
    /// The value of the first one.
    pub(super) fn first(&self) -> Option<&V> {
        self.first.as_ref().map(|(_, value, _)| value)
    }

    pub(super) fn push(&mut self, key: K, value: V, cause: Cause) {
        match self.first {
            None => self.first = Some((key, value, cause)),
            Some(_) => self.others.push((key, value, cause)),
        }
    }
}

impl<K, V> IntoIterator for Gone<K, V> {
    type Item = Left<K, V>;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Left<K, V>>, std::vec::IntoIter<Left<K, V>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}
