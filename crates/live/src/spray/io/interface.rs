//! An interface with one socket for each core.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use super::offloads::Merging;
use super::socket::close_by;
use super::{Selector, Socket};
use crate::Device;
use crate::error::Error;

/// Room in a frame of the ring beside the packet: the ring's own header, the Ethernet header and two tags, and some to spare.
const FRAME_OVERHEAD: usize = 256;

/// An interface from which every packet goes to one core's socket, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Those of the cores, in their order, until workers take them.
    pub(crate) sockets: Vec<Socket>,
    /// The longest packet without its Ethernet header.
    pub(crate) mtu: usize,
    _merging: Merging,
}

impl Interface {
    /// Opens a device for `cores` cores, each with a ring of `frames` frames. Its packets are seen from when this returns, each once.
    pub(crate) fn open(
        device: &Device,
        selector: &Selector,
        cores: usize,
        frames: usize,
    ) -> Result<Self, Error> {
        let closed = selector.closed();
        let program = selector.program();
        device.within(move || {
            let index = device.index()?;
            device.require_ethernet()?;
            let refused = || Error::io(format!("open packet sockets on {device}"));
            let merging = Merging::turn_off(device)?;
            let mtu = merging.mtu();
            let frame_bytes = (mtu + FRAME_OVERHEAD).next_power_of_two();
            let mut sockets = Vec::with_capacity(cores);
            for _ in 0..cores {
                let socket = Socket::new(frames, frame_bytes).map_err(refused())?;
                // Before it is in the group it would get every packet, and the group has no program yet.
                close_by(socket.as_fd(), closed).map_err(refused())?;
                socket.bind(index).map_err(refused())?;
                sockets.push(socket);
            }
            join(&sockets).map_err(refused())?;
            if let Some(first) = sockets.first() {
                first
                    .set(libc::PACKET_FANOUT_DATA, &program.as_raw_fd())
                    .map_err(Error::io(format!("let a program choose the cores on {device}")))?;
                // Packets for other addresses, too: this is no end of theirs.
                let promiscuous = libc::packet_mreq {
                    mr_ifindex: index,
                    mr_type: libc::PACKET_MR_PROMISC as u16,
                    mr_alen: 0,
                    mr_address: [0; 8],
                };
                first.set(libc::PACKET_ADD_MEMBERSHIP, &promiscuous).map_err(refused())?;
            }
            sockets.iter().try_for_each(Socket::open).map_err(refused())?;
            Ok(Self { sockets, mtu, _merging: merging })
        })
    }
}

impl Interface {
    /// Keeps packets from a core's socket from now on.
    pub(crate) fn close(socket: &OwnedFd, selector: &Selector) -> std::io::Result<()> {
        close_by(socket.as_fd(), selector.closed())
    }
}

/// Makes sockets one group, in which their numbers are those of their places.
fn join(sockets: &[Socket]) -> std::io::Result<()> {
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
