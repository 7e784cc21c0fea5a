//! A core's AF_XDP sockets on an interface: one for each receive queue.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::{io, ptr};

use super::super::options::{check, get, set};
use super::super::repair::is_partial;
use super::super::socket::{Frame, Offered};
use super::area::Area;
use super::redirection::Redirected;
use super::ring::Ring;
use crate::Packet;
use crate::live::io::xdp::patience::patiently;

/// Calls for packets that the interface does not take before they are given up.
const TRIES: usize = 64;
/// Packets that are written before the kernel is told.
const SENT_AT_ONCE: usize = 256;
/// Bytes that may be under way to the interface.
const SEND_BUFFER: i32 = 4 << 20;

/// Interface and queue to which a socket is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) interface: i32,
    pub(super) queue: u32,
}

/// A core's socket on one queue.
#[derive(Debug)]
pub(super) struct QueueSocket {
    area: Arc<Area>,
    receive: Ring<libc::xdp_desc>,
    /// For the core whose packets leave by this queue.
    send: Option<Ring<libc::xdp_desc>>,
    fd: OwnedFd,
}

/// A descriptor of a new socket.
pub(super) fn descriptor() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let fd = check(unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor was just opened, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

impl QueueSocket {
    /// Binds a socket; `shared` is the first one of its queue, unless it is that itself. Its rings have so many entries, powers of two.
    pub(super) fn bind(
        fd: OwnedFd,
        area: Arc<Area>,
        place: Place,
        receive: u32,
        send: Option<u32>,
        shared: Option<BorrowedFd<'_>>,
    ) -> io::Result<Self> {
        set(fd.as_fd(), libc::SOL_XDP, libc::XDP_RX_RING, &receive)?;
        if let Some(send) = &send {
            set(fd.as_fd(), libc::SOL_XDP, libc::XDP_TX_RING, send)?;
            // Where the limit is a lower one, less is under way.
            let _ = set(fd.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        }
        let offsets: libc::xdp_mmap_offsets = get(fd.as_fd(), libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let receive = Ring::map(fd.as_fd(), offsets.rx, receive, libc::XDP_PGOFF_RX_RING)?;
        let map_send = |size| Ring::map(fd.as_fd(), offsets.tx, size, libc::XDP_PGOFF_TX_RING);
        let send = send.map(map_send).transpose()?;
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            // The later ones of a queue do as the first one.
            sxdp_flags: if shared.is_some() { libc::XDP_SHARED_UMEM } else { libc::XDP_COPY },
            sxdp_ifindex: place.interface as u32,
            sxdp_queue_id: place.queue,
            sxdp_shared_umem_fd: shared.map_or(0, |fd| fd.as_raw_fd() as u32),
        };
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is of the type and size that the family says, and lives meanwhile.
        patiently(|| check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) }))?;
        Ok(Self { area, receive, send, fd })
    }
}

impl AsFd for QueueSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// All sockets of one core on an interface.
#[derive(Debug)]
pub(crate) struct XdpSocket {
    queues: Vec<QueueSocket>,
    /// The queue that is looked at first, so that none waits for the others for ever.
    first: usize,
    /// Frames read since they were given back last.
    read: Vec<u64>,
    /// Frames to send from.
    free: Vec<u64>,
    redirected: Redirected,
    /// Number of packets, reported so far, for which the kernel had no room.
    dropped: u64,
}

impl XdpSocket {
    /// Joins the sockets of a core, in the order of their queues, one of which sends.
    pub(super) fn new(queues: Vec<QueueSocket>, redirected: Redirected) -> Self {
        Self { queues, first: 0, read: Vec::new(), free: Vec::new(), redirected, dropped: 0 }
    }

    /// Reads at most so many frames; returns how many there were.
    pub(crate) fn receive(&mut self, most: usize, mut each: impl FnMut(Frame<'_>)) -> usize {
        let Self { queues, read, first, .. } = self;
        let count = queues.len();
        let mut total = 0;
        for place in 0..count {
            let queue = &mut queues[(*first + place) % count];
            total += queue.receive.read(most - total, |descriptor| {
                read.push(queue.area.frame_of(descriptor.addr));
                let bytes = queue.area.packet(&descriptor).unwrap_or_default();
                // The kernel does not say whose checksum was left to a card.
                each(Frame { bytes, tag: None, is_partial: is_partial(bytes), is_cut: false });
            });
            if !read.is_empty() {
                queue.area.give_back(read);
            }
        }
        *first = (*first + 1) % count;
        total
    }

    /// Sends packets out of the interface and returns how many of them it did not take.
    pub(crate) fn send(&mut self, packets: &[Packet]) -> u64 {
        let Self { queues, free, .. } = self;
        let sender =
            queues.iter_mut().find_map(|QueueSocket { area, send, fd, .. }| Some((area, send.as_mut()?, fd)));
        let Some((area, ring, fd)) = sender else { return packets.len() as u64 };
        let mut refused = 0;
        for some in packets.chunks(SENT_AT_ONCE) {
            area.take(some.len(), free);
            if free.len() < some.len() {
                refused += kick(fd.as_fd(), ring);
                area.take(some.len(), free);
            }
            refused += some.iter().filter(|packet| !write(packet.bytes(), area, ring, free)).count() as u64;
            refused += kick(fd.as_fd(), ring);
        }
        refused
    }

    /// Counters of the program and the kernel since the last call.
    pub(crate) fn offered(&mut self) -> io::Result<Offered> {
        let mut dropped = 0;
        for queue in &self.queues {
            let counted: libc::xdp_statistics = get(queue.as_fd(), libc::SOL_XDP, libc::XDP_STATISTICS)?;
            dropped += counted.rx_dropped + counted.rx_ring_full;
        }
        let news = dropped - self.dropped.min(dropped);
        self.dropped = dropped;
        Ok(Offered { packets: self.redirected.news()?, dropped: news })
    }

    /// Descriptors that become readable when packets arrive.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.queues.iter().map(AsFd::as_fd)
    }
}

/// Writes a packet into the ring of those to send; no if there is no frame for it.
fn write(bytes: &[u8], area: &Area, ring: &mut Ring<libc::xdp_desc>, free: &mut Vec<u64>) -> bool {
    let Some(frame) = free.pop() else { return false };
    let descriptor = libc::xdp_desc { addr: frame, len: bytes.len() as u32, options: 0 };
    let is_written = area.write(frame, bytes) && ring.write([descriptor]) == 1;
    if !is_written {
        free.push(frame);
    }
    is_written
}

/// Has the kernel send what is in the ring, and returns how many packets it has lost over it.
fn kick(fd: BorrowedFd<'_>, ring: &Ring<libc::xdp_desc>) -> u64 {
    let mut lost = 0;
    for _ in 0..TRIES {
        if ring.unread() == 0 {
            break;
        }
        // SAFETY: without bytes and without an address; it stands for the ring.
        let status =
            unsafe { libc::sendto(fd.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT, ptr::null(), 0) };
        if status >= 0 {
            continue;
        }
        match io::Error::last_os_error().raw_os_error() {
            // It sends some at a time, or has no room until the interface has got rid of some.
            Some(libc::EAGAIN | libc::EINTR) => {}
            // It has dropped one.
            Some(libc::EBUSY) => lost += 1,
            // The interface is down or gone; they stay in the ring until that is full.
            _ => break,
        }
    }
    lost
}
