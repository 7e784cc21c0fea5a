//! A core's way to and from an interface, whatever it is made of.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

use trueplane_units::choices;

use super::socket::{Frame, Offered, Socket};
use super::xdp::XdpSocket;
use crate::Packet;

choices! {
    /// I/O backend: the means by which packets come from interfaces and go to them.
    pub enum IoBackend {
        /// Packet sockets in a fanout group (AF_PACKET): for every interface; the kernel sees the packets as well.
        Packet = "packet",
        /// AF_XDP sockets: faster; they bypass the rest of the kernel, and need an MTU of at most 3818.
        Xdp = "xdp",
    }
}

/// A core's way to and from an interface.
#[derive(Debug)]
pub(crate) enum Port {
    Packet(Socket),
    Xdp(XdpSocket),
}

impl Port {
    /// Reads at most so many frames; returns how many there were.
    #[inline]
    pub(crate) fn receive(&mut self, most: usize, each: impl FnMut(Frame<'_>)) -> usize {
        match self {
            Self::Packet(socket) => socket.receive(most, each),
            Self::Xdp(sockets) => sockets.receive(most, each),
        }
    }

    /// Sends packets out of the interface and returns how many of them it did not take.
    pub(crate) fn send(&mut self, packets: &[Packet]) -> u64 {
        match self {
            Self::Packet(socket) => socket.send(packets),
            Self::Xdp(sockets) => sockets.send(packets),
        }
    }

    /// Counters of the kernel since the last call.
    pub(crate) fn offered(&mut self) -> io::Result<Offered> {
        match self {
            Self::Packet(socket) => socket.offered(),
            Self::Xdp(sockets) => sockets.offered(),
        }
    }

    /// Descriptors that become readable when packets arrive.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Packet(socket) => vec![socket.as_fd()],
            Self::Xdp(sockets) => sockets.descriptors().collect(),
        }
    }
}
