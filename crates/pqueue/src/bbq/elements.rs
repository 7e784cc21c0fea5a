//! The elements: a list for every priority, and one of what is free, through one memory.

use super::layout::{Layout, MemoryName};

/// The first and the last element of a priority; what stands in an empty bucket means nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    head: u32,
    tail: u32,
}

/// Pointers to free elements, in the order in which they are handed out.
#[derive(Clone, Debug)]
struct FreeList {
    ring: Box<[u32]>,
    /// Index of the pointer that is handed out next.
    head: usize,
    len: usize,
}

impl FreeList {
    fn pop(&mut self) -> u32 {
        let pointer = self.ring[self.head];
        self.head = self.place(1);
        self.len -= 1;
        pointer
    }

    fn push(&mut self, pointer: u32) {
        let tail = self.place(self.len);
        self.ring[tail] = pointer;
        self.len += 1;
    }

    /// Index in the ring of the place that is `offset` ≤ N behind the head.
    fn place(&self, offset: usize) -> usize {
        (self.head + offset) % self.ring.len()
    }
}

/// Everything behind the index.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pointer_bits: u32,
    buckets: Box<[Bucket]>,
    next: Box<[u32]>,
    data: Box<[u64]>,
    free: FreeList,
}

impl Elements {
    pub(super) fn new(layout: &Layout) -> Self {
        let capacity = layout.shape().capacity;
        Self {
            pointer_bits: layout.pointer_bits(),
            buckets: vec![Bucket::default(); layout.buckets() as usize].into(),
            next: vec![0; capacity as usize].into(),
            data: vec![0; capacity as usize].into(),
            free: FreeList { ring: (0..capacity).collect(), head: 0, len: capacity as usize },
        }
    }

    /// Whether no element is free.
    pub(super) fn is_full(&self) -> bool {
        self.free.len == 0
    }

    /// Adds an element to the end of `bucket`, of which it is the `only` one or not; one must be free.
    pub(super) fn push(&mut self, bucket: u32, only: bool, data: u64) {
        let pointer = self.free.pop();
        self.data[pointer as usize] = data;
        let ends = &mut self.buckets[bucket as usize];
        if only {
            ends.head = pointer;
        } else {
            self.next[ends.tail as usize] = pointer;
        }
        ends.tail = pointer;
    }

    /// Takes the first element out of `bucket`, which must not be empty.
    pub(super) fn pop(&mut self, bucket: u32) -> u64 {
        let ends = &mut self.buckets[bucket as usize];
        let pointer = ends.head;
        ends.head = self.next[pointer as usize];
        self.free.push(pointer);
        self.data[pointer as usize]
    }

    /// A word of one of the memories here.
    pub(super) fn word(&self, name: MemoryName, address: usize) -> Option<u64> {
        let pointers = |memory: &[u32]| memory.get(address).map(|&pointer| u64::from(pointer));
        match name {
            MemoryName::Bucket => self
                .buckets
                .get(address)
                .map(|ends| (u64::from(ends.tail) << self.pointer_bits) | u64::from(ends.head)),
            MemoryName::Next => pointers(&self.next),
            MemoryName::FreeList => pointers(&self.free.ring),
            MemoryName::Data => self.data.get(address).copied(),
            _ => None,
        }
    }

    /// Fails with what is wrong, if anything is; `count` tells how many elements a bucket should have.
    pub(super) fn check(&self, count: impl Fn(usize) -> u32) -> Result<(), String> {
        let mut seen = vec![false; self.next.len()];
        let mut meet = |pointer: u32, place: &dyn Fn() -> String| {
            let met =
                seen.get_mut(pointer as usize).ok_or_else(|| format!("{}: pointer {pointer}", place()))?;
            if std::mem::replace(met, true) {
                return Err(format!("{}: element {pointer} is elsewhere too", place()));
            }
            Ok(())
        };
        for (bucket, ends) in self.buckets.iter().enumerate() {
            let mut pointer = ends.head;
            for left in (0..count(bucket)).rev() {
                meet(pointer, &|| format!("bucket {bucket}"))?;
                if left == 0 && pointer != ends.tail {
                    return Err(format!("bucket {bucket}: ends at {pointer}, its tail is {}", ends.tail));
                }
                pointer = self.next[pointer as usize];
            }
        }
        for offset in 0..self.free.len {
            meet(self.free.ring[self.free.place(offset)], &|| "free list".to_owned())?;
        }
        match seen.iter().position(|&met| !met) {
            Some(lost) => Err(format!("element {lost} is nowhere")),
            None => Ok(()),
        }
    }
}
