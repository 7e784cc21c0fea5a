//! The program's side of AF_XDP: to which socket it redirects, and what it counts.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::{io, ptr};

use libbpf_rs::libbpf_sys::{BPF_XDP, bpf_link_create};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use super::super::options::check;
use crate::steering::BUCKETS;

/// Receive queues of an interface that can have AF_XDP sockets; the program has the same number.
pub(super) const MAX_QUEUES: u32 = 64;

/// A program that redirects an interface's packets, and its maps.
#[derive(Debug)]
pub(in super::super) struct Redirection<'p> {
    program: BorrowedFd<'p>,
    sockets: MapHandle,
    counters: MapHandle,
    /// 0 for a run's first interface, 1 for its second.
    side: usize,
}

impl<'p> Redirection<'p> {
    /// A program for the first interface (`side` 0) or the second, the map of sockets, and that of counters.
    pub(in super::super) fn new(
        program: BorrowedFd<'p>,
        sockets: MapHandle,
        counters: MapHandle,
        side: usize,
    ) -> Self {
        Self { program, sockets, counters, side }
    }

    /// Attaches the program, as [`attach`] does.
    pub(super) fn attach(&self, interface: i32) -> io::Result<OwnedFd> {
        attach(self.program, interface)
    }

    /// Lets a core's packets from a queue go to a socket.
    pub(super) fn register(&self, queue: u32, core: usize, socket: BorrowedFd<'_>) -> io::Result<()> {
        let key = (self.side as u32 * MAX_QUEUES + queue) * BUCKETS as u32 + core as u32;
        let value = (socket.as_raw_fd() as u32).to_ne_bytes();
        self.sockets.update(&key.to_ne_bytes(), &value, MapFlags::ANY).map_err(io::Error::other)
    }

    /// Counter of the packets that are redirected to a core.
    pub(super) fn counter(&self, core: usize) -> io::Result<Redirected> {
        let map = MapHandle::try_from(&self.counters).map_err(io::Error::other)?;
        Ok(Redirected { map, key: (self.side * BUCKETS + core) as u32, told: 0 })
    }
}

/// Attaches a program to the interface of this index in this thread's namespace, at the driver if that can, until what is returned is dropped.
///
/// # Errors
///
/// What the kernel says.
pub fn attach(program: BorrowedFd<'_>, interface: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers, a program that is open, and no options.
    let link = check(unsafe { bpf_link_create(program.as_raw_fd(), interface, BPF_XDP, ptr::null()) })?;
    // SAFETY: the descriptor was just opened, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}

/// Number of packets that the program has sent to a core's sockets.
#[derive(Debug)]
pub(super) struct Redirected {
    map: MapHandle,
    key: u32,
    told: u64,
}

impl Redirected {
    /// Packets since the last call.
    pub(super) fn news(&mut self) -> io::Result<u64> {
        let found = self.map.lookup(&self.key.to_ne_bytes(), MapFlags::ANY);
        let found = found.map_err(io::Error::other)?.unwrap_or_default();
        let count = found.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let news = count.wrapping_sub(self.told);
        self.told = count;
        Ok(news)
    }
}
