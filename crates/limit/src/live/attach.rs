//! Putting limits on a device and taking them away, whole or not at all.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::Program;
use trueplane_linux::device::Device;
use trueplane_linux::error::Error;
use trueplane_linux::{bpffs, device, privileges};

use super::hook::{Direction, Hook, Mode};
use super::pins::{Lost, Pinned, Pins};
use super::pins::{absent, none};
use super::program::Programs;
use super::{Clock, Tuning};
use crate::classes::Classes;
use crate::classifier::Classifier;
use crate::live::about::About;
use crate::live::attached::Attached;

/// Limits to attach, and how.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The limits.
    pub classes: Classes,
    /// The kernel's hook.
    pub mode: Mode,
    /// Direction of the packets to limit.
    pub direction: Direction,
    /// Exactness of the programs.
    pub tuning: Tuning,
    /// Whether a program that is already there may be replaced.
    pub force: bool,
}

/// Why only tc can serve limits, if XDP cannot, and what to do about it.
fn why_tc(classes: &Classes, direction: Direction) -> Option<(&'static str, &'static str)> {
    if direction == Direction::Egress {
        return Some(("XDP sees incoming packets only", "limit outgoing ones with --mode tc"));
    }
    let has_mark = classes.classes().iter().any(|class| !class.fwmark.is_empty());
    has_mark.then_some(("XDP sees packets before they can have a mark", "classes by fwmark need --mode tc"))
}

impl Mode {
    /// The mode for limits of which nobody has said it: XDP, which is the cheapest, or tc where XDP cannot serve them, and why.
    pub fn fitting(classes: &Classes, direction: Direction) -> (Self, Option<&'static str>) {
        match why_tc(classes, direction) {
            None => (Self::Xdp, None),
            Some((why, _)) => (Self::Tc, Some(why)),
        }
    }
}

impl Attachment {
    /// Whether the parts go together.
    pub fn check(&self) -> Result<(), Error> {
        if let (Mode::Xdp, Some((why, remedy))) = (self.mode, why_tc(&self.classes, self.direction)) {
            return Err(Error::Request(format!("{why}; {remedy}")));
        }
        if matches!(self.tuning.clock, Clock::Amortised { every: 0 }) {
            return Err(Error::Request(
                "the clock has to be read at least once in a while: expected 1 packet or more, got 0"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Whether this process may limit what passes `device`, and whether it is there and has frames that can be limited.
pub fn check(device: &Device) -> Result<(), Error> {
    privileges::require("limit attach")?;
    device.within(|| {
        device.index()?;
        device.require_ethernet()
    })
}

/// Limits what passes `device`. Limits that were there already, if `force` lets them be replaced, hand the state of those of
/// the same name over to the new ones.
///
/// If anything fails, everything is as it was before. A process that is killed meanwhile leaves the old limits or the new ones running, and the next that
/// attaches or detaches removes the rest.
pub fn attach(device: &Device, attachment: &Attachment) -> Result<(), Error> {
    check(device)?;
    attachment.check()?;
    let pins = Pins::make()?;
    // From this namespace: what is left of limits may be of a device in it.
    pins.clean()?;
    device.within(|| {
        let hook = Hook { index: device.index()?, mode: attachment.mode, direction: attachment.direction };
        let mut running = pins.on(hook.index)?.into_iter();
        let before = running.next();
        if before.is_some() && !attachment.force {
            return Err(occupied_by_limits(device));
        }
        // A process was killed before it took them away.
        running.try_for_each(|entry| pins.clear(&entry))?;
        let make_place = hook.is_missing()?;
        let classifier = Classifier::new(&attachment.classes);
        let mut object = MaybeUninit::uninit();
        let mut programs = Programs::load(&classifier, attachment.tuning, false, &mut object)?;
        if let Some(before) = &before {
            let before = Attached::of(before.about.clone(), &before.folder)?;
            programs.inherit(&classifier, |name| before.only(name))?;
        }
        programs.start_sweep()?;
        // What is to be remembered is pinned before anything runs, so that it is known whenever this process may end.
        let about = About {
            device: device.clone(),
            namespace: device::namespace()?,
            index: hook.index,
            mode: attachment.mode,
            direction: attachment.direction,
            tuning: attachment.tuning,
            classes: attachment.classes.clone(),
            program_id: 0,
            made_clsact: make_place || before.as_ref().is_some_and(|before| before.about.keeps_place(hook)),
        };
        let pinned = pins.write(&mut programs, &about)?;
        put(&pinned, about, &programs, attachment.force, make_place)?;
        if let Some(before) = before {
            let any = programs.any();
            if before.about.hook() == hook {
                // The new limits have taken the place of the old ones. Pins that cannot be removed now are removed by the next attach or detach.
                let _ = pins.forget(&before);
            } else {
                pins.replace(&before).inspect_err(|_| {
                    // The first error is the one to tell.
                    let _ = hook.clear(any, make_place);
                })?;
            }
        }
        pinned.keep();
        Ok(())
    })
}

/// Does all that [`attach`] does short of attaching: the kernel verifies the programs, and every reason to refuse is told.
pub fn rehearse(device: &Device, attachment: &Attachment) -> Result<(), Error> {
    check(device)?;
    attachment.check()?;
    bpffs::check()?;
    device.within(|| {
        let hook = Hook { index: device.index()?, mode: attachment.mode, direction: attachment.direction };
        hook.is_missing()?;
        if let Some(pins) = Pins::existing()?
            && !attachment.force
            && !pins.on(hook.index)?.is_empty()
        {
            return Err(occupied_by_limits(device));
        }
        let mut object = MaybeUninit::uninit();
        let programs =
            Programs::load(&Classifier::new(&attachment.classes), attachment.tuning, false, &mut object)?;
        if !attachment.force && hook.occupant(programs.any())?.is_some() {
            return Err(occupied(device));
        }
        Ok(())
    })
}

fn occupied_by_limits(device: &Device) -> Error {
    Error::Request(format!("{device} has limits already; --force replaces them"))
}

fn occupied(device: &Device) -> Error {
    Error::Request(format!("another program runs on {device} already; --force replaces it"))
}

/// Runs the program at its place, once its number is remembered.
fn put(
    pinned: &Pinned,
    mut about: About,
    programs: &Programs<'_>,
    force: bool,
    make_place: bool,
) -> Result<(), Error> {
    let hook = about.hook();
    let device = about.device.clone();
    if !force && hook.occupant(programs.any())?.is_some() {
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

/// Limits that [`detach`] has removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// Limits that ran.
    Limits,
    /// Remains of limits that ran no more, as their device was gone or somebody had taken them away by hand.
    Remains,
}

/// Takes the limits off `device`; the state of its limiters is gone with them. Whatever is left of limits that run no more, of this device and of others, is
/// removed as well.
pub fn detach(device: &Device) -> Result<Detached, Error> {
    privileges::require("limit detach")?;
    let pins = Pins::existing()?;
    let index = device.within(|| device.index());
    let Some(pins) = pins else { return Err(index.err().unwrap_or_else(|| none(device))) };
    if let Ok(index) = index {
        let cleared = device.within(|| {
            let running = pins.on(index)?;
            running.iter().try_for_each(|entry| pins.clear(entry)).map(|()| !running.is_empty())
        })?;
        if cleared {
            return pins.clean().map(|()| Detached::Limits);
        }
    }
    let lost = pins.lost(device)?;
    pins.clean()?;
    match lost {
        Some(lost) if lost.has_ended() => Ok(Detached::Remains),
        lost => Err(absent(device, index.err(), lost)),
    }
}

/// All limits that run on a device in sight, by device, and those that do not run where they were attached, or no more.
pub fn survey() -> Result<(Vec<Attached>, Vec<Lost>), Error> {
    privileges::require("looking at limits")?;
    let Some(pins) = Pins::existing()? else { return Ok(Default::default()) };
    let (running, lost) = pins.survey()?;
    let running = running.into_iter().map(|entry| Attached::of(entry.about, &entry.folder));
    Ok((running.collect::<Result<_, _>>()?, lost))
}

/// All limits that run, by device.
pub fn all() -> Result<Vec<Attached>, Error> {
    Ok(survey()?.0)
}

/// The devices that have limits.
pub fn devices() -> Result<Vec<Device>, Error> {
    Ok(all()?.into_iter().map(|attached| attached.about().device.clone()).collect())
}
