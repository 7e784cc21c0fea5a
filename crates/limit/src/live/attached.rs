//! Limits that run: their state, their counters, and changing them meanwhile.

use std::ops::{AddAssign, Range, Sub};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, slice};

use libbpf_rs::libbpf_sys::{bpf_map_batch_opts, bpf_map_lookup_batch};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;
use trueplane_linux::device::Device;
use trueplane_linux::error::Error;
use trueplane_linux::mapping::Mapping;
use trueplane_linux::{clock, privileges};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::about::{About, open};
use super::pins::Pins;
use crate::classifier::Classifier;
use crate::format::{RateWord, burst_units};
use crate::live::pins::{absent, none};
use crate::policy::Nimble;

/// Packets and bytes of one class, or of one limiter of it. Arrived is the sum of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// Packets let through as they were.
    pub passed_packets: u64,
    /// Packets let through with a congestion mark.
    pub marked_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes let through as they were.
    pub passed_bytes: u64,
    /// Bytes let through with a congestion mark.
    pub marked_bytes: u64,
    /// Bytes dropped.
    pub dropped_bytes: u64,
}

impl Counter {
    /// Packets that came.
    pub fn arrived_packets(&self) -> u64 {
        self.passed_packets + self.marked_packets + self.dropped_packets
    }

    /// Bytes that came.
    pub fn arrived_bytes(&self) -> u64 {
        self.passed_bytes + self.marked_bytes + self.dropped_bytes
    }

    /// Bytes that were let through.
    pub fn admitted_bytes(&self) -> u64 {
        self.passed_bytes + self.marked_bytes
    }

    fn words(&self) -> [u64; 6] {
        [
            self.passed_packets,
            self.marked_packets,
            self.dropped_packets,
            self.passed_bytes,
            self.marked_bytes,
            self.dropped_bytes,
        ]
    }

    fn from_words(words: [u64; 6]) -> Self {
        let [passed_packets, marked_packets, dropped_packets, passed_bytes, marked_bytes, dropped_bytes] =
            words;
        Self { passed_packets, marked_packets, dropped_packets, passed_bytes, marked_bytes, dropped_bytes }
    }

    /// A counter of the program's table, over all cores.
    pub(super) fn read(table: &impl MapCore, index: u32) -> Result<Self, Error> {
        let refused = Error::kernel("read the counters");
        let cores = table.lookup_percpu(&index.to_ne_bytes(), MapFlags::ANY).map_err(refused)?;
        let mut sum = Self::default();
        for core in cores.iter().flatten() {
            sum += Self::from_bytes(core);
        }
        Ok(sum)
    }

    /// Passes the counters of `range` to `take`, each over all cores. A system call for every one of a million would take
    /// seconds: this makes one for a few thousand.
    fn read_all(table: &MapHandle, range: Range<u32>, mut take: impl FnMut(u32, Self)) -> Result<(), Error> {
        let at_once = (range.len() as u32).min(4096);
        let cores = libbpf_rs::num_possible_cpus().map_err(Error::kernel("count the cores"))?;
        let value_bytes = size_of::<[u64; 6]>() * cores;
        let mut keys = vec![0u32; at_once as usize];
        let mut values = vec![0u8; value_bytes * at_once as usize];
        let options = bpf_map_batch_opts { sz: size_of::<bpf_map_batch_opts>() as u64, ..Default::default() };
        let mut next = range.start;
        while next < range.end {
            let mut count = at_once.min(range.end - next);
            // The kernel goes on behind the key that it is given.
            let mut before = next.wrapping_sub(1);
            let mut last = 0u32;
            let before = if next == 0 { std::ptr::null_mut() } else { (&raw mut before).cast() };
            // SAFETY: keys are `u32` and there is room for `count` of them; a value is one counter for each core, whose size
            // is a multiple of eight, and there is room for `count` of those; all of it lives as long as the call lasts.
            let status = unsafe {
                bpf_map_lookup_batch(
                    table.as_fd().as_raw_fd(),
                    before,
                    (&raw mut last).cast(),
                    keys.as_mut_ptr().cast(),
                    values.as_mut_ptr().cast(),
                    &raw mut count,
                    &raw const options,
                )
            };
            // At its end the table says that there is no more, having told what there was.
            if count == 0 || (status != 0 && status != -libc::ENOENT) {
                return Err(Error::io("read the counters")(io::Error::from_raw_os_error(-status)));
            }
            for (index, value) in (next..).zip(values.chunks_exact(value_bytes)).take(count as usize) {
                let mut sum = Self::default();
                value.chunks_exact(size_of::<[u64; 6]>()).for_each(|core| sum += Self::from_bytes(core));
                take(index, sum);
            }
            next += count;
        }
        Ok(())
    }

    /// `struct counter` of the program.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; 6];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        Self::from_words(words)
    }
}

impl AddAssign for Counter {
    fn add_assign(&mut self, other: Self) {
        let (mine, theirs) = (self.words(), other.words());
        *self = Self::from_words(std::array::from_fn(|word| mine[word] + theirs[word]));
    }
}

impl Sub for Counter {
    type Output = Self;

    /// Returns the counts between `earlier` and `self`.
    fn sub(self, earlier: Self) -> Self {
        let (later, earlier) = (self.words(), earlier.words());
        Self::from_words(std::array::from_fn(|word| later[word].saturating_sub(earlier[word])))
    }
}

/// Change to a limit; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The rate.
    pub rate: Option<BitsPerSec>,
    /// Capacity of the bucket.
    pub burst: Option<Bytes>,
    /// Occupancy above which packets are marked; `Some(None)` for never.
    pub mark: Option<Option<Bytes>>,
}

/// Limits that run on a device.
pub struct Attached {
    about: About,
    classifier: Classifier,
    limiters: LimiterTable,
    counters: MapHandle,
}

impl Attached {
    /// The limits on `device`.
    pub fn open(device: &Device) -> Result<Self, Error> {
        privileges::require("looking at limits")?;
        let pins = Pins::existing()?;
        let index = device.within(|| device.index());
        let Some(pins) = pins else { return Err(index.err().unwrap_or_else(|| none(device))) };
        match index {
            Ok(index) => {
                let found = device.within(|| pins.on(index))?.into_iter().next();
                let entry = found.ok_or_else(|| none(device))?;
                Self::of(About { device: device.clone(), ..entry.about }, &entry.folder)
            }
            Err(missing) => Err(absent(device, Some(missing), pins.lost(device)?)),
        }
    }

    /// Limits whose maps are pinned in `folder`.
    pub(super) fn of(about: About, folder: &Path) -> Result<Self, Error> {
        let classifier = Classifier::new(&about.classes);
        let limiters = open(folder, "limiters")?;
        let limiters = LimiterTable::of(&limiters).map_err(Error::io("look at the limiters"))?;
        if limiters.words().len() < 2 * classifier.limiter_count() as usize {
            return Err(Error::Request(format!("{}: too few limiters for its classes", folder.display())));
        }
        Ok(Self { about, classifier, limiters, counters: open(folder, "counters")? })
    }

    /// Description of the attached limits.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The classes, limiters and counters by number and name.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// A limiter as it is, as of its last packet.
    ///
    /// # Panics
    /// If there is no limiter of that number.
    pub fn limiter(&self, index: u32) -> Nimble {
        let [state, config] =
            self.limiters.limiter(index).each_ref().map(|word| word.load(Ordering::Relaxed));
        let ([last_ticks, occupancy_units], [rate, burst_units]) = (halves(state), halves(config));
        Nimble { last_ticks, occupancy_units, rate: RateWord(rate), burst_units }
    }

    /// Occupancy of a limiter's bucket by now.
    pub fn occupancy(&self, index: u32) -> Bytes {
        let mut limiter = self.limiter(index);
        limiter.advance(clock::monotonic());
        limiter.occupancy()
    }

    /// Changes the limits called `name`: a class with all its limiters, or a single limiter. What is in the buckets stays,
    /// and every packet meets either the old limit or the new one. Returns how many were changed.
    pub fn set(&self, name: &str, change: Change) -> Result<u32, Error> {
        let unknown = || {
            let names =
                self.about.classes.classes().iter().map(|class| class.name.as_str()).collect::<Vec<_>>();
            Error::Request(format!(
                "{} has no class \"{name}\"; its classes are {}",
                self.about.device,
                names.join(", ")
            ))
        };
        let limiters: Range<u32> = self.classifier.find(name).ok_or_else(unknown)?;
        let wrong = |what: String| Error::Request(format!("class \"{name}\": {what}"));
        let limited = |index: u32| -> Result<u64, Error> {
            let now = self.limiter(index);
            let mark = change.mark.unwrap_or(now.rate.mark());
            let burst = change.burst.unwrap_or(now.burst());
            // As in a classes file.
            if let Some(mark) = mark.filter(|&mark| mark.0 == 0 || mark >= burst) {
                return Err(wrong(format!(
                    "mark: expected at least 1B and less than the burst of {}B, got {}B",
                    burst.0, mark.0
                )));
            }
            let rate = match change.rate {
                Some(rate) => RateWord::new(rate, mark),
                None => Ok(now.rate.with_mark(mark)),
            };
            let rate = rate.map_err(|error| wrong(error.to_string()))?;
            let burst = match change.burst {
                Some(burst) => burst_units(burst).map_err(|error| wrong(error.to_string()))?,
                None => now.burst_units,
            };
            Ok(word([rate.0, burst]))
        };
        // Nobody else sets or replaces them meanwhile.
        let gone = || none(&self.about.device);
        let _alone = Pins::existing()?.ok_or_else(gone)?;
        if !self.about.device.within(|| self.runs())? {
            return Err(gone());
        }
        // All or none.
        let words = limiters.clone().map(limited).collect::<Result<Vec<_>, _>>()?;
        for (index, word) in limiters.zip(&words) {
            // What has drained until now drained at the old rate.
            self.advance(index, clock::monotonic());
            let [_, config] = self.limiters.limiter(index);
            config.store(*word, Ordering::Relaxed);
        }
        Ok(words.len() as u32)
    }

    /// Lets time pass for a limiter up to `now`, while packets may arrive.
    fn advance(&self, index: u32, now: Nanos) {
        let [state, _] = self.limiters.limiter(index);
        let drained = |before: u64| {
            let [last_ticks, occupancy_units] = halves(before);
            let mut limiter = Nimble { last_ticks, occupancy_units, ..self.limiter(index) };
            limiter.advance(now);
            Some(word([limiter.last_ticks, limiter.occupancy_units]))
        };
        // It always has an answer, so this cannot fail.
        let _ = state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, drained);
    }

    /// The counter of that number, over all cores; the last one, [`Classifier::counter_count`], is for packets of no class.
    pub fn counter(&self, index: u32) -> Result<Counter, Error> {
        Counter::read(&self.counters, index)
    }

    /// Reads the counts of a class.
    pub fn class_counter(&self, class: usize) -> Result<Counter, Error> {
        let mut sum = Counter::default();
        self.each_counter(self.classifier.counters_of(class), |_, counter| sum += counter)?;
        Ok(sum)
    }

    /// Passes every counter of `range` to `take`, in their order.
    pub fn each_counter(&self, range: Range<u32>, take: impl FnMut(u32, Counter)) -> Result<(), Error> {
        Counter::read_all(&self.counters, range, take)
    }

    /// Reads the counts of the packets of no class.
    pub fn unclassified(&self) -> Result<Counter, Error> {
        self.counter(self.classifier.counter_count())
    }

    /// The limiter of this name, as it is now. A class of many limiters has none that is meant by its name.
    pub(super) fn only(&self, name: &str) -> Option<Nimble> {
        let found = self.classifier().find(name).filter(|found| found.len() == 1)?;
        Some(self.limiter(found.start))
    }

    /// Whether the program is where it was found; to be called within the device's namespace.
    fn runs(&self) -> Result<bool, Error> {
        let occupant = self.about.hook().occupant(self.counters.as_fd())?;
        Ok(occupant == Some(self.about.program_id))
    }
}

/// Two words of 32 bits as they lie in memory.
fn halves(word: u64) -> [u32; 2] {
    let bytes = word.to_ne_bytes();
    let half = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]));
    [half(0), half(4)]
}

/// The inverse of [`halves`].
fn word(halves: [u32; 2]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&halves[0].to_ne_bytes());
    bytes[4..].copy_from_slice(&halves[1].to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

/// The kernel's array of limiters, mapped into this process: read and set in words of 64 bits, as the programs do it.
struct LimiterTable {
    memory: Mapping,
}

impl LimiterTable {
    fn of(map: &MapHandle) -> io::Result<Self> {
        Ok(Self { memory: Mapping::shared(map.as_fd(), map.max_entries() as usize * 16, 0)? })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has so many words, is aligned to a page, lives as long as `self`, and all who share it
        // use atomic instructions.
        unsafe { slice::from_raw_parts(self.memory.start().cast().as_ptr(), self.memory.length() / 8) }
    }

    /// State and configuration of a limiter.
    fn limiter(&self, index: u32) -> &[AtomicU64; 2] {
        let at = index as usize * 2;
        self.words()[at..].first_chunk().expect("the caller's index is one of the classifier's")
    }
}
