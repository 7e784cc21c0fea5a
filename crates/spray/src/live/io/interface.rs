//! An interface with a way to and from each core.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use trueplane_linux::Device;
use trueplane_linux::error::Error;

use super::offloads::Merging;
use super::port::{IoBackend, Port};
use super::selector::Selector;
use super::socket::{Socket, close_by};
use super::xdp::{self, Plan, Redirection};

/// Room in a frame of the ring beside the packet: the ring's own header, the Ethernet header and two tags, and some to spare.
const FRAME_OVERHEAD: usize = 256;

/// Parameters for opening an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) backend: IoBackend,
    pub(crate) cores: usize,
    /// Frames of each core's ring, a power of two.
    pub(crate) frames: usize,
}

impl Opening {
    /// What to do if the kernel has no memory for the rings.
    fn explain(self, error: io::Error) -> io::Error {
        match error.raw_os_error() {
            Some(libc::ENOMEM | libc::ENOBUFS) => io::Error::new(
                error.kind(),
                format!(
                    "there is no memory for {} rings of {} frames; make --ring smaller",
                    self.cores, self.frames
                ),
            ),
            _ => error,
        }
    }
}

/// An interface from which every packet goes to one core, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Those of the cores, in their order, until workers take them.
    pub(crate) ports: Vec<Port>,
    /// The longest packet without its Ethernet header.
    pub(crate) mtu: usize,
    index: i32,
    /// The packet sockets, to close them.
    sockets: Vec<OwnedFd>,
    /// The program that redirects, which goes before merging comes back.
    _link: Option<OwnedFd>,
    merging: Merging,
    /// Has the interface take packets for all addresses, where the cores' sockets cannot.
    _hearing: Option<Socket>,
}

impl Interface {
    /// Opens the first device of a run (`side` 0) or the second. Its packets are seen from when this returns, each once.
    pub(crate) fn open(
        device: &Device,
        side: usize,
        selector: &Selector,
        opening: Opening,
    ) -> Result<Self, Error> {
        let [fanout, closed] = [selector.program(), selector.closed()];
        let redirection = selector.redirection(side)?;
        device.within(move || {
            let index = device.index()?;
            device.require_ethernet()?;
            let merging = Merging::turn_off(device)?;
            match opening.backend {
                IoBackend::Packet => Self::over_packet(device, index, merging, [fanout, closed], opening),
                IoBackend::Xdp => Self::over_xdp(device, index, merging, &redirection, opening),
            }
        })
    }

    fn over_packet(
        device: &Device,
        index: i32,
        merging: Merging,
        [fanout, closed]: [BorrowedFd<'_>; 2],
        opening: Opening,
    ) -> Result<Self, Error> {
        let refused = || Error::io(format!("open packet sockets on {device}"));
        let mtu = merging.mtu();
        let frame_bytes = (mtu + FRAME_OVERHEAD).next_power_of_two();
        let mut sockets = Vec::with_capacity(opening.cores);
        for _ in 0..opening.cores {
            let socket = Socket::new(opening.frames, frame_bytes);
            let socket = socket.map_err(|error| opening.explain(error)).map_err(refused())?;
            // Before it is in the group it would get every packet, and the group has no program yet.
            close_by(socket.as_fd(), closed).map_err(refused())?;
            socket.bind(index).map_err(refused())?;
            sockets.push(socket);
        }
        join(&sockets).map_err(refused())?;
        if let Some(first) = sockets.first() {
            first
                .set(libc::PACKET_FANOUT_DATA, &fanout.as_raw_fd())
                .map_err(Error::io(format!("let a program choose the cores on {device}")))?;
            hear_all(first, index).map_err(refused())?;
        }
        sockets.iter().try_for_each(Socket::open).map_err(refused())?;
        let clone = |socket: &Socket| socket.as_fd().try_clone_to_owned();
        let closing = sockets.iter().map(clone).collect::<io::Result<_>>().map_err(refused())?;
        let ports = sockets.into_iter().map(Port::Packet).collect();
        Ok(Self { ports, mtu, index, sockets: closing, _link: None, merging, _hearing: None })
    }

    fn over_xdp(
        device: &Device,
        index: i32,
        merging: Merging,
        redirection: &Redirection<'_>,
        opening: Opening,
    ) -> Result<Self, Error> {
        let mtu = merging.mtu();
        let refused = || Error::io(format!("open AF_XDP sockets on {device}"));
        // They have no way to ask for packets that are for other addresses.
        let hearing = Socket::new(1, FRAME_OVERHEAD).map_err(refused())?;
        hear_all(&hearing, index).map_err(refused())?;
        let plan = Plan {
            interface: index,
            queues: merging.queues(),
            mtu,
            cores: opening.cores,
            frames: opening.frames as u32,
        };
        let opened = xdp::open(plan, redirection).map_err(|error| opening.explain(error));
        let (sockets, link) = opened.map_err(refused())?;
        let ports = sockets.into_iter().map(Port::Xdp).collect();
        Ok(Self {
            ports,
            mtu,
            index,
            sockets: Vec::new(),
            _link: Some(link),
            merging,
            _hearing: Some(hearing),
        })
    }

    /// Whether it is still in its network namespace, by whatever name.
    pub(crate) fn is_there(&self) -> bool {
        self.merging.has_device(self.index)
    }

    /// Keeps packets from the cores from now on.
    pub(crate) fn close(&self, selector: &Selector) -> io::Result<()> {
        self.sockets.iter().try_for_each(|socket| close_by(socket.as_fd(), selector.closed()))
    }
}

/// Has the interface take packets for other addresses, too, for as long as the socket lives: this is no end of theirs.
fn hear_all(socket: &Socket, index: i32) -> io::Result<()> {
    let promiscuous = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    socket.set(libc::PACKET_ADD_MEMBERSHIP, &promiscuous)
}

/// Makes sockets one group, in which their numbers are those of their places.
fn join(sockets: &[Socket]) -> io::Result<()> {
    let kind = libc::PACKET_FANOUT_EBPF | libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
    let mut group = 0;
    for (place, socket) in sockets.iter().enumerate() {
        // The first one asks for a number that no other group has.
        let flags = if place == 0 { kind | libc::PACKET_FANOUT_FLAG_UNIQUEID } else { kind };
        socket.set(libc::PACKET_FANOUT, &(flags << 16 | group))?;
        if place == 0 {
            group = socket.get::<u32>(libc::PACKET_FANOUT)? & 0xffff;
        }
    }
    Ok(())
}
