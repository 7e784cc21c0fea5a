//! A ring that this process and the kernel share, one of which writes it and the other reads it.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory that the kernel shares, for as long as this value lives.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: it is memory, which no thread owns; who reads and writes what is up to those who use it.
unsafe impl Send for Mapping {}
// SAFETY: as above; a shared reference gives the address only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of this process alone, zeros.
    pub(super) fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// A socket's memory, from this offset on.
    fn of_socket(fd: BorrowedFd<'_>, length: usize, offset: i64) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED, fd.as_raw_fd(), offset)
    }

    fn map(length: usize, kind: libc::c_int, fd: libc::c_int, offset: i64) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), length, access, kind | libc::MAP_POPULATE, fd, offset) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, length }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Start address of the mapping.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Length in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Type of the entries of a ring.
///
/// # Safety
///
/// All bytes are valid, and there is no padding.
pub(super) unsafe trait Entry: Copy {}

// SAFETY: an integer.
unsafe impl Entry for u64 {}
// SAFETY: integers without padding between them.
unsafe impl Entry for libc::xdp_desc {}

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
    pub(super) fn map(
        fd: BorrowedFd<'_>,
        offsets: libc::xdp_ring_offset,
        size: u32,
        page: i64,
    ) -> io::Result<Self> {
        let entries = offsets.desc as usize;
        let length = entries + size as usize * size_of::<T>();
        let memory = Mapping::of_socket(fd, length, page)?;
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
