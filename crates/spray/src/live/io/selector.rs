//! The program in the kernel that chooses a core for every packet.

use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapHandle, OpenObject, ProgramInput};
use trueplane_linux::error::Error;
use trueplane_linux::privileges;
use trueplane_units::{Nanos, Value as _, unexpected};

use super::super::skeleton::{SpraySkel, SpraySkelBuilder, types};
use super::port::IoBackend;
use super::xdp::Redirection;
use crate::dispatch::{Adaptive, At, DispatchName, Kernel, Load, RssPlusPlus};
use crate::steering::{BUCKETS, DEFAULT_KEY, Toeplitz};
use crate::{Dispatch, FlowId, Steering};

/// The policies' numbers in the program.
const RSS: u32 = 0;
const RSS_DEFAULT: u32 = 1;
const SPRAY: u32 = 2;
const ROUND_ROBIN: u32 = 3;
const SUBSET: u32 = 4;
const ADAPTIVE: u32 = 5;
const COUNTED: u32 = 6;

/// The program, loaded, and what decides for it outside of the kernel.
pub struct Selector {
    skel: SpraySkel<'static>,
    backend: IoBackend,
    policy: Policy,
    /// Counters of the program at the last look.
    seen: Box<[[u64; 2]; BUCKETS]>,
}

/// The policy that chooses a core.
enum Policy {
    /// The program alone.
    Fixed,
    /// The program, by these ways.
    Adaptive(Box<Adaptive>),
    /// The program, by this indirection.
    RssPlusPlus(Box<RssPlusPlus>),
}

impl Selector {
    /// Loads the program for a backend, a policy and so many cores, 1 to 128.
    ///
    /// # Errors
    ///
    /// The policy is one that the program does not have ([`DispatchName::Flowlet`]), there are too many cores, or the kernel refuses.
    pub fn load(backend: IoBackend, dispatch: DispatchName, cores: usize) -> Result<Self, Error> {
        privileges::require("choosing cores in the kernel")?;
        if !(1..=BUCKETS).contains(&cores) {
            return Err(Error::Request(format!("expected 1 to {BUCKETS} cores, got {cores}")));
        }
        let (mode, policy) = match dispatch {
            DispatchName::Rss => (RSS, Policy::Fixed),
            DispatchName::RssDefault => (RSS_DEFAULT, Policy::Fixed),
            DispatchName::Spray => (SPRAY, Policy::Fixed),
            DispatchName::RoundRobin => (ROUND_ROBIN, Policy::Fixed),
            // All cores, as the policy has it.
            DispatchName::Subset(size) if usize::from(size) >= cores => (SPRAY, Policy::Fixed),
            DispatchName::Subset(_) => (SUBSET, Policy::Fixed),
            DispatchName::Adaptive => (ADAPTIVE, Policy::Adaptive(Box::new(Adaptive::new(cores)))),
            DispatchName::RssPlusPlus => (COUNTED, Policy::RssPlusPlus(Box::new(RssPlusPlus::new(cores)))),
            DispatchName::Flowlet => {
                let expected = <At<Kernel>>::expected();
                return Err(Error::Request(unexpected(format!("{expected} on interfaces"), dispatch)));
            }
        };
        let refused = || Error::kernel("load the program that chooses cores");
        // The skeleton borrows it for as long as it lives; it is a pointer, and a process makes few of them.
        let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = SpraySkelBuilder::default().open(object).map_err(refused())?;
        if let Some(data) = open.maps.rodata_data.as_deref_mut() {
            configure(data, mode, dispatch, cores);
        }
        // The kernel takes a third of a second to verify each.
        let has_packets = backend == IoBackend::Packet;
        open.progs.spray.set_autoload(has_packets);
        for program in
            [&mut open.progs.redirect_inner, &mut open.progs.redirect_outer, &mut open.progs.chosen]
        {
            program.set_autoload(!has_packets);
        }
        let skel = open.load().map_err(refused())?;
        let mut selector = Self { skel, backend, policy, seen: Box::new([[0; 2]; BUCKETS]) };
        selector.fill(mode, cores)?;
        Ok(selector)
    }

    fn fill(&mut self, mode: u32, cores: usize) -> Result<(), Error> {
        let steering = Steering::new(cores);
        let data = variables(&mut self.skel)?;
        for row in 0..BUCKETS {
            data.indirection[row] = steering.core_of_bucket(row) as u8;
        }
        if mode == RSS_DEFAULT {
            data.toeplitz = contributions();
        }
        self.publish()
    }

    /// The program, for [`super::Interface`].
    pub(super) fn program(&self) -> BorrowedFd<'_> {
        self.skel.progs.spray.as_fd()
    }

    /// Redirection of packets of a run's first interface (`side` 0) or its second to AF_XDP sockets.
    pub(super) fn redirection(&self, side: usize) -> Result<Redirection<'_>, Error> {
        let programs = &self.skel.progs;
        let program = if side == 0 { &programs.redirect_inner } else { &programs.redirect_outer };
        let refused = || Error::kernel("reach the maps of the program that chooses cores");
        let sockets = MapHandle::try_from(&self.skel.maps.sockets).map_err(refused())?;
        let counters = MapHandle::try_from(&self.skel.maps.redirected).map_err(refused())?;
        Ok(Redirection::new(program.as_fd(), sockets, counters, side))
    }

    /// Keeps packets from all AF_XDP sockets from now on.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        variables(&mut self.skel)?.is_closed = true;
        Ok(())
    }

    /// A program that keeps every packet from a socket.
    pub(super) fn closed(&self) -> BorrowedFd<'_> {
        self.skel.progs.closed.as_fd()
    }

    /// Whether there is something to decide outside of the kernel.
    pub fn is_told(&self) -> bool {
        !matches!(self.policy, Policy::Fixed)
    }

    /// Tells the policy what every core had to do in the time that ends `now`, and the program what it decides.
    ///
    /// # Errors
    ///
    /// The program's variables are not mapped.
    pub fn observe(&mut self, loads: &[Load], now: Nanos) -> Result<(), Error> {
        let data = variables(&mut self.skel)?;
        for (row, seen) in self.seen.iter_mut().enumerate() {
            let found = [data.with_checksum[row], data.without[row]];
            let [tcp, others] = [0, 1].map(|of| found[of].wrapping_sub(seen[of]));
            *seen = found;
            match &mut self.policy {
                Policy::Fixed => {}
                Policy::Adaptive(policy) => policy.sent(row, tcp, others),
                Policy::RssPlusPlus(policy) => policy.sent(row, tcp + others),
            }
        }
        match &mut self.policy {
            Policy::Fixed => return Ok(()),
            Policy::Adaptive(policy) => policy.observe(loads, now),
            Policy::RssPlusPlus(policy) => policy.observe(loads, now),
        }
        self.publish()
    }

    /// Tells the program what the policy decided.
    fn publish(&mut self) -> Result<(), Error> {
        let data = variables(&mut self.skel)?;
        match &self.policy {
            Policy::Fixed => {}
            Policy::Adaptive(policy) => {
                for (to, from) in data.ways.iter_mut().zip(policy.ways()).filter(|(to, from)| to != from) {
                    *to = *from;
                }
            }
            Policy::RssPlusPlus(policy) => {
                for (to, &from) in data.indirection.iter_mut().zip(policy.indirection()) {
                    *to = from as u8;
                }
            }
        }
        Ok(())
    }

    /// The core that the program chooses for an Ethernet frame of 14 bytes at least, on the kernel's test bench.
    ///
    /// # Errors
    ///
    /// The kernel does not take the frame.
    pub fn choose(&self, frame: &[u8]) -> Result<usize, Error> {
        let input = ProgramInput { data_in: Some(frame), ..ProgramInput::default() };
        let output = match self.backend {
            IoBackend::Packet => self.skel.progs.spray.test_run(input),
            IoBackend::Xdp => self.skel.progs.chosen.test_run(input),
        };
        Ok(output.map_err(Error::kernel("run the program that chooses cores"))?.return_value as usize)
    }
}

fn configure(data: &mut types::rodata, mode: u32, dispatch: DispatchName, cores: usize) {
    data.settings.mode = mode;
    data.settings.cores = cores as u32;
    if let DispatchName::Subset(size) = dispatch {
        data.settings.subset = u32::from(size).clamp(1, cores as u32);
        let coprime = (1..=cores).filter(|&stride| divisor(stride, cores) == 1);
        let mut count = 0;
        for (to, stride) in data.strides.iter_mut().zip(coprime) {
            *to = stride as u8;
            count += 1;
        }
        data.settings.strides = count;
    }
}

/// Greatest common divisor (Euclid).
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn variables<'s>(skel: &'s mut SpraySkel<'static>) -> Result<&'s mut types::bss, Error> {
    let data = skel.maps.bss_data.as_deref_mut();
    data.ok_or_else(|| Error::Request("expected the program's variables in memory, got none".to_owned()))
}

/// Contribution of each value of each byte of addresses and ports to Toeplitz' hash under the key of the specification: it is linear.
fn contributions() -> [[u32; 256]; 36] {
    let toeplitz = Toeplitz::new(&DEFAULT_KEY);
    std::array::from_fn(|byte| {
        std::array::from_fn(|value| {
            let mut bytes = [0; 36];
            bytes[byte] = value as u8;
            let address = |at: usize| {
                let half: [u8; 16] = std::array::from_fn(|byte| bytes[at + byte]);
                IpAddr::V6(Ipv6Addr::from(half))
            };
            let port = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            toeplitz.hash(&FlowId::new(6, (address(0), port(32)), (address(16), port(34))), true)
        })
    })
}
