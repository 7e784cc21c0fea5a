//! DCTCP (RFC 8257) as a congestion control that can be loaded into a kernel without it: `bpf/dctcp.bpf.c`.
//!
//! It works in every network namespace. Both ends need it, and before they connect: the sender's SYN asks for ECN by it,
//! and a listener grants ECN to such a SYN only if it has it too. By route (`ip route replace 10.0.0.0/24 dev eth0 congctl
//! tp_dctcp`, at both ends) that holds for every program. A socket that chooses it by `TCP_CONGESTION` before it connects
//! or listens is as good, but `iperf3 -C` does so afterwards: by itself that gives Reno, which a connection without ECN
//! is handed to.
//!
//! As with the kernel's own DCTCP, choosing it by socket needs CAP_NET_ADMIN, and it cannot be a network namespace's
//! default but the first's. Sockets that have it keep it after it was unregistered.

use std::fs;
use std::mem::{MaybeUninit, offset_of};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use trueplane_linux::error::Error;
use trueplane_linux::{bpffs, privileges};

/// The generated skeleton, which has no documentation of its own.
mod skeleton {
    #![allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::pedantic,
        missing_docs,
        unreachable_pub,
        unused_qualifications,
        rust_2018_idioms
    )]
    include!(concat!(env!("OUT_DIR"), "/dctcp.skel.rs"));
}

/// The name under which sockets find it.
pub const NAME: &str = "tp_dctcp";

/// `TCP_CA_NAME_MAX`, without the final zero.
const NAME_MAX: usize = 15;

/// Keeps DCTCP registered: unregisters it when dropped, unless it is pinned.
#[derive(Debug)]
pub struct Dctcp {
    name: String,
    link: Link,
    is_pinned: bool,
}

impl Dctcp {
    /// Registers it as [`NAME`].
    pub fn register() -> Result<Self, Error> {
        Self::register_as(NAME)
    }

    /// Registers it under another name, of at most 15 letters, digits, `_` or `-`.
    pub fn register_as(name: &str) -> Result<Self, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(is_plain) {
            return Err(Error::Request(format!(
                "expected a name of 1 to {NAME_MAX} letters, digits, _ or -, got \"{name}\""
            )));
        }
        privileges::require("registering DCTCP")?;
        if is_registered(name)? {
            return Err(Error::Request(format!("a congestion control {name} is already registered")));
        }
        let link = attach(name).map_err(Error::kernel(format!("register the congestion control {name}")))?;
        Ok(Self { name: name.to_owned(), link, is_pinned: false })
    }

    /// The name under which sockets find it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Keeps it registered after this process has gone, until [`unregister`]: by a link at `path` of a BPF file system.
    pub fn pin(mut self, path: &Path) -> Result<(), Error> {
        self.link.pin(path).map_err(Error::kernel(format!("pin {} at {}", self.name, path.display())))?;
        self.is_pinned = true;
        Ok(())
    }
}

impl Drop for Dctcp {
    fn drop(&mut self) {
        if !self.is_pinned {
            // Closing the link's descriptor is not enough: a process that forked meanwhile holds a copy until it calls
            // exec. A kernel before 6.10 cannot detach this kind of link, and unregisters when the last copy closes.
            let _ = self.link.detach();
        }
    }
}

/// Registers it and keeps it registered after this process has gone, until [`unload`].
pub fn load() -> Result<(), Error> {
    privileges::require("limit dctcp load")?;
    let folder = bpffs::folder(FOLDER)?;
    bpffs::create(&folder)?;
    Dctcp::register()?.pin(&folder.join(NAME))
}

/// Unregisters what [`load`] registered.
pub fn unload() -> Result<(), Error> {
    privileges::require("limit dctcp unload")?;
    unregister(&bpffs::folder(FOLDER)?.join(NAME))
}

/// The folder of its pin.
const FOLDER: &str = "dctcp";

/// Unregisters what [`Dctcp::pin`] keeps at `path`.
pub fn unregister(path: &Path) -> Result<(), Error> {
    let doing = || format!("unregister the congestion control pinned at {}", path.display());
    if !path.exists() {
        return Err(Error::Request(format!("no congestion control is pinned at {}", path.display())));
    }
    let mut link = Link::open(path).map_err(Error::kernel(doing()))?;
    link.unpin().map_err(Error::kernel(doing()))?;
    // At once, where the last reference would be let go some time later.
    link.detach().map_err(Error::kernel(doing()))
}

/// Whether sockets find a congestion control of that name, ours or another.
pub fn is_registered(name: &str) -> Result<bool, Error> {
    const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(AVAILABLE).map_err(Error::io(format!("read {AVAILABLE}")))?;
    Ok(names.split_whitespace().any(|found| found == name))
}

fn attach(name: &str) -> libbpf_rs::Result<Link> {
    let mut object = MaybeUninit::uninit();
    let mut open = skeleton::DctcpSkelBuilder::default().open(&mut object)?;
    if let Some(operations) = open.maps.tp_dctcp.initial_value_mut() {
        let start = offset_of!(skeleton::types::tcp_congestion_ops, name);
        let field = &mut operations[start..][..NAME_MAX + 1];
        field.fill(0);
        field[..name.len()].copy_from_slice(name.as_bytes());
    }
    let mut skeleton = open.load()?;
    // The link holds what it needs of the object, which may go.
    skeleton.maps.tp_dctcp.attach_struct_ops()
}

/// Our DCTCP, registered for as long as anyone in this process holds it, under a name that no other process uses:
/// tests run beside each other, and beside a DCTCP that the machine's owner has loaded.
pub fn shared() -> Result<Arc<Dctcp>, Error> {
    static SHARED: Mutex<Weak<Dctcp>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = shared.upgrade() {
        return Ok(held);
    }
    // A name has room for seven digits, as many as a process number has.
    let registered = Arc::new(Dctcp::register_as(&format!("tp_test_{}", std::process::id()))?);
    *shared = Arc::downgrade(&registered);
    Ok(registered)
}
