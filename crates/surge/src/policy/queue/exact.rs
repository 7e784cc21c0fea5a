//! Any order, by comparison.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use trueplane_pqueue::{BadShape, MOST_ITEMS};

use super::{NamedQueue, RankQueue};

/// A queue by exact comparison of ranks, for reference.
///
/// Cost: O(log items), and a cache miss or more at most levels; that is what the others save.
#[derive(Clone, Debug)]
pub struct Exact<K, I> {
    capacity: usize,
    /// Number of items that have arrived so far.
    serial: u64,
    items: BTreeMap<Name<K>, I>,
}

/// Its rank, and how many items came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name<K>(K, u64);

impl<K: Copy + Ord + fmt::Debug, I> Exact<K, I> {
    /// The oldest of the largest rank.
    fn worst(&self) -> Option<(&Name<K>, &I)> {
        let (&Name(rank, _), _) = self.items.last_key_value()?;
        self.items.range(Name(rank, 0)..).next()
    }
}

impl<K: Copy + Ord + fmt::Debug, I> RankQueue<I> for Exact<K, I> {
    type Rank = K;
    type Shape = PhantomData<()>;
    type Name = Name<K>;
    const RERANKS: bool = true;

    fn new(_shape: PhantomData<()>, capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        Ok(Self { capacity, serial: 0, items: BTreeMap::new() })
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn insert(&mut self, rank: K, item: I) -> Result<Name<K>, I> {
        if self.items.len() == self.capacity {
            return Err(item);
        }
        let name = Name(rank, self.serial);
        self.serial += 1;
        self.items.insert(name, item);
        Ok(name)
    }

    fn extract_min(&mut self, _bound: u64) -> Option<I> {
        Some(self.items.pop_first()?.1)
    }

    fn peek_max(&self) -> Option<&I> {
        Some(self.worst()?.1)
    }

    fn extract_max(&mut self) -> Option<I> {
        let (&name, _) = self.worst()?;
        self.items.remove(&name)
    }

    fn rerank(&mut self, name: Name<K>, from: K, to: K) -> Option<Name<K>> {
        if from == to {
            return Some(name);
        }
        let item = self.items.remove(&name)?;
        self.insert(to, item).ok()
    }

    /// About: nodes of the tree are at least half full, and two thirds on average.
    fn bytes_per_item() -> usize {
        2 * size_of::<(Name<K>, I)>()
    }
}

/// Cost: O(log items).
impl<K: Copy + Ord + fmt::Debug, I> NamedQueue<I> for Exact<K, I> {
    fn find(&self, name: Name<K>) -> Option<&I> {
        self.items.get(&name)
    }

    fn remove(&mut self, name: Name<K>) -> Option<I> {
        self.items.remove(&name)
    }
}
