//! What a table holds, as its controller knows it.

use crate::Key;

/// Keys in a table, row by row.
#[derive(Clone, Debug)]
pub(super) struct Image {
    chain: usize,
    keys: Vec<Key>,
    lens: Vec<u8>,
}

impl Image {
    pub(super) fn new(rows: u32, chain: usize) -> Self {
        Self { chain, keys: vec![Key(0); rows as usize * chain], lens: vec![0; rows as usize] }
    }

    /// The image of every `stride`-th row.
    pub(super) fn sample(&self, stride: usize) -> Self {
        Self {
            chain: self.chain,
            keys: self.keys.chunks(self.chain).step_by(stride).flatten().copied().collect(),
            lens: self.lens.iter().step_by(stride).copied().collect(),
        }
    }

    pub(super) fn keys(&self, row: u32) -> &[Key] {
        &self.keys[row as usize * self.chain..][..usize::from(self.lens[row as usize])]
    }

    /// Puts `keys`, which are different and at most k, into a row; whether it holds others than before.
    pub(super) fn set(&mut self, row: u32, keys: &[Key]) -> bool {
        let old = self.keys(row);
        if old.len() == keys.len() && keys.iter().all(|key| old.contains(key)) {
            return false;
        }
        self.keys[row as usize * self.chain..][..keys.len()].copy_from_slice(keys);
        self.lens[row as usize] = keys.len() as u8;
        true
    }
}
