//! Memory of objects that have left.

use hashbrown::HashMap;

use crate::list::List;
use crate::{Key, Object};

/// The names and sizes of evicted objects, in the order in which they left.
///
/// O(1) for every operation; about 40 B per remembered object.
#[derive(Clone, Debug, Default)]
pub struct GhostList {
    index: HashMap<Key, u32>,
    objects: Vec<Object>,
    free: Vec<u32>,
    order: List,
    size: u64,
}

impl GhostList {
    /// The total size of the remembered objects.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether `key` is remembered.
    pub fn contains(&self, key: Key) -> bool {
        self.index.contains_key(&key)
    }

    /// Remembers an object that is not remembered yet.
    pub fn push(&mut self, object: Object) {
        let node = self.free.pop().unwrap_or_else(|| {
            self.objects.push(object);
            u32::try_from(self.objects.len() - 1).expect("memory ends before 2^32 ghosts do")
        });
        self.objects[node as usize] = object;
        self.order.push(node);
        let before = self.index.insert(object.key, node);
        debug_assert!(before.is_none(), "an object left twice");
        self.size += object.size;
    }

    /// Forgets `key`; whether it was remembered.
    pub fn remove(&mut self, key: Key) -> bool {
        let Some(node) = self.index.remove(&key) else { return false };
        self.order.remove(node);
        self.release(node);
        true
    }

    /// Forgets the object that left longest ago.
    pub fn pop(&mut self) -> Option<Object> {
        let node = self.order.pop()?;
        let object = self.objects[node as usize];
        self.index.remove(&object.key);
        self.release(node);
        Some(object)
    }

    /// Forgets the oldest until the rest fits into `size`.
    pub fn shrink(&mut self, size: u64) {
        while self.size > size {
            self.pop();
        }
    }

    fn release(&mut self, node: u32) {
        self.size -= self.objects[node as usize].size;
        self.free.push(node);
    }
}
