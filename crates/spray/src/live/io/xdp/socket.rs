//! A core's AF_XDP sockets on an interface: one for each receive queue.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, SocketAddrXdpWithSharedUmem, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING,
    XdpDesc, XdpDescOptions,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with, sockopt};

use super::super::options::set;
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
    receive: Ring<XdpDesc>,
    /// For the core whose packets leave by this queue.
    send: Option<Ring<XdpDesc>>,
    fd: OwnedFd,
}

/// A descriptor of a new socket.
pub(super) fn descriptor() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None)?)
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
        sockopt::set_xdp_rx_ring_size(&fd, receive)?;
        if let Some(send) = send {
            sockopt::set_xdp_tx_ring_size(&fd, send)?;
            // Where the limit is a lower one, less is under way.
            let _ = set(fd.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        }
        let offsets = sockopt::xdp_mmap_offsets(&fd)?;
        let receive = Ring::map(fd.as_fd(), offsets.rx, receive, XDP_PGOFF_RX_RING)?;
        let map_send = |size| Ring::map(fd.as_fd(), offsets.tx, size, XDP_PGOFF_TX_RING);
        let send = send.map(map_send).transpose()?;
        let address = |flags| SocketAddrXdp::new(flags, place.interface as u32, place.queue);
        patiently(|| {
            let bound = match shared {
                // The later ones of a queue do as the first one.
                Some(shared_umem_fd) => {
                    let addr = address(SocketAddrXdpFlags::XDP_SHARED_UMEM);
                    bind(&fd, &SocketAddrXdpWithSharedUmem { addr, shared_umem_fd })
                }
                None => bind(&fd, &address(SocketAddrXdpFlags::XDP_COPY)),
            };
            Ok(bound?)
        })?;
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
            let counted = sockopt::xdp_statistics(queue)?;
            dropped += counted.rx_dropped + counted.rx_ring_full.unwrap_or(0);
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
fn write(bytes: &[u8], area: &Area, ring: &mut Ring<XdpDesc>, free: &mut Vec<u64>) -> bool {
    let Some(frame) = free.pop() else { return false };
    let descriptor = XdpDesc { addr: frame, len: bytes.len() as u32, options: XdpDescOptions::empty() };
    let is_written = area.write(frame, bytes) && ring.write([descriptor]) == 1;
    if !is_written {
        free.push(frame);
    }
    is_written
}

/// Has the kernel send what is in the ring, and returns how many packets it has lost over it.
fn kick(fd: BorrowedFd<'_>, ring: &Ring<XdpDesc>) -> u64 {
    let mut lost = 0;
    for _ in 0..TRIES {
        if ring.unread() == 0 {
            break;
        }
        // Without bytes: it stands for the ring.
        match send(fd, &[], SendFlags::DONTWAIT) {
            // It sends some at a time, or has no room until the interface has got rid of some.
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            // It has dropped one.
            Err(Errno::BUSY) => lost += 1,
            // The interface is down or gone; they stay in the ring until that is full.
            Err(_) => break,
        }
    }
    lost
}
