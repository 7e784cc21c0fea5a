//! Network devices, by name and network namespace.

use std::ffi::CStr;
use std::fs::{self, File};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::str::FromStr;
use std::{fmt, io, thread};

use rustix::net::netdevice::name_to_index;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::Error;

/// Folder in which `ip netns` keeps network namespaces by name.
const NETNS: &str = "/run/netns";

/// A network device: `eth0` of this process's network namespace, or `eth0@blue` of one that `ip netns` knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// The device's name.
    pub name: String,
    /// The name of its network namespace, as under `/run/netns`; `None`: that of this process.
    pub netns: Option<String>,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.netns {
            Some(netns) => write!(f, "{}@{netns}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('@') {
            Some((name, netns)) => Self::new(name, Some(netns)),
            None => Self::new(text, None),
        }
    }
}

impl Device {
    /// The device `name`, in this process's network namespace or in one of that name.
    pub fn new(name: &str, netns: Option<&str>) -> Result<Self, Error> {
        // Both become parts of paths; the kernel itself refuses slashes and spaces in names of devices.
        let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '@']);
        if !is_plain(name) || name.len() >= libc::IFNAMSIZ || !netns.is_none_or(is_plain) {
            let found = netns.map_or(name.to_owned(), |netns| format!("{name}@{netns}"));
            return Err(Error::Request(format!(
                "expected a network device such as eth0, or eth0@blue for one in the network namespace blue, got \"{found}\""
            )));
        }
        Ok(Self { name: name.to_owned(), netns: netns.map(str::to_owned) })
    }

    /// Runs `work` in the device's network namespace, and only there: mounts and everything else stay as they are.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        within(self.netns.as_deref(), work)
    }

    /// The device's index, which the kernel goes by; to be called [`Self::within`] its namespace.
    pub fn index(&self) -> Result<i32, Error> {
        let index = name_to_index(any_socket()?, &self.name).map_err(|_| self.unknown())?;
        i32::try_from(index).map_err(|_| self.unknown())
    }

    /// Refuses a device whose frames do not begin with an Ethernet header; to be called [`Self::within`] its namespace.
    pub fn require_ethernet(&self) -> Result<(), Error> {
        let asked = Error::io(format!("ask what {self} is"));
        let socket = any_socket()?;
        // SAFETY: all bytes zero are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(self.name.as_bytes()) {
            *to = *from as libc::c_char;
        }
        // SAFETY: the request names a device, with a final zero because names are shorter than the field, and is large enough
        // for the answer.
        if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &mut request) } != 0 {
            return Err(asked(io::Error::last_os_error()));
        }
        // SAFETY: this is the part of the request that the call has filled.
        let kind = unsafe { request.ifr_ifru.ifru_hwaddr.sa_family };
        if [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK].contains(&kind) {
            return Ok(());
        }
        Err(Error::Request(format!(
            "expected a device with Ethernet frames; {self} has others (type {kind}), such as tun, wireguard or ppp"
        )))
    }

    fn unknown(&self) -> Error {
        Error::Request(format!("there is no network device {self}"))
    }
}

/// A socket of this namespace, to ask about devices.
fn any_socket() -> Result<UdpSocket, Error> {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(Error::io("open a socket"))
}

/// Runs `work` in the network namespace of that name, or in this thread's, and only there: mounts and everything else stay as they are.
pub fn within<T: Send>(
    netns: Option<&str>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let Some(netns) = netns else { return work() };
    let path = format!("{NETNS}/{netns}");
    let namespace = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::Request(format!("there is no network namespace {netns}: there is no {path}"))
        }
        _ => Error::io(format!("open the network namespace {path}"))(error),
    })?;
    // A thread of its own, because it is the thread that moves.
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            enter(&namespace).map_err(Error::io(format!("enter the network namespace {netns}")))?;
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The names of network namespaces that `ip netns` knows, in their order.
pub fn namespaces() -> Vec<String> {
    let entries = fs::read_dir(NETNS).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The number of this thread's network namespace, which no other one ever has.
pub fn namespace() -> Result<u64, Error> {
    let refused = || Error::io("tell the network namespace");
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(refused())?;
    let mut cookie = 0u64;
    let mut length = size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: the option is a number of 64 bits, for which there is room, and which live meanwhile.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    if status == 0 { Ok(cookie) } else { Err(refused()(io::Error::last_os_error())) }
}

/// The devices of this thread's network namespace, by name and index.
pub fn devices() -> Vec<(String, i32)> {
    // SAFETY: the call takes nothing; what it returns is freed below.
    let list = unsafe { libc::if_nameindex() };
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: the list is null, or ends with an entry whose index is 0; every entry before has a name that is a C string.
    while !next.is_null() && unsafe { (*next).if_index } != 0 {
        // SAFETY: as above.
        let (name, index) = unsafe { (CStr::from_ptr((*next).if_name), (*next).if_index) };
        found.extend(i32::try_from(index).ok().map(|index| (name.to_string_lossy().into_owned(), index)));
        // SAFETY: it was not the last entry.
        next = unsafe { next.add(1) };
    }
    if !list.is_null() {
        // SAFETY: it came from `if_nameindex`, and nothing borrows from it any more.
        unsafe { libc::if_freenameindex(list) };
    }
    found
}

/// Moves this thread into a network namespace.
pub fn enter(namespace: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_with_their_namespace() {
        let device: Device = "eth0@blue".parse().unwrap();
        assert_eq!(device, Device { name: "eth0".into(), netns: Some("blue".into()) });
        assert_eq!(device.to_string(), "eth0@blue");
        assert_eq!("lo".parse::<Device>().unwrap().netns, None);
        for bad in ["", "@", "a@", "@b", "../x", "eth0@..", "a-name-that-is-too-long"] {
            assert!(bad.parse::<Device>().is_err(), "{bad}");
        }
    }
}
