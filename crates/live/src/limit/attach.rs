//! Putting limits on a device and taking them away, whole or not at all.

use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapHandle, Program};
use trueplane_core::limit::classes::Classes;
use trueplane_core::limit::classifier::Classifier;

use super::attached::{About, Attached, PINS};
use super::hook::{Direction, Hook, Mode};
use super::program::Programs;
use super::{Clock, Tuning};
use crate::device::{self, Device};
use crate::error::Error;
use crate::{bpffs, privileges};

/// What to attach, and how.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The limits.
    pub classes: Classes,
    /// The kernel's hook.
    pub mode: Mode,
    /// Which packets.
    pub direction: Direction,
    /// How exact.
    pub tuning: Tuning,
    /// Whether a program that is already there may be replaced.
    pub force: bool,
}

impl Attachment {
    /// Whether the parts go together.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Request(what.to_owned()));
        if self.mode == Mode::Xdp && self.direction == Direction::Egress {
            return wrong("XDP sees incoming packets only; limit outgoing ones with --mode tc");
        }
        if self.mode == Mode::Xdp && self.classes.classes().iter().any(|class| !class.fwmark.is_empty()) {
            return wrong("XDP sees packets before they can have a mark; classes by fwmark need --mode tc");
        }
        if matches!(self.tuning.clock, Clock::Amortised { every: 0 }) {
            return wrong(
                "the clock has to be read at least once in a while: expected 1 packet or more, got 0",
            );
        }
        Ok(())
    }
}

/// Limits what passes `device`. Limits that were there already, if `force` lets them be replaced, hand the state of those of
/// the same name over to the new ones.
///
/// If anything fails, everything is as it was before.
pub fn attach(device: &Device, attachment: &Attachment) -> Result<(), Error> {
    attachment.check()?;
    privileges::require("limit attach")?;
    device.within(|| {
        let hook = Hook { index: device.index()?, mode: attachment.mode, direction: attachment.direction };
        device.require_ethernet()?;
        let pins = Pins::of(device)?;
        let before = pins.attached(hook.index)?;
        if before.is_some() && !attachment.force {
            return Err(Error::Request(format!("{device} has limits already; --force replaces them")));
        }
        let make_place = hook.is_missing()?;
        let classifier = Classifier::new(&attachment.classes);
        let mut object = MaybeUninit::uninit();
        let mut programs = Programs::load(&classifier, attachment.tuning, false, &mut object)?;
        if let Some(before) = &before {
            programs.inherit(&classifier, before)?;
        }
        programs.start_sweep()?;
        // What is to be remembered is pinned before anything runs, so that it is known whenever this process may end.
        let about = About {
            device: device.clone(),
            index: hook.index,
            mode: attachment.mode,
            direction: attachment.direction,
            tuning: attachment.tuning,
            classes: attachment.classes.clone(),
            program_id: 0,
            made_clsact: make_place || before.as_ref().is_some_and(|before| before.about().keeps_place(hook)),
        };
        let pinned = pins.write(&mut programs, &about)?;
        put(&pinned, about, &programs, attachment.force, make_place)?;
        if let Some(before) = before.filter(|before| before.hook() != hook) {
            let any = programs.any();
            let cleared = before.hook().clear(any, before.about().made_clsact);
            cleared.map_err(Error::kernel("remove the old limits")).inspect_err(|_| {
                // The first error is the one to tell.
                let _ = hook.clear(any, make_place);
            })?;
        }
        pinned.keep();
        Ok(())
    })
}

/// Does all that [`attach`] does short of attaching: the kernel verifies the programs, and every reason to refuse is told.
pub fn rehearse(device: &Device, attachment: &Attachment) -> Result<(), Error> {
    attachment.check()?;
    privileges::require("limit attach")?;
    bpffs::check()?;
    device.within(|| {
        let hook = Hook { index: device.index()?, mode: attachment.mode, direction: attachment.direction };
        device.require_ethernet()?;
        hook.is_missing()?;
        let mut object = MaybeUninit::uninit();
        let programs =
            Programs::load(&Classifier::new(&attachment.classes), attachment.tuning, false, &mut object)?;
        if hook.occupant(programs.any()).is_some() && !attachment.force {
            return Err(occupied(device));
        }
        Ok(())
    })
}

fn occupied(device: &Device) -> Error {
    Error::Request(format!("another program runs on {device} already; --force replaces it"))
}

/// Runs the program at its place, once its number is remembered.
fn put(
    pinned: &Pinned<'_>,
    mut about: About,
    programs: &Programs<'_>,
    force: bool,
    make_place: bool,
) -> Result<(), Error> {
    let hook = about.hook();
    let device = about.device.clone();
    if !force && hook.occupant(programs.any()).is_some() {
        return Err(occupied(&device));
    }
    let refused = || Error::kernel(format!("attach to {device}"));
    let mut run = |program: BorrowedFd<'_>| {
        about.program_id = Program::id_from_fd(program).map_err(refused())?;
        pinned.remember(&about)?;
        hook.put(program, force, make_place).map_err(refused())
    };
    let progs = &programs.skel.progs;
    match hook.mode {
        Mode::Tc => run(progs.limit_tc.as_fd()),
        // Drivers want a program that knows of frames in several buffers if frames are large; it costs a little for each.
        Mode::Xdp => run(progs.limit_xdp.as_fd())
            .or_else(|first| run(progs.limit_xdp_frags.as_fd()).map_err(|_| first)),
    }
}

/// Takes the limits off `device`; the state of its limiters is gone with them. What is left of limits whose device is gone is
/// removed as well, though that is an error.
pub fn detach(device: &Device) -> Result<(), Error> {
    privileges::require("limit detach")?;
    bpffs::check()?;
    let detached = device.within(|| {
        // Without a device there is nothing to detach from, but pins may be left.
        let index = device.index();
        let pins = Pins::of(device)?;
        match pins.attached(*index.as_ref().unwrap_or(&0))? {
            Some(attached) => {
                let made = attached.about().made_clsact;
                let refused = Error::kernel(format!("detach from {device}"));
                attached.hook().clear(attached.any(), made).map_err(refused)?;
                pins.remove()
            }
            None => Err(index.err().unwrap_or_else(|| none(device))),
        }
    });
    if !device.has_namespace() {
        Pins::of(device)?.remove()?;
    }
    detached
}

pub(super) fn none(device: &Device) -> Error {
    Error::Request(format!("{device} has no limits"))
}

/// All limits that run, by device.
pub fn all() -> Result<Vec<Attached>, Error> {
    privileges::require("looking at limits")?;
    let Some(folder) = bpffs::existing_folder(SUBSYSTEM)? else { return Ok(Vec::new()) };
    let refused = || Error::io(format!("read {}", folder.display()));
    let mut devices: Vec<Device> = Vec::new();
    for entry in fs::read_dir(&folder).map_err(refused())? {
        let name = entry.map_err(refused())?.file_name();
        devices.extend(name.to_str().and_then(device_of).and_then(|name| name.parse().ok()));
    }
    devices.sort();
    // What cannot be opened was taken away meanwhile, or its device is gone.
    Ok(devices.iter().filter_map(|device| Attached::open(device).ok()).collect())
}

/// The devices that have limits.
pub fn devices() -> Result<Vec<Device>, Error> {
    Ok(all()?.into_iter().map(|attached| attached.about().device.clone()).collect())
}

pub(super) const SUBSYSTEM: &str = "limit";

/// The name of the folder of a device's pins. The file system takes no dots, of which `eth0.100` has one; and devices of this
/// process's own network namespace bear its number, since other processes may have one of the same name in another.
pub(super) fn folder_of(device: &Device) -> Result<String, Error> {
    let name = device.to_string().replace('%', "%25").replace('.', "%2e");
    Ok(match device.netns {
        Some(_) => name,
        None => {
            format!("{name}:{}", device::own_namespace().map_err(Error::io("tell the network namespace"))?)
        }
    })
}

/// The inverse of [`folder_of`]; `None` for folders that are being written or replaced.
fn device_of(folder: &str) -> Option<String> {
    let is_device = folder.split('%').skip(1).all(|rest| rest.starts_with("25") || rest.starts_with("2e"));
    // No device has a colon in its name.
    let name = folder.split(':').next().unwrap_or_default();
    is_device.then(|| name.replace("%2e", ".").replace("%25", "%"))
}

/// The folder in which a device's maps are pinned, and who works on it alone.
pub(super) struct Pins {
    folder: PathBuf,
    _lock: File,
}

impl Pins {
    pub(super) fn of(device: &Device) -> Result<Self, Error> {
        let root = bpffs::folder(SUBSYSTEM)?;
        bpffs::create(&root)?;
        let lock = bpffs::lock(&root)?;
        Ok(Self { folder: root.join(folder_of(device)?), _lock: lock })
    }

    /// The limits that run on the device of that index. What is left of limits that run no more is removed.
    fn attached(&self, index: i32) -> Result<Option<Attached>, Error> {
        // A process that ended while it replaced limits may have left those that run, or ran before, beside their place.
        let old = self.beside("old");
        let (here, before) = (running(&self.folder, index)?, running(&old, index)?);
        match (here, before) {
            (Some(here), Some(before)) if here.hook() != before.hook() => {
                let cleared = before.hook().clear(before.any(), before.about().made_clsact);
                cleared.map_err(Error::kernel("remove the old limits"))?;
                Ok(Some(here))
            }
            (Some(here), _) => Ok(Some(here)),
            (None, Some(before)) => {
                remove(&self.folder)?;
                fs::rename(&old, &self.folder)
                    .map_err(Error::io(format!("restore {}", self.folder.display())))?;
                Ok(Some(before))
            }
            (None, None) => self.remove().map(|()| None),
        }
    }

    /// Removes the pins, and what is left beside them.
    fn remove(&self) -> Result<(), Error> {
        [&self.folder, &self.beside("new"), &self.beside("old")]
            .into_iter()
            .try_for_each(|folder| remove(folder))
    }

    fn beside(&self, prefix: &str) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        self.folder.with_file_name(format!("%{prefix}-{name}"))
    }

    /// Pins the maps in place of those that are there, until what is returned is dropped or kept.
    fn write(&self, programs: &mut Programs<'_>, about: &About) -> Result<Pinned<'_>, Error> {
        let (new, old) = (self.beside("new"), self.beside("old"));
        remove(&new)?;
        remove(&old)?;
        let refused = || Error::io(format!("pin to {}", self.folder.display()));
        fs::create_dir(&new).map_err(refused())?;
        let pinned = about.create_map().and_then(|mut about| {
            let pin = Error::kernel(format!("pin to {}", self.folder.display()));
            programs.pin(&new).and_then(|()| about.pin(new.join("about"))).map_err(pin)?;
            Ok(about)
        });
        let moved = pinned.and_then(|about| {
            if self.folder.is_dir() {
                fs::rename(&self.folder, &old).map_err(refused())?;
            }
            fs::rename(&new, &self.folder).map_err(refused())?;
            Ok(about)
        });
        match moved {
            Ok(about) => Ok(Pinned { pins: self, old, about, kept: false }),
            Err(error) => {
                // The first error is the one to tell.
                let _ = bpffs::remove(&new);
                if old.is_dir() {
                    let _ = fs::rename(&old, &self.folder);
                }
                Err(error)
            }
        }
    }
}

/// The limits whose maps are pinned in `folder`, if they run on the device of that index.
fn running(folder: &Path, index: i32) -> Result<Option<Attached>, Error> {
    match Attached::open_folder(folder) {
        Ok(attached) => Ok(Some(attached).filter(|found| found.about().index == index && found.runs())),
        // What is whole and cannot be opened, as where this process ran short of something, is not to be taken for a leftover.
        Err(error @ Error::Kernel { .. }) if PINS.iter().all(|name| folder.join(name).exists()) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Removes a folder of pins if it is there.
fn remove(folder: &Path) -> Result<(), Error> {
    match folder.is_dir() {
        true => bpffs::remove(folder).map_err(Error::io(format!("remove {}", folder.display()))),
        false => Ok(()),
    }
}

/// Pins that took the place of others, which come back unless these are kept.
struct Pinned<'a> {
    pins: &'a Pins,
    old: PathBuf,
    about: MapHandle,
    kept: bool,
}

impl Pinned<'_> {
    fn remember(&self, about: &About) -> Result<(), Error> {
        about.store(&self.about)
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // Whatever fails here is left for the next attachment to remove.
        if self.kept {
            let _ = bpffs::remove(&self.old);
        } else {
            let _ = bpffs::remove(&self.pins.folder);
            let _ = fs::rename(&self.old, &self.pins.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_pins_are_named_for_their_devices() {
        for name in ["eth0", "eth0.100@blue", "50%25", "a%2eb"] {
            let folder = folder_of(&name.parse().unwrap()).unwrap();
            assert!(!folder.contains('.'), "{folder}");
            assert_eq!(device_of(&folder).as_deref(), Some(name));
        }
        assert_eq!(device_of("%new-eth0"), None);
        assert_eq!(device_of("%old-eth0"), None);
    }
}
