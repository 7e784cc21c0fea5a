//! What an interface does to packets before anybody sees them: merging several into one (GRO, LRO), which nobody can forward as it is.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use trueplane_linux::Device;
use trueplane_linux::error::Error;

/// The kernel's `ETHTOOL_GFLAGS`, `_SFLAGS`, `_GGRO`, `_SGRO` and `ETH_FLAG_LRO` (linux/ethtool.h).
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const FLAG_LRO: u32 = 1 << 15;
/// `ETHTOOL_GCHANNELS`.
const GET_CHANNELS: u32 = 0x3c;

/// Turned off; on again, if it was, when dropped.
#[derive(Debug)]
pub(super) struct Merging {
    asked: Asked,
    mtu: usize,
    had_gro: bool,
    /// All flags, if LRO was one of them.
    had_flags: Option<u32>,
}

impl Merging {
    /// Turns it off for a device; to be called within its namespace.
    pub(super) fn turn_off(device: &Device) -> Result<Self, Error> {
        let refused = || Error::io(format!("set up {device}"));
        // It keeps the namespace, whichever thread asks.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(refused())?;
        let asked = Asked { socket, device: device.name.clone() };
        let mtu = asked.mtu().map_err(refused())?;
        // An interface that does not know them has neither.
        let had_gro = asked.value(GET_GRO, 0).unwrap_or(0) != 0;
        let had_flags = asked.value(GET_FLAGS, 0).ok().filter(|flags| flags & FLAG_LRO != 0);
        let merging = Self { asked, mtu, had_gro, had_flags };
        if had_gro {
            merging.asked.value(SET_GRO, 0).map_err(refused())?;
        }
        if let Some(flags) = had_flags {
            merging.asked.value(SET_FLAGS, flags & !FLAG_LRO).map_err(refused())?;
        }
        Ok(merging)
    }

    /// Whether a device of this index is in the namespace.
    pub(super) fn has_device(&self, index: i32) -> bool {
        self.asked.has_device(index)
    }

    /// The queues into which the device receives.
    pub(super) fn queues(&self) -> u32 {
        self.asked.queues()
    }

    /// The longest packet that the device sends, without its Ethernet header.
    pub(super) fn mtu(&self) -> usize {
        self.mtu
    }
}

impl Drop for Merging {
    fn drop(&mut self) {
        // The device may be gone, and then there is nothing to restore.
        if self.had_gro {
            let _ = self.asked.value(SET_GRO, 1);
        }
        if let Some(flags) = self.had_flags {
            let _ = self.asked.value(SET_FLAGS, flags);
        }
    }
}

/// A device, and a socket to ask about it.
#[derive(Debug)]
struct Asked {
    socket: UdpSocket,
    device: String,
}

/// The kernel's `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// The kernel's `struct ethtool_channels`: the command; then how many there could be, and how many there are, each of those that receive, send, do neither
/// and both.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    found: [u32; 4],
}

impl Asked {
    /// Gets or sets a value of ethtool.
    fn value(&self, command: u32, data: u32) -> io::Result<u32> {
        let mut value = Value { command, data };
        // SAFETY: these commands take a value of this type.
        unsafe { self.ethtool((&raw mut value).cast()) }?;
        Ok(value.data)
    }

    /// Queues into which it receives; one where it does not know.
    fn queues(&self) -> u32 {
        let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
        // SAFETY: the command takes a value of this type.
        let asked = unsafe { self.ethtool((&raw mut channels).cast()) };
        let [receive, _, _, both] = channels.found;
        if asked.is_ok() { (receive + both).max(1) } else { 1 }
    }

    /// Asks ethtool.
    ///
    /// # Safety
    ///
    /// What is asked points to a structure of the type that its command takes, which lives meanwhile.
    unsafe fn ethtool(&self, asked: *mut libc::c_char) -> io::Result<()> {
        let mut request = self.request();
        request.ifr_ifru.ifru_data = asked;
        // SAFETY: the request names a device, and the caller says the rest.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn mtu(&self) -> io::Result<usize> {
        let mut request = self.request();
        // SAFETY: the request names a device and is large enough for the answer.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) } {
            // SAFETY: this is the part of the request that the call has filled.
            0 => Ok(unsafe { request.ifr_ifru.ifru_mtu }.max(0) as usize),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn has_device(&self, index: i32) -> bool {
        // SAFETY: all bytes zero are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_ifru.ifru_ifindex = index;
        // SAFETY: the request bears an index and is large enough for the name that is the answer.
        let asked = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFNAME as _, &raw mut request) };
        asked == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENODEV)
    }

    fn request(&self) -> libc::ifreq {
        // SAFETY: all bytes zero are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(self.device.as_bytes()) {
            *to = *from as libc::c_char;
        }
        request
    }
}
