//! Limits for the time of a measurement, and reading them at an instant.

use std::thread;
use std::time::Duration;

use trueplane_limit::classes::{Class, Classes};
use trueplane_limit::format::{MAX_BURST, MAX_RATE};
use trueplane_limit::live::{Attached, Attachment, Counter, Direction, Mode, Tuning, attach, detach};
use trueplane_linux::clock;
use trueplane_linux::device::Device;
use trueplane_linux::testnet::Host;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::conduct::Error;

/// The part of a full frame that is TCP's payload: 1514 bytes are 14 of Ethernet, 20 of IPv4, 32 of TCP with timestamps, and
/// 1448. Limits and `tc` count frames; what programs get is so much less.
pub const PAYLOAD_SHARE: f64 = 1448.0 / 1514.0;

/// A reading that took longer is taken again: nobody knows when in that time it was.
const PROMPT: Nanos = Nanos(100_000);

/// Most attempts at a reading.
const TRIES: usize = 50;

/// Limits on a device, taken off when dropped.
pub struct Limits {
    device: Device,
    attached: Attached,
}

impl Limits {
    /// Puts limits on a device.
    pub fn put(device: Device, classes: Vec<Class>, mode: Mode, direction: Direction) -> Result<Self, Error> {
        let classes = Classes::new(None, classes)
            .map_err(|fault| trueplane_linux::Error::Request(fault.to_string()))?;
        let attachment = Attachment { classes, mode, direction, tuning: Tuning::default(), force: false };
        attach(&device, &attachment)?;
        let opened = Attached::open(&device);
        if opened.is_err() {
            take_off(&device);
        }
        Ok(Self { attached: opened?, device })
    }

    /// Limits that never limit, on what `host` receives: they count, by who has sent it.
    pub fn count_at(host: &Host, from: &[&Host]) -> Result<Self, Error> {
        let free =
            from.iter().map(|sender| Class { burst: MAX_BURST, ..class_of(sender, MAX_RATE) }).collect();
        Self::put(host.as_device(), free, Mode::Tc, Direction::Ingress)
    }

    /// The limits as they are attached to the device.
    pub fn attached(&self) -> &Attached {
        &self.attached
    }

    /// Reads the counters of all classes.
    pub fn read(&self) -> Result<Reading, Error> {
        let classes = self.attached.about().classes.classes().len();
        let mut tries = 0;
        loop {
            tries += 1;
            let before = clock::monotonic();
            let counters =
                (0..classes).map(|class| self.attached.class_counter(class)).collect::<Result<_, _>>()?;
            let took = clock::monotonic().since(before);
            if took <= PROMPT || tries == TRIES {
                return Ok(Reading { at: before.after(Nanos(took.0 / 2)), counters });
            }
        }
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        take_off(&self.device);
    }
}

/// Best effort, with a line where it fails: what is left goes with the device.
fn take_off(device: &Device) {
    if let Err(error) = detach(device) {
        eprintln!("{error}");
    }
}

/// A class for what comes from a host.
pub(super) fn class_of(host: &Host, rate: BitsPerSec) -> Class {
    Class { source: vec![std::net::IpAddr::V4(host.v4).into()], ..Class::new(host.ns.name(), rate) }
}

/// Counters at an instant, by class.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Time of the reading, on the monotonic clock.
    pub at: Nanos,
    /// Counters, in the order of the classes.
    pub counters: Vec<Counter>,
}

/// Traffic that a class admitted between two readings.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    /// All that was counted.
    pub counter: Counter,
    /// Time between the two readings.
    pub span: Nanos,
}

impl Reading {
    /// Traffic that a class counted since an earlier reading.
    pub fn since(&self, earlier: &Self, class: usize) -> Admitted {
        Admitted { counter: self.counters[class] - earlier.counters[class], span: self.at.since(earlier.at) }
    }
}

impl Admitted {
    /// The rate of frames that passed.
    pub fn rate(&self) -> BitsPerSec {
        BitsPerSec::of(Bytes(self.counter.admitted_bytes()), self.span)
    }

    /// The rate of frames that came.
    pub fn offered(&self) -> BitsPerSec {
        BitsPerSec::of(Bytes(self.counter.arrived_bytes()), self.span)
    }
}

/// Traffic that a limiter and the counter behind it saw in the same time.
pub(super) struct Both {
    /// The limiter; none where it is `tc`'s.
    pub(super) limiter: Option<Admitted>,
    /// Traffic that arrived at the receiver.
    pub(super) received: Admitted,
}

/// Reads the first class of both, waits, and reads it again.
pub(super) fn watch(limiter: Option<&Limits>, receiver: &Limits, duration: Duration) -> Result<Both, Error> {
    let read = || Ok::<_, Error>((limiter.map(Limits::read).transpose()?, receiver.read()?));
    let (limiter_before, before) = read()?;
    thread::sleep(duration);
    let (limiter_after, after) = read()?;
    let limiter = limiter_after.zip(limiter_before).map(|(after, before)| after.since(&before, 0));
    Ok(Both { limiter, received: after.since(&before, 0) })
}
