//! A packet socket: a ring in memory that the kernel fills with what arrives, and sending in batches.
//!
//! The ring is of version 2 (`TPACKET_V2`), of frames of one size. Version 3 packs them into blocks, which reach the reader when they are full or
//! after a millisecond at the earliest; a middlebox cannot make its users wait for that.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, mem};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use trueplane_linux::mapping::Mapping;

use super::options::{Plain, check, get, set};
use crate::Packet;

/// Packets sent with one call at most.
const SENT_AT_ONCE: usize = 32;
/// Bytes that may be under way to the interface.
const SEND_BUFFER: libc::c_int = 4 << 20;
/// Protocol numbers are in network order.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();

/// A received frame, in the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'r> {
    /// Bytes of the frame from the Ethernet header on, as far as there was room.
    pub(crate) bytes: &'r [u8],
    /// The tag that the kernel took off: type and the tag itself.
    pub(crate) tag: Option<(u16, u16)>,
    /// The transport's checksum covers the pseudo header only: who sent it left the rest to a card that there is none of.
    pub(crate) is_partial: bool,
    /// There was no room for all of it.
    pub(crate) is_cut: bool,
}

/// Counters of the kernel since they were last read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offered {
    /// Packets for this socket.
    pub(crate) packets: u64,
    /// Those of them for which the ring had no room.
    pub(crate) dropped: u64,
}

/// The socket of one core on one interface.
#[derive(Debug)]
pub(crate) struct Socket {
    ring: Ring,
    fd: OwnedFd,
}

impl Socket {
    /// A socket with a ring of `frames` frames of `frame_bytes` each, powers of two, which receives nothing yet.
    pub(super) fn new(frames: usize, frame_bytes: usize) -> io::Result<Self> {
        // With protocol 0 the socket receives nothing.
        let fd = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let block_bytes = frame_bytes.max(1 << 16);
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: (frames * frame_bytes / block_bytes).max(1) as u32,
            tp_frame_size: frame_bytes as u32,
            tp_frame_nr: (frames * frame_bytes).max(block_bytes) as u32 / frame_bytes as u32,
        };
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // What is sent goes straight to the interface, and is not shown to those who listen there, such as ourselves.
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1i32)?;
        // Where the limit is a lower one, less is under way.
        let _ = set(fd.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        let ring = Ring::map(fd.as_fd(), request.tp_frame_nr as usize, frame_bytes)?;
        Ok(Self { ring, fd })
    }

    /// Receives what comes in by the interface of this index, from now on.
    pub(super) fn bind(&self, interface: i32) -> io::Result<()> {
        // SAFETY: all bytes zero are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ALL_PROTOCOLS;
        address.sll_ifindex = interface;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is of the type and size that the family says, and lives meanwhile.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
    }

    /// Sets an option of packet sockets.
    pub(super) fn set<T: Plain>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        set(self.fd.as_fd(), libc::SOL_PACKET, option, value)
    }

    /// Reads an option of packet sockets.
    pub(super) fn get<T: Plain>(&self, option: libc::c_int) -> io::Result<T> {
        get(self.fd.as_fd(), libc::SOL_PACKET, option)
    }

    /// Lets packets in again.
    pub(super) fn open(&self) -> io::Result<()> {
        set(self.fd.as_fd(), libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0i32)
    }

    /// Reads at most so many frames; returns how many there were.
    #[inline]
    pub(crate) fn receive(&mut self, most: usize, each: impl FnMut(Frame<'_>)) -> usize {
        self.ring.take(most, each)
    }

    /// Counters of the kernel since the last call.
    pub(crate) fn offered(&self) -> io::Result<Offered> {
        let [packets, dropped] = self.get::<[u32; 2]>(libc::PACKET_STATISTICS)?;
        Ok(Offered { packets: packets.into(), dropped: dropped.into() })
    }

    /// Sends packets out of the interface and returns how many of them it did not take.
    pub(crate) fn send(&self, packets: &[Packet]) -> u64 {
        packets.chunks(SENT_AT_ONCE).map(|some| self.send_some(some)).sum()
    }

    fn send_some(&self, packets: &[Packet]) -> u64 {
        let mut parts: [libc::iovec; SENT_AT_ONCE] =
            [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; SENT_AT_ONCE];
        // SAFETY: all bytes zero are valid messages: without an address, and without parts.
        let mut messages: [libc::mmsghdr; SENT_AT_ONCE] = unsafe { mem::zeroed() };
        for ((message, part), packet) in messages.iter_mut().zip(&mut parts).zip(packets) {
            let bytes = packet.bytes();
            // The kernel only reads it.
            *part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        let (mut at, mut refused) = (0, 0);
        while at < packets.len() {
            let rest = &mut messages[at..packets.len()];
            // SAFETY: as many messages as it is told, each with one part that is a packet's bytes, all of which live meanwhile.
            let status = unsafe {
                libc::sendmmsg(
                    self.fd.as_raw_fd(),
                    rest.as_mut_ptr(),
                    rest.len() as libc::c_uint,
                    // C libraries differ in its type.
                    libc::MSG_DONTWAIT as _,
                )
            };
            match usize::try_from(status) {
                Ok(sent) if sent > 0 => at += sent,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                // The first of the rest: too long, or no room.
                _ => (at, refused) = (at + 1, refused + 1),
            }
        }
        refused
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Memory that the kernel and this process share.
#[derive(Debug)]
struct Ring {
    memory: Mapping,
    frames: usize,
    frame_bytes: usize,
    next: usize,
}

impl Ring {
    fn map(fd: BorrowedFd<'_>, frames: usize, frame_bytes: usize) -> io::Result<Self> {
        Ok(Self { memory: Mapping::shared(fd, frames * frame_bytes, 0)?, frames, frame_bytes, next: 0 })
    }

    fn take(&mut self, most: usize, mut each: impl FnMut(Frame<'_>)) -> usize {
        for taken in 0..most {
            // SAFETY: the number is below that of frames, so the frame lies within the mapping.
            let frame = unsafe { self.memory.start().add(self.next * self.frame_bytes) };
            // SAFETY: every frame begins with its header, aligned as frames are, and the header with the status, which the kernel
            // writes as a whole, last.
            let status = unsafe { AtomicU32::from_ptr(frame.cast::<u32>().as_ptr()) };
            let flags = status.load(Ordering::Acquire);
            if flags & libc::TP_STATUS_USER == 0 {
                return taken;
            }
            // SAFETY: the status says that the frame is ours, and the header is of the version that was asked for.
            let header = unsafe { frame.cast::<libc::tpacket2_hdr>().read() };
            let at = usize::from(header.tp_mac).min(self.frame_bytes);
            let length = (header.tp_snaplen as usize).min(self.frame_bytes - at);
            // SAFETY: within the frame, which is ours until the status says otherwise.
            let bytes = unsafe { std::slice::from_raw_parts(frame.add(at).as_ptr(), length) };
            let has = |flag: u32| flags & flag != 0;
            let kind = if has(libc::TP_STATUS_VLAN_TPID_VALID) { header.tp_vlan_tpid } else { 0x8100 };
            each(Frame {
                bytes,
                tag: has(libc::TP_STATUS_VLAN_VALID).then_some((kind, header.tp_vlan_tci)),
                is_partial: has(libc::TP_STATUS_CSUMNOTREADY),
                is_cut: length < header.tp_len as usize,
            });
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = if self.next + 1 == self.frames { 0 } else { self.next + 1 };
        }
        most
    }
}

/// Keeps packets from a socket by a program that lets none in.
pub(super) fn close_by(socket: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &program.as_raw_fd())
}
