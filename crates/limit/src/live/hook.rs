//! Where on a device the programs run.

use std::os::fd::{AsFd as _, BorrowedFd};

use libbpf_rs::{ErrorKind, Program, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder, Xdp, XdpFlags};
use trueplane_linux::error::Error;
use trueplane_linux::traffic_control::{Discipline, clsact_filters, discipline, filters};
use trueplane_units::choices;

choices! {
    /// The kernel's hook.
    pub enum Mode {
        /// The receive path of the driver: fastest; incoming packets only; drops without marking.
        Xdp = "xdp",
        /// Traffic control (clsact): either direction; can mark packets (ECN); supports classes with fwmark.
        Tc = "tc",
    }
}

choices! {
    /// The packets of a device that are limited.
    pub enum Direction {
        /// Packets that the device receives.
        Ingress = "ingress",
        /// Packets that the device sends (tc only).
        Egress = "egress",
    }
}

/// Our filter among others of clsact: early, with numbers that nobody else would pick.
const TC_PRIORITY: u32 = 7;
const TC_HANDLE: u32 = 0x7470;

/// A place for one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    pub(crate) index: i32,
    pub(crate) mode: Mode,
    pub(crate) direction: Direction,
}

impl Hook {
    /// The id of the program that runs here: with XDP anybody's, with tc the one at our place among the filters.
    ///
    /// # Errors
    /// If the kernel does not say. That is no sign that nothing runs here.
    pub(crate) fn occupant(self, any: BorrowedFd<'_>) -> Result<Option<u32>, Error> {
        let found = match self.mode {
            Mode::Xdp => Xdp::new(any).query_id(self.index, XdpFlags::NONE),
            Mode::Tc => match self.filter(any).query() {
                // There is no such filter; or no filter at all, or no place for any; or the kernel has no filters.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::InvalidInput | ErrorKind::Unsupported
                    ) =>
                {
                    return Ok(None);
                }
                found => found,
            },
        };
        let id = found.map_err(Error::kernel("look for a program on the device"))?;
        Ok(Some(id).filter(|&id| id != 0))
    }

    /// Whether the place itself (clsact) has to be made before anything can run here; an error if it cannot be.
    pub(crate) fn is_missing(self) -> Result<bool, Error> {
        if self.mode == Mode::Xdp {
            return Ok(false);
        }
        let found = discipline(self.index).map_err(Error::io("look at the queueing disciplines"))?;
        if (found, self.direction) == (Some(Discipline::Ingress), Direction::Egress) {
            return Err(Error::Request(
                "the device has the queueing discipline \"ingress\", which knows no outgoing packets; \
                 to limit those, clsact has to take its place"
                    .to_owned(),
            ));
        }
        if found.is_some() {
            self.require_preference()?;
        }
        Ok(found.is_none())
    }

    /// Refuses a device on which filters of others have our preference: all of one preference are of one kind and protocol.
    fn require_preference(self) -> Result<(), Error> {
        let found = filters(self.index, self.direction == Direction::Egress);
        let found = found.map_err(Error::io("look at the filters"))?;
        let others =
            found.iter().find(|filter| filter.preference() == TC_PRIORITY && !filter.is_bpf_for_all());
        let Some(filter) = others else { return Ok(()) };
        let direction = self.direction;
        Err(Error::Request(format!(
            "a {} filter of somebody else has preference {TC_PRIORITY}, at which limits run (see tc filter show dev IFACE {direction}): \
             expected it at another preference",
            filter.name
        )))
    }

    /// Runs the program here, in place of another only if told so. `make` says whether the place has to be made.
    pub(crate) fn put(self, program: BorrowedFd<'_>, replace: bool, make: bool) -> libbpf_rs::Result<()> {
        match self.mode {
            Mode::Xdp => {
                let xdp = Xdp::new(program);
                let flags = if replace { XdpFlags::NONE } else { XdpFlags::UPDATE_IF_NOEXIST };
                match xdp.attach(self.index, flags) {
                    Err(error) if replace && error.kind() == ErrorKind::AlreadyExists => {
                        self.replace_generic(&xdp)
                    }
                    done => done,
                }
            }
            Mode::Tc => {
                if make {
                    self.filter(program).create()?;
                }
                let attached = self.filter(program).replace(replace).attach();
                if attached.is_err() && make {
                    self.remove_clsact(program)?;
                }
                attached.map(drop)
            }
        }
    }

    /// Runs the program in place of one in the kernel's generic path, beside which a driver takes none.
    fn replace_generic(self, program: &Xdp<'_>) -> libbpf_rs::Result<()> {
        let old = Program::fd_from_id(program.query_id(self.index, XdpFlags::SKB_MODE)?)?;
        program.detach(self.index, XdpFlags::SKB_MODE)?;
        program.attach(self.index, XdpFlags::NONE).inspect_err(|_| {
            // The first error is the one to tell.
            let _ = Xdp::new(old.as_fd()).attach(self.index, XdpFlags::SKB_MODE);
        })
    }

    /// Takes the program off, and leaves the place.
    pub(crate) fn take_off(self, program: BorrowedFd<'_>) -> libbpf_rs::Result<()> {
        match self.mode {
            Mode::Xdp => Xdp::new(program).detach(self.index, XdpFlags::NONE),
            Mode::Tc => self.filter(program).detach(),
        }
    }

    /// Runs nothing here any more. If `made`, the place was made for us: then it goes as well, unless others use it.
    pub(crate) fn clear(self, program: BorrowedFd<'_>, made: bool) -> libbpf_rs::Result<()> {
        self.take_off(program)?;
        if self.mode == Mode::Tc && made && clsact_filters(self.index)? == 0 {
            self.remove_clsact(program)?;
        }
        Ok(())
    }

    /// Removes the place itself.
    pub(super) fn remove_clsact(self, any: BorrowedFd<'_>) -> libbpf_rs::Result<()> {
        self.filter(any).attach_point(TC_INGRESS | TC_EGRESS).destroy()
    }

    fn filter(self, program: BorrowedFd<'_>) -> TcHook {
        let point = match self.direction {
            Direction::Ingress => TC_INGRESS,
            Direction::Egress => TC_EGRESS,
        };
        TcHookBuilder::new(program).ifindex(self.index).priority(TC_PRIORITY).handle(TC_HANDLE).hook(point)
    }
}
