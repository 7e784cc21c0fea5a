//! The packets of a receive queue: memory in frames, and who has which.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::net::sockopt;
use rustix::net::xdp::{
    XDP_UMEM_PGOFF_COMPLETION_RING, XDP_UMEM_PGOFF_FILL_RING, XdpDesc, XdpUmemReg, XdpUmemRegFlags,
};
use trueplane_linux::mapping::Mapping;

use super::ring::Ring;

/// Bytes that the kernel leaves free in front of a packet (XDP_PACKET_HEADROOM, linux/bpf.h).
const HEADROOM: usize = 256;
/// Bytes of the Ethernet header and two tags.
const LINK_BYTES: usize = 14 + 2 * 4;

/// Memory that several sockets of one queue share: the kernel copies what arrives into frames that it has been given, and what is sent from others.
///
/// Which frames nobody uses is told to the kernel by two rings, of which a queue has one each however many sockets it has: so they are behind a
/// lock, which is taken once for a batch.
#[derive(Debug)]
pub(super) struct Area {
    memory: Mapping,
    frame_bytes: usize,
    frames: Mutex<Frames>,
}

#[derive(Debug)]
struct Frames {
    /// Given to the kernel, for packets to come.
    fill: Ring<u64>,
    /// Frames that were sent.
    completion: Ring<u64>,
    /// Nobody's, to send from.
    free: Vec<u64>,
}

impl Area {
    /// The size of frames for packets of an MTU, if there is one: a frame is a page at most.
    pub(super) fn frame_bytes(mtu: usize) -> Option<usize> {
        [2048, 4096].into_iter().find(|&bytes| mtu + LINK_BYTES + HEADROOM <= bytes)
    }

    /// Memory for a queue whose first socket this is: so many frames, a power of two, to receive into and to send from.
    pub(super) fn register(
        fd: BorrowedFd<'_>,
        frame_bytes: usize,
        receive: u32,
        send: u32,
    ) -> io::Result<Self> {
        let memory = Mapping::anonymous((receive + send) as usize * frame_bytes)?;
        let registration = XdpUmemReg {
            addr: memory.start().as_ptr() as u64,
            len: memory.length() as u64,
            chunk_size: frame_bytes as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        sockopt::set_xdp_umem_reg(fd, registration)?;
        sockopt::set_xdp_umem_fill_ring_size(fd, receive)?;
        sockopt::set_xdp_umem_completion_ring_size(fd, send)?;
        let offsets = sockopt::xdp_mmap_offsets(fd)?;
        let mut fill = Ring::map(fd, offsets.fr, receive, XDP_UMEM_PGOFF_FILL_RING)?;
        let completion = Ring::map(fd, offsets.cr, send, XDP_UMEM_PGOFF_COMPLETION_RING)?;
        let address = |frame: u32| u64::from(frame) * frame_bytes as u64;
        fill.write((0..receive).map(address));
        let free = (receive..receive + send).map(address).collect();
        Ok(Self { memory, frame_bytes, frames: Mutex::new(Frames { fill, completion, free }) })
    }

    fn frames(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives frames that were received back to the kernel.
    pub(super) fn give_back(&self, frames: &mut Vec<u64>) {
        // There is room: the ring has as many entries as there are such frames.
        self.frames().fill.write(frames.iter().copied());
        frames.clear();
    }

    /// Takes frames to send from until there are `count` in `frames`, as far as there are any.
    pub(super) fn take(&self, count: usize, frames: &mut Vec<u64>) {
        let mut shared = self.frames();
        let Frames { completion, free, .. } = &mut *shared;
        completion.read(usize::MAX, |frame| free.push(frame));
        let taken = count.saturating_sub(frames.len()).min(free.len());
        frames.extend(free.drain(free.len() - taken..));
    }

    /// The frame in which a packet lies.
    pub(super) fn frame_of(&self, address: u64) -> u64 {
        address & !(self.frame_bytes as u64 - 1)
    }

    /// A packet that was received; none if it lies elsewhere, which no kernel says.
    pub(super) fn packet(&self, descriptor: &XdpDesc) -> Option<&[u8]> {
        let (start, length) = (usize::try_from(descriptor.addr).ok()?, descriptor.len as usize);
        start.checked_add(length).filter(|&end| end <= self.memory.length())?;
        // SAFETY: within the mapping, which lives as long as the area; the kernel does not write to a frame that it has told of until it is given back,
        // which only the reader of the ring does, after it has used the packet.
        Some(unsafe { std::slice::from_raw_parts(self.memory.start().add(start).as_ptr(), length) })
    }

    /// Writes a packet into a frame taken with [`take`](Self::take); no if it is longer.
    pub(super) fn write(&self, frame: u64, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.frame_bytes
            && usize::try_from(frame).is_ok_and(|at| at + self.frame_bytes <= self.memory.length());
        if fits {
            // SAFETY: within the mapping, and nobody else has the frame.
            unsafe {
                let to = self.memory.start().add(frame as usize);
                to.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_small_as_the_mtu_allows() {
        assert_eq!(Area::frame_bytes(1500), Some(2048));
        assert_eq!(Area::frame_bytes(2048 - 278), Some(2048));
        assert_eq!(Area::frame_bytes(2048 - 277), Some(4096));
        assert_eq!(Area::frame_bytes(9000), None);
    }
}
