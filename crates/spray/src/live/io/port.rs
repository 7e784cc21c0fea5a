//! A core's way to and from an interface, whatever it is made of.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::str::FromStr;
use std::{fmt, io};

use super::socket::{Frame, Offered, Socket};
use super::xdp::XdpSocket;
use crate::Packet;

/// How packets come from interfaces and go to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoBackend {
    /// Packet sockets in a fanout group (AF_PACKET): on every interface; the kernel sees the packets as well.
    #[default]
    Packet,
    /// AF_XDP sockets: quicker; the kernel does not see the packets.
    Xdp,
}

impl fmt::Display for IoBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packet => "packet",
            Self::Xdp => "xdp",
        })
    }
}

impl FromStr for IoBackend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "packet" => Ok(Self::Packet),
            "xdp" => Ok(Self::Xdp),
            _ => Err(format!("expected packet or xdp, got \"{text}\"")),
        }
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

    /// What the kernel counted since it was asked last.
    pub(crate) fn offered(&mut self) -> io::Result<Offered> {
        match self {
            Self::Packet(socket) => socket.offered(),
            Self::Xdp(sockets) => sockets.offered(),
        }
    }

    /// What becomes readable when packets come.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Packet(socket) => vec![socket.as_fd()],
            Self::Xdp(sockets) => sockets.descriptors().collect(),
        }
    }
}
