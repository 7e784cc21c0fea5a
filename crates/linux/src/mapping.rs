//! Memory that is mapped: of this process alone, or shared with the kernel.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// Memory that can be read and written for as long as this value lives.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: it is memory, which no thread owns; who reads and writes what is up to those who use it.
unsafe impl Send for Mapping {}
// SAFETY: as above; a shared reference gives the address only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of this process alone, zeros, with all its pages there.
    ///
    /// # Errors
    ///
    /// There is not so much memory.
    pub fn anonymous(length: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags)? };
        Self::of(start.cast(), length)
    }

    /// Memory of a descriptor (a socket's ring, a map's values) from `offset` on, shared with the kernel, with all its pages there.
    ///
    /// # Errors
    ///
    /// The descriptor has no such memory.
    pub fn shared(fd: BorrowedFd<'_>, length: usize, offset: u64) -> io::Result<Self> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { mmap(ptr::null_mut(), length, access, flags, fd, offset)? };
        Self::of(start.cast(), length)
    }

    fn of(start: *mut u8, length: usize) -> io::Result<Self> {
        let start = NonNull::new(start).ok_or_else(|| io::Error::other("the kernel mapped memory at 0"))?;
        Ok(Self { start, length })
    }

    /// Start address of the mapping.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nothing borrows from it any more. It fails for no mapping that exists.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
