//! AF_XDP: packets that a program at the driver hands to sockets, past the rest of the kernel (Linux's Documentation/networking/af_xdp.rst).
//!
//! 1. `ring`: what this process and the kernel share.
//! 2. `area`: the packets of a receive queue, and who has which frame.
//! 3. `socket`: a core's sockets on an interface.
//! 4. `redirection`: the program's side: to which socket it redirects, and what it counts; `patience`: waits for the kernel to let go of what is closed.
//!
//! A packet can only go to a socket of the queue on which it came. So each queue has one for every core, over one memory (`XDP_SHARED_UMEM`), and
//! the program is as free in its choice as with packet sockets: whichever queue, whichever core. Packets are copied (`XDP_COPY`), which
//! works on every interface.

mod area;
mod patience;
mod redirection;
mod ring;
mod socket;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use area::Area;
use patience::patiently;
pub(super) use redirection::Redirection;
pub use redirection::attach;
pub(crate) use socket::XdpSocket;
use socket::{Place, QueueSocket, descriptor};

/// The fewest frames of a core's ring on a queue.
const LEAST_FRAMES: u32 = 64;
/// Parameters of an interface's sockets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The interface's index.
    pub(super) interface: i32,
    /// Its receive queues.
    pub(super) queues: u32,
    /// Without the Ethernet header, in bytes.
    pub(super) mtu: usize,
    pub(super) cores: usize,
    /// Frames of each core, over all queues; a power of two.
    pub(super) frames: u32,
}

/// Opens the sockets of all cores on an interface of this thread's namespace, and has the program redirect packets to them until what is returned second is
/// dropped.
pub(super) fn open(plan: Plan, redirection: &Redirection<'_>) -> io::Result<(Vec<XdpSocket>, OwnedFd)> {
    let Plan { queues, mtu, cores, .. } = plan;
    let frame_bytes =
        Area::frame_bytes(mtu).ok_or_else(|| refused(format!("there are no frames for an MTU of {mtu}")))?;
    if queues > redirection::MAX_QUEUES {
        let most = redirection::MAX_QUEUES;
        return Err(refused(format!(
            "expected {most} receive queues at most, got {queues} (see ethtool -L)"
        )));
    }
    let mut sockets: Vec<Vec<QueueSocket>> = (0..cores).map(|_| Vec::new()).collect();
    for queue in 0..queues {
        for (core, socket) in open_queue(plan, queue, frame_bytes)?.into_iter().enumerate() {
            redirection.register(queue, core, socket.as_fd())?;
            sockets[core].push(socket);
        }
    }
    let link =
        patiently(|| redirection.attach(plan.interface)).map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY) => refused("another XDP program is attached to it (see ip link)".to_owned()),
            _ => error,
        })?;
    let sockets = sockets.into_iter().enumerate();
    let sockets = sockets.map(|(core, queues)| Ok(XdpSocket::new(queues, redirection.counter(core)?)));
    Ok((sockets.collect::<io::Result<_>>()?, link))
}

/// The sockets of all cores on a queue, over one memory.
fn open_queue(plan: Plan, queue: u32, frame_bytes: usize) -> io::Result<Vec<QueueSocket>> {
    let Plan { interface, queues, cores, frames, .. } = plan;
    let place = Place { interface, queue };
    let ring = (frames / queues).next_power_of_two().max(LEAST_FRAMES);
    // Cores send by the queues in turn, each with as many frames as it receives into.
    let sends = |core: usize| core % queues as usize == queue as usize;
    let senders = (0..cores).filter(|&core| sends(core)).count().max(1) as u32;
    // Beside a ring full for each core, one for what is to come.
    let receive = (ring * (cores as u32 + 1)).next_power_of_two();
    let send = (frames * senders).next_power_of_two();
    let first = descriptor()?;
    let area = Arc::new(Area::register(first.as_fd(), frame_bytes, receive, send)?);
    let mut sockets: Vec<QueueSocket> = Vec::with_capacity(cores);
    let mut first = Some(first);
    for core in 0..cores {
        let fd = first.take().map_or_else(descriptor, Ok)?;
        let size = sends(core).then_some(frames);
        let shared = sockets.first().map(QueueSocket::as_fd);
        let socket = QueueSocket::bind(fd, Arc::clone(&area), place, ring, size, shared);
        sockets.push(socket.map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY) => refused(format!("its queue {queue} has AF_XDP sockets of somebody else")),
            _ => error,
        })?);
    }
    Ok(sockets)
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
