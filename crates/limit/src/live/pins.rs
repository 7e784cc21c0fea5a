//! What is pinned of limits, and to which devices they belong.
//!
//! Devices are renamed and move, and a network namespace can have several names or none. So the folder of pins bears no name of a device but the number
//! of a program, and whose limits they are is asked of the kernel each time: a device has those whose program runs on it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, thread};

use libbpf_rs::{MapHandle, Program};
use trueplane_linux::device::Device;
use trueplane_linux::error::Error;
use trueplane_linux::traffic_control::{Discipline, clsact_filters, discipline};
use trueplane_linux::{bpffs, device};

use super::hook::{Direction, Hook, Mode};
use super::program::Programs;
use crate::live::about::{About, PINS};

const SUBSYSTEM: &str = "limit";
/// Number of looks, and the time between two, for a program that seems to run nowhere: the kernel lets go of it a moment after its filter.
const LOOKS: usize = 200;
const GAP: Duration = Duration::from_millis(10);

/// The pins of all limits. Whoever has this works on them alone.
pub(super) struct Pins {
    root: PathBuf,
    lock: File,
}

/// Limits that are pinned.
pub(super) struct Entry {
    pub(super) folder: PathBuf,
    pub(super) about: About,
}

/// Place where limits run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// On this device.
    On(Device),
    /// Some network namespace that cannot be looked into.
    Hidden,
    /// Not on any device in sight; whether on another one, this process may not know.
    Unknown,
    /// Nowhere: their device is gone, or somebody took them away.
    Ended,
}

/// Limits that were attached to a device on which they do not run any more.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The device that they were attached to.
    pub device: Device,
    fate: Fate,
}

impl fmt::Display for Lost {
    /// Writes what the limits do, as in "the limits of eth0 run no more".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, fate } = self;
        match fate {
            Fate::On(place) => write!(f, "run on {place}"),
            Fate::Hidden => f.write_str(
                "run in a network namespace without a name: `ip netns attach NAME PID` gives one to that of a process",
            ),
            Fate::Unknown => f.write_str("may run in a network namespace without a name: only root can tell"),
            Fate::Ended => {
                write!(f, "run no more: `trueplane limit detach --dev {}", device.name)?;
                if let Some(netns) = &device.netns {
                    write!(f, " --netns {netns}")?;
                }
                f.write_str("` removes what is left of them")
            }
        }
    }
}

impl Lost {
    pub(super) fn has_ended(&self) -> bool {
        self.fate == Fate::Ended
    }
}

impl Pins {
    /// Makes the folder if there is none. It goes with the last limits.
    pub(super) fn make() -> Result<Self, Error> {
        let root = bpffs::folder(SUBSYSTEM)?;
        loop {
            bpffs::create(&root).inspect_err(|_| {
                // The folder above it may have been made.
                root.parent().map(bpffs::remove_empty);
            })?;
            // Whoever had it before may have taken it away.
            if let Some(lock) = bpffs::lock(&root)? {
                return Ok(Self { root, lock });
            }
        }
    }

    /// `None` where there are no limits.
    pub(super) fn existing() -> Result<Option<Self>, Error> {
        let Some(root) = bpffs::existing_folder(SUBSYSTEM)? else { return Ok(None) };
        Ok(bpffs::lock(&root)?.map(|lock| Self { root, lock }))
    }

    /// A descriptor, where one is needed to ask the kernel.
    fn any(&self) -> BorrowedFd<'_> {
        self.lock.as_fd()
    }

    /// All limits that are pinned whole, and the folders of those that are not, as their process was killed over it.
    fn entries(&self) -> Result<(Vec<Entry>, Vec<PathBuf>), Error> {
        let refused = || Error::io(format!("read {}", self.root.display()));
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.root).map_err(refused())? {
            let folder = entry.map_err(refused())?.path();
            if !PINS.iter().all(|name| folder.join(name).exists()) {
                parts.push(folder);
                continue;
            }
            match About::open(&folder) {
                Ok(about) => whole.push(Entry { folder, about }),
                // Those of another version are not ours to judge.
                Err(Error::Request(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((whole, parts))
    }

    /// The limits that run on the device of that index of this thread's network namespace, the newest first. There are several only after a process was
    /// killed that replaced some.
    pub(super) fn on(&self, index: i32) -> Result<Vec<Entry>, Error> {
        let hooks =
            [(Mode::Xdp, Direction::Ingress), (Mode::Tc, Direction::Ingress), (Mode::Tc, Direction::Egress)];
        let mut occupied = Vec::new();
        for hook in hooks.map(|(mode, direction)| Hook { index, mode, direction }) {
            occupied.extend(hook.occupant(self.any())?.map(|program| (hook, program)));
        }
        let mut found = Vec::new();
        for mut entry in self.entries()?.0 {
            entry.about.index = index;
            if occupied.contains(&(entry.about.hook(), entry.about.program_id)) {
                found.push(entry);
            }
        }
        found.sort_by_key(|entry| std::cmp::Reverse(entry.about.program_id));
        Ok(found)
    }

    /// All limits that run on a device in sight, which is named in them, and the others.
    pub(super) fn survey(&self) -> Result<(Vec<Entry>, Vec<Lost>), Error> {
        let (mut running, mut lost) = (Vec::new(), Vec::new());
        for mut entry in self.entries()?.0 {
            match self.place(&entry.about) {
                Some((device, index)) => {
                    (entry.about.device, entry.about.index) = (device, index);
                    running.push(entry);
                }
                None => lost.push(Lost { fate: lives(&entry.about), device: entry.about.device }),
            }
        }
        // Those of a device that were replaced by a process that was killed.
        let seen: BTreeSet<_> = running.iter().map(|entry| entry.about.device.clone()).collect();
        lost.retain(|lost| lost.fate != Fate::Ended || !seen.contains(&lost.device));
        running.sort_by(|one, other| {
            let key = |entry: &Entry| (entry.about.device.clone(), std::cmp::Reverse(entry.about.program_id));
            key(one).cmp(&key(other))
        });
        running.dedup_by(|later, first| later.about.device == first.about.device);
        Ok((running, lost))
    }

    /// Finds limits that were attached to a device of this name, which is not there or has none.
    pub(super) fn lost(&self, device: &Device) -> Result<Option<Lost>, Error> {
        let namespace = device.within(device::namespace).ok();
        let mut found = None;
        for Entry { about, .. } in self.entries()?.0 {
            // A namespace that is not named is the process's own, and processes differ.
            let is_there = match &device.netns {
                Some(_) => about.device.netns == device.netns,
                None => about.device.netns.is_none() && namespace.is_none_or(|own| own == about.namespace),
            };
            if about.device.name != device.name || !is_there {
                continue;
            }
            let lost = Lost { device: device.clone(), fate: self.fate(&about) };
            if found.as_ref().is_none_or(|before: &Lost| before.fate == Fate::Ended) {
                found = Some(lost);
            }
        }
        Ok(found)
    }

    /// Finds the place where limits run, looking until that is sure.
    fn fate(&self, about: &About) -> Fate {
        for look in 1.. {
            if let Some((place, _)) = self.place(about) {
                return Fate::On(place);
            }
            let fate = lives(about);
            if fate != Fate::Hidden || look == LOOKS {
                return fate;
            }
            thread::sleep(GAP);
        }
        Fate::Unknown
    }

    /// The device on which limits run, and its index, if it is in this thread's network namespace or in one that has a name.
    fn place(&self, about: &About) -> Option<(Device, i32)> {
        if lives(about) == Fate::Ended {
            return None;
        }
        let named = device::namespaces().into_iter().map(Some);
        // It is most likely where it was.
        [about.device.netns.clone(), None].into_iter().chain(named).find_map(|netns| {
            // What cannot be looked into is gone meanwhile.
            device::within(netns.as_deref(), || Ok(self.place_here(about)))
                .ok()?
                .map(|(name, index)| (Device { name, netns }, index))
        })
    }

    /// The same in this thread's network namespace.
    fn place_here(&self, about: &About) -> Option<(String, i32)> {
        let has = |index: i32| {
            let hook = Hook { index, ..about.hook() };
            // A device that is gone meanwhile has none.
            hook.occupant(self.any()).ok().flatten() == Some(about.program_id)
        };
        let devices = device::devices();
        let was = devices.iter().find(|(_, index)| *index == about.index && has(*index));
        was.or_else(|| devices.iter().find(|(_, index)| has(*index))).cloned()
    }

    /// Removes what is left of limits that run no more, and the clsact that was made for them if nobody uses it.
    pub(super) fn clean(&self) -> Result<(), Error> {
        let (whole, parts) = self.entries()?;
        parts.iter().try_for_each(|folder| remove(folder))?;
        for entry in whole {
            if lives(&entry.about) == Fate::Ended {
                entry.about.clear_place(self.any())?;
                remove(&entry.folder)?;
            }
        }
        Ok(())
    }

    /// Takes limits that run off their device; to be called within its namespace.
    pub(super) fn clear(&self, entry: &Entry) -> Result<(), Error> {
        let About { device, made_clsact, .. } = &entry.about;
        let refused = Error::kernel(format!("detach from {device}"));
        entry.about.hook().clear(self.any(), *made_clsact).map_err(refused)?;
        remove(&entry.folder)
    }

    /// Takes limits that run off their device, as others run at another place of it; to be called within its namespace.
    ///
    /// # Errors
    /// If they still run. The next attach or detach removes what else cannot be removed now.
    pub(super) fn replace(&self, entry: &Entry) -> Result<(), Error> {
        let refused = Error::kernel(format!("detach from {}", entry.about.device));
        entry.about.hook().take_off(self.any()).map_err(refused)?;
        if entry.about.clear_place(self.any()).is_ok() {
            let _ = remove(&entry.folder);
        }
        Ok(())
    }

    /// Removes the pins of limits that were replaced.
    pub(super) fn forget(&self, entry: &Entry) -> Result<(), Error> {
        remove(&entry.folder)
    }

    /// Pins the maps, until what is returned is dropped or kept.
    pub(super) fn write(&self, programs: &mut Programs<'_>, about: &About) -> Result<Pinned, Error> {
        // The number is nobody else's for as long as there is the program.
        let number = programs.number(about.mode)?;
        let folder = self.root.join(number.to_string());
        let refused = || format!("pin to {}", folder.display());
        // First what leaves nothing if it fails.
        let map = about.create_map()?;
        fs::create_dir(&folder).map_err(Error::io(refused()))?;
        let mut pinned = Pinned { folder, about: map, kept: false };
        programs
            .pin(&pinned.folder)
            .and_then(|()| pinned.about.pin(pinned.folder.join("about")))
            .map_err(Error::kernel(format!("pin to {}", pinned.folder.display())))?;
        Ok(pinned)
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        bpffs::remove_empty(&self.root);
    }
}

impl About {
    /// Removes the clsact that a process made which was killed before its program ran there, unless somebody uses it since.
    fn clear_place(&self, any: BorrowedFd<'_>) -> Result<(), Error> {
        if !self.made_clsact || self.mode != Mode::Tc {
            return Ok(());
        }
        let cleared = self.device.within(|| {
            let is_there = device::namespace()? == self.namespace;
            let asked = Error::io("look at the queueing disciplines");
            if is_there
                && discipline(self.index).map_err(asked)? == Some(Discipline::Clsact)
                && clsact_filters(self.index).map_err(Error::io("look at the filters"))? == 0
            {
                self.hook().remove_clsact(any).map_err(Error::kernel("remove the clsact of old limits"))?;
            }
            Ok(())
        });
        match cleared {
            // The namespace is gone, and all with it.
            Err(Error::Request(_)) => Ok(()),
            cleared => cleared,
        }
    }
}

/// Whether the program of limits that are not in sight is there at all: nobody holds it but the device on which it runs.
fn lives(about: &About) -> Fate {
    match Program::fd_from_id(about.program_id) {
        Ok(_) => Fate::Hidden,
        Err(error) if error.kind() == libbpf_rs::ErrorKind::NotFound => Fate::Ended,
        Err(_) => Fate::Unknown,
    }
}

/// Removes a folder of pins, or what lies in its place.
fn remove(folder: &Path) -> Result<(), Error> {
    let removed = if folder.is_dir() { bpffs::remove(folder) } else { fs::remove_file(folder) };
    removed.map_err(Error::io(format!("remove {}", folder.display())))
}

/// Pins that go again unless they are kept.
pub(super) struct Pinned {
    folder: PathBuf,
    about: MapHandle,
    kept: bool,
}

impl Pinned {
    pub(super) fn remember(&self, about: &About) -> Result<(), Error> {
        about.store(&self.about)
    }

    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.kept {
            // Whatever fails here is left for the next attachment to remove.
            let _ = bpffs::remove(&self.folder);
        }
    }
}

/// Why a device has no limits: `missing`, if it is that; and where those are that it had.
pub(super) fn absent(device: &Device, missing: Option<Error>, lost: Option<Lost>) -> Error {
    match (missing, lost) {
        (Some(Error::Request(missing)), Some(lost)) => {
            Error::Request(format!("{missing}; its limits {lost}"))
        }
        (Some(error), _) => error,
        // The others were another device's, which had this name.
        (None, _) => none(device),
    }
}

pub(super) fn none(device: &Device) -> Error {
    Error::Request(format!("{device} has no limits"))
}
