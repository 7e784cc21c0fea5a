//! A ring that this process and the kernel share, one of which writes it and the other reads it.

use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::xdp::{XdpDesc, XdpRingOffset};
use trueplane_linux::mapping::Mapping;

/// Type of the entries of a ring.
///
/// # Safety
///
/// All bytes are valid, and there is no padding.
pub(super) unsafe trait Entry: Copy {}

// SAFETY: an integer.
unsafe impl Entry for u64 {}
// SAFETY: integers without padding between them.
unsafe impl Entry for XdpDesc {}

/// Our end of a ring: what we write the kernel reads, or the other way round; a ring is used for one of the two.
#[derive(Debug)]
pub(super) struct Ring<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
    kind: PhantomData<T>,
}

impl<T: Entry> Ring<T> {
    /// Maps the ring of `size` entries, a power of two, that a socket has been told to make.
    pub(super) fn map(fd: BorrowedFd<'_>, offsets: XdpRingOffset, size: u32, page: u64) -> io::Result<Self> {
        let entries = offsets.desc as usize;
        let length = entries + size as usize * size_of::<T>();
        let memory = Mapping::shared(fd, length, page)?;
        let [producer, consumer] = [offsets.producer, offsets.consumer].map(|offset| offset as usize);
        let is_within = producer.max(consumer) + size_of::<u32>() <= length;
        let is_aligned = producer % 4 == 0 && consumer % 4 == 0 && entries.is_multiple_of(align_of::<T>());
        if !(is_within && is_aligned && size.is_power_of_two()) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel has rings of another form"));
        }
        Ok(Self { memory, producer, consumer, entries, size, kind: PhantomData })
    }

    /// Index of one side of the ring; both count up for ever, and wrap around.
    fn index(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the offset is one of the two that were checked to lie within the mapping, aligned; both sides use atomics.
        unsafe { AtomicU32::from_ptr(self.memory.start().add(offset).cast().as_ptr()) }
    }

    fn entry(&self, index: u32) -> NonNull<T> {
        // SAFETY: the place is below the number of entries, all of which lie within the mapping, aligned.
        unsafe { self.memory.start().add(self.entries).cast::<T>().add((index & (self.size - 1)) as usize) }
    }

    /// Entries that the kernel has not read, of a ring that we write.
    pub(super) fn unread(&self) -> u32 {
        let written = self.index(self.producer).load(Ordering::Relaxed);
        written.wrapping_sub(self.index(self.consumer).load(Ordering::Acquire))
    }

    /// Writes entries as far as there is room, and returns how many.
    pub(super) fn write(&mut self, entries: impl IntoIterator<Item = T>) -> usize {
        let room = self.size - self.unread().min(self.size);
        let first = self.index(self.producer).load(Ordering::Relaxed);
        let mut count = 0;
        for (place, entry) in (0..room).zip(entries) {
            // SAFETY: the kernel reads no entry from here on until we say that it is there.
            unsafe { self.entry(first.wrapping_add(place)).write(entry) };
            count = place + 1;
        }
        self.index(self.producer).store(first.wrapping_add(count), Ordering::Release);
        count as usize
    }

    /// Reads at most so many entries that the kernel has written.
    pub(super) fn read(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let first = self.index(self.consumer).load(Ordering::Relaxed);
        let there = self.index(self.producer).load(Ordering::Acquire).wrapping_sub(first).min(self.size);
        let count = there.min(u32::try_from(most).unwrap_or(u32::MAX));
        for place in 0..count {
            // SAFETY: the kernel has written it and does not write it again until we say that we have read it.
            each(unsafe { self.entry(first.wrapping_add(place)).read() });
        }
        self.index(self.consumer).store(first.wrapping_add(count), Ordering::Release);
        count as usize
    }
}
