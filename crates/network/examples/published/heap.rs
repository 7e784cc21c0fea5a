//! A PIFO whose packets of one rank leave in the order of a binary heap.

use trueplane_sched::{Packet, Scheduler};

/// The PIFO of the published simulator: a binary heap in an array, as `java.util.PriorityQueue` documents it.
///
/// It does not keep the order of arrival among packets of one rank, such as acknowledgements, which all have rank 0. When it is full, the
/// last packet of the largest rank in the array is dropped.
pub(crate) struct Heap {
    packets: Vec<Packet>,
    capacity: usize,
}

impl Heap {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { packets: Vec::with_capacity(capacity + 1), capacity }
    }

    /// Moves the packet at an index towards the root, past larger ranks.
    fn rise(&mut self, mut index: usize) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.packets[index].rank >= self.packets[parent].rank {
                break;
            }
            self.packets.swap(index, parent);
            index = parent;
        }
    }

    /// Moves the packet at an index away from the root, past smaller ranks. Returns whether it moved.
    fn sink(&mut self, mut index: usize) -> bool {
        let start = index;
        loop {
            let (left, right) = (2 * index + 1, 2 * index + 2);
            if left >= self.packets.len() {
                break;
            }
            let has_right = right < self.packets.len();
            let child =
                if has_right && self.packets[left].rank > self.packets[right].rank { right } else { left };
            if self.packets[index].rank <= self.packets[child].rank {
                break;
            }
            self.packets.swap(index, child);
            index = child;
        }
        index != start
    }

    /// Takes out the packet at an index; the last one takes its place.
    fn remove(&mut self, index: usize) -> Packet {
        let removed = self.packets.swap_remove(index);
        if index < self.packets.len() && !self.sink(index) {
            self.rise(index);
        }
        removed
    }
}

impl Scheduler for Heap {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        self.packets.push(packet);
        self.rise(self.packets.len() - 1);
        if self.packets.len() <= self.capacity {
            return None;
        }
        let (worst, _) = self.packets.iter().enumerate().max_by_key(|(_, packet)| packet.rank)?;
        Some(self.remove(worst))
    }

    fn dequeue(&mut self) -> Option<Packet> {
        (!self.packets.is_empty()).then(|| self.remove(0))
    }

    fn len(&self) -> usize {
        self.packets.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}
