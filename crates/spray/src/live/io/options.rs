//! Options of sockets.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Type of a socket option: a structure of the kernel's, whose bytes mean something whatever they are.
///
/// # Safety
///
/// The type has neither padding that matters nor values that are invalid.
pub(super) unsafe trait Plain: Sized {}

// SAFETY: integers, and structures of them as the kernel has them.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u32; N] {}
// SAFETY: as above.
unsafe impl Plain for libc::tpacket_req {}
// SAFETY: as above.
unsafe impl Plain for libc::packet_mreq {}

/// Sets an option.
pub(super) fn set<T: Plain>(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads as many bytes as the value has, and a descriptor that is open.
    let status =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, (&raw const *value).cast(), length) };
    check(status).map(drop)
}

/// Reads an option.
pub(super) fn get<T: Plain>(fd: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<T> {
    // SAFETY: all bytes zero are a value of such a type.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    let place = (&raw mut value).cast();
    // SAFETY: the kernel writes no more than the length that it is told, that of the value.
    let status = unsafe { libc::getsockopt(fd.as_raw_fd(), level, option, place, &raw mut length) };
    check(status).map(|_| value)
}

/// The value that a system call returned, or its error.
pub(super) fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(status) }
}
