//! The thread that writes.

mod reclaim;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use bytes::Bytes;
use hashbrown::HashMap;

use super::admission::Admission;
use super::folder::Folder;
use super::format::{Digest, Kind};
use super::index::{Index, Slot, Slots};
use super::log::{Limits, Log, is_full};
use super::object::{cost, is_useful, stored};
use super::queue::{Item, Work};
use super::segment::New;
use super::shared::{Count, Shared};
use super::stored::Variation;
use crate::clock::{monotonic, now};
use crate::head::body_of;
use crate::reason::reason;

/// URLs of which the generation of their variants is remembered, at most.
const MOST_KNOWN: usize = 1 << 17;

/// The one who writes.
pub(super) struct Writer {
    shared: Arc<Shared>,
    path: PathBuf,
    limits: Limits,
    /// Objects on the disk, at most.
    most: usize,
    admission: Admission,
    /// Generations of the variants of URLs, as they stand on the disk.
    known: HashMap<u64, u64>,
    /// Whether the folder is being opened: what was removed meanwhile may be on the disk.
    is_opening: bool,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, path: PathBuf, limits: Limits, most: usize) -> Self {
        let admission = Admission::new(limits.size, monotonic());
        Self { shared, path, limits, most, admission, known: HashMap::new(), is_opening: true }
    }

    /// Writes until nothing more is to be written. `first` hears how the folder could be opened first.
    pub(super) fn run(mut self, first: Sender<io::Result<()>>) {
        let mut first = Some(first);
        loop {
            let opened = self.open();
            let ended = match opened {
                Ok(log) => {
                    hear(first.take(), Ok(()));
                    self.work(log)
                }
                Err(error) => {
                    self.left_out(&error);
                    hear(first.take(), Err(error));
                    Some(())
                }
            };
            if ended.is_none() || self.shared.queue.is_stopped_within(self.shared.patience.retry) {
                return self.write_last_removals();
            }
        }
    }

    /// What was removed while the folder was closed, or could not be removed before, must not come back at the next start.
    fn write_last_removals(&mut self) {
        if self.shared.queue.has_removals() {
            let written = self.open().and_then(|log| {
                self.shared.set_open(false);
                log.close()
            });
            if written.is_err() {
                let _ = self.clear_folder();
            }
        }
    }

    /// The disk is not used until it could be opened anew.
    fn left_out(&self, error: &io::Error) {
        let seconds = self.shared.patience.retry.as_secs();
        let path = self.path.display();
        self.shared.tell(format!(
            "the disk is left out, and tried again every {seconds} s: {path}: {}",
            reason(error)
        ));
        self.shared.counts.add(Count::Dropped, self.shared.queue.drop_items());
    }

    /// Writes what comes. Returns none if nothing more does, and otherwise when the folder must be opened anew.
    fn work(&mut self, mut log: Log) -> Option<()> {
        loop {
            let done = match self.shared.queue.next() {
                Work::Item(item) => {
                    let written = self.write(&mut log, &item);
                    self.or_pause(&log, written)
                }
                Work::Broken => Err(io::ErrorKind::NotFound.into()),
                Work::Stop => {
                    self.shared.set_open(false);
                    // What is not sealed is read record by record at the next start.
                    let _ = log.close();
                    return None;
                }
                removals => self.remove(&mut log, removals),
            };
            if let Err(error) = done {
                self.forget_slots();
                self.left_out(&error);
                return Some(());
            }
            self.shared.counts.set(Count::Bytes, log.bytes());
        }
    }

    /// An object could not be written: others are not tried for a while. More is wrong if the folder is gone, or a part of a record is in the way.
    fn or_pause(&self, log: &Log, written: io::Result<()>) -> io::Result<()> {
        let Err(error) = written else { return Ok(()) };
        if error.kind() == io::ErrorKind::NotFound || log.is_torn() {
            self.shared.counts.add(Count::Dropped, 1);
            return Err(error);
        }
        self.shared.pause_writes();
        let seconds = self.shared.patience.retry.as_secs();
        let path = self.path.display();
        self.shared
            .tell(format!("nothing is written to the disk for {seconds} s: {path}: {}", reason(&error)));
        self.shared.counts.add(Count::Dropped, 1 + self.shared.queue.drop_items());
        Ok(())
    }

    /// Nobody finds anything until the folder has been opened anew.
    fn forget_slots(&mut self) {
        let mut index = self.shared.index();
        index.is_unsure = true;
        self.shared.set_open(false);
        let slots = std::mem::take(&mut index.slots);
        drop(index);
        drop(slots);
    }

    /// Removes all segments, and with them what was to be removed.
    fn clear_folder(&self) -> io::Result<()> {
        if let Some(work) = self.shared.queue.take_removals() {
            if let Err(error) = Folder::open(&self.path).and_then(|folder| folder.clear()) {
                self.put_back(work);
                return Err(error);
            }
            self.shared.queue.finish();
        }
        Ok(())
    }

    /// What was to be removed could not be: nothing at all is to stay.
    fn put_back(&self, _: Work) {
        let _index = self.shared.index();
        self.shared.queue.clear(false);
    }

    /// Opens the folder, and removes what was removed before it was open.
    fn open(&mut self) -> io::Result<Log> {
        self.is_opening = true;
        self.known.clear();
        let folder = Folder::open(&self.path)?;
        {
            let mut index = self.shared.index();
            // What is to be removed cannot be found by another key.
            if index.key.replace(folder.key()).is_some_and(|key| key != folder.key()) {
                self.shared.queue.clear(false);
            }
            index.gone = 0;
        }
        let mut slots = Slots::with_room(self.most);
        let mut log = match Log::open(folder, self.limits, &mut slots) {
            Ok(log) => log,
            Err(error) => {
                // What is removed must not come back at another start, whatever else goes wrong.
                let _ = self.clear_folder();
                return Err(error);
            }
        };
        self.shared.index().slots = slots;
        loop {
            while let Some(removals) = self.shared.queue.take_removals() {
                if let Err(error) = self.remove(&mut log, removals) {
                    self.forget_slots();
                    return Err(error);
                }
            }
            let mut index = self.shared.index();
            if !self.shared.queue.has_removals() {
                index.is_unsure = false;
                self.is_opening = false;
                self.shared.counts.set(Count::Bytes, log.bytes());
                self.shared.set_well();
                self.shared.set_open(true);
                drop(index);
                return Ok(log);
            }
        }
    }

    /// Makes removals last. If one of them cannot be written, all files are removed, which needs no room.
    fn remove(&mut self, log: &mut Log, removals: Work) -> io::Result<()> {
        let removed = match &removals {
            Work::Removed(digests) => digests.iter().try_for_each(|digest| self.remove_one(log, *digest)),
            _ => self.clear(log),
        };
        match &removed {
            Ok(()) => self.shared.queue.finish(),
            Err(_) => {
                self.forget_slots();
                match log.unlink() {
                    Ok(()) => self.shared.queue.finish(),
                    Err(_) => self.put_back(removals),
                }
            }
        }
        removed
    }

    fn remove_one(&mut self, log: &mut Log, digest: Digest) -> io::Result<()> {
        let was_there = self.shared.index().slots.remove(digest[0]);
        if self.is_opening && !was_there {
            return Ok(());
        }
        let new = new(Kind::Removed, digest, ([].as_slice(), [].as_slice(), [].as_slice()));
        self.make_room(log, &new)?;
        self.append(log, &new).map(drop)
    }

    fn clear(&mut self, log: &mut Log) -> io::Result<()> {
        let slots = Slots::with_room(self.most);
        let before = {
            let mut index = self.shared.index();
            index.is_unsure = true;
            std::mem::replace(&mut index.slots, slots)
        };
        drop(before);
        self.known.clear();
        log.clear()?;
        // Nothing is on the disk now. What else was removed meanwhile is written before the next object is.
        self.shared.index().is_unsure = self.is_opening;
        Ok(())
    }

    /// Writes an object, if it is worth it.
    fn write(&mut self, log: &mut Log, item: &Item) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let (now, head, key) = (now(), &item.head, log.key());
        let name_of_url = &item.name[..item.url];
        let (url, digest) = (key.digest(name_of_url), key.digest(&item.name));
        let is_current = |index: &Index| {
            index.numbers.may_write([name_of_url, &item.name], head.number, item.left)
                && shared.marks.allow(&head.stamp, name_of_url, &head.tags)
                && head.stamp.stale_since().is_none()
        };
        let Some(bytes) = stored(head).bytes().filter(|_| is_useful(head, now)) else {
            return self.refuse();
        };
        let body = body_of(&item.object);
        let took = cost(head);
        let object = New { took, ..new(Kind::Object, digest, (&item.name, &bytes, &body)) };
        let Some(length) = object.length().map(u64::from).filter(|&length| log.may_hold(length)) else {
            return self.refuse();
        };
        let is_there = {
            let index = shared.index();
            let is_there = index.slots.find(digest[0]).is_some();
            if !is_current(&index) || (head.is_on_disk && is_there) {
                drop(index);
                return self.refuse();
            }
            is_there
        };
        // What takes the place of an older copy has been worth it.
        let saving = took.0 as f64 * f64::from(head.asked());
        if !self.admission.admits(saving, length, monotonic()) && !is_there {
            return self.refuse();
        }
        if let Some(variation) = &item.variation {
            self.write_variation(log, url, name_of_url, variation, is_current)?;
        }
        self.make_room(log, &object)?;
        if !self.put(log, &object, is_current)? {
            return self.refuse();
        }
        shared.set_well();
        shared.counts.set(Count::Bytes, log.bytes());
        shared.counts.add(Count::Written, 1);
        Ok(())
    }

    fn refuse(&self) -> io::Result<()> {
        self.shared.counts.add(Count::Refused, 1);
        Ok(())
    }

    /// Writes what a URL varies by, unless the same stands on the disk.
    fn write_variation(
        &mut self,
        log: &mut Log,
        url: Digest,
        name: &[u8],
        variation: &Variation,
        is_current: impl Fn(&Index) -> bool,
    ) -> io::Result<()> {
        let is_there = self.shared.index().slots.find(url[0]).is_some_and(|slot| slot.kind == Kind::Varies);
        if is_there && self.known.get(&url[0]) == Some(&variation.generation) {
            return Ok(());
        }
        let Some(bytes) = variation.bytes() else { return Ok(()) };
        let new = new(Kind::Varies, url, (name, &bytes, &[]));
        self.make_room(log, &new)?;
        if self.put(log, &new, is_current)? {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.insert(url[0], variation.generation);
        }
        Ok(())
    }

    /// Makes room for a record.
    fn make_room(&mut self, log: &mut Log, new: &New<'_>) -> io::Result<()> {
        let length = new.length().map_or(u64::MAX, u64::from);
        if new.kind != Kind::Removed && self.shared.index().slots.len() >= self.most {
            if log.oldest().is_none() {
                self.turn(log)?;
            }
            if let Some(oldest) = log.oldest() {
                self.remove_segment(log, oldest)?;
            }
        }
        if log.has_room(length) {
            return Ok(());
        }
        self.turn(log)?;
        while let Some(oldest) = log.excess() {
            self.reclaim(log, oldest)?;
        }
        // What was kept of the oldest one may have filled it.
        if !log.has_room(length) {
            self.turn(log)?;
            while let Some(oldest) = log.excess() {
                self.remove_segment(log, oldest)?;
            }
        }
        Ok(())
    }

    /// Begins the next segment. If others have filled the disk, the oldest segments make room.
    fn turn(&mut self, log: &mut Log) -> io::Result<()> {
        loop {
            let turned = log.turn();
            if !self.frees_for(log, &turned)? {
                return turned;
            }
        }
    }

    /// Removes the oldest segment if something failed for want of room. Returns whether there is some now.
    fn frees_for<T>(&mut self, log: &mut Log, done: &io::Result<T>) -> io::Result<bool> {
        match log.oldest() {
            Some(oldest) if done.as_ref().is_err_and(is_full) => {
                self.remove_segment(log, oldest).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Writes a record for which there is room, as long as it `is_current`. Returns whether it was at the end, and so is found.
    fn put(&mut self, log: &mut Log, new: &New<'_>, is_current: impl Fn(&Index) -> bool) -> io::Result<bool> {
        let shared = Arc::clone(&self.shared);
        {
            let mut index = shared.index();
            if !is_current(&index) {
                return Ok(false);
            }
            // A removal from here on is written behind it.
            index.writing = Some(new.digest[0]);
        }
        let slot = self.append(log, new);
        let mut index = shared.index();
        index.writing = None;
        let slot = slot?;
        let is_current = is_current(&index);
        if is_current {
            index.slots.insert(slot);
        } else {
            // It stands there, and must not be found at the next start.
            index.slots.remove(new.digest[0]);
            shared.queue.remove(new.digest);
        }
        Ok(is_current)
    }

    fn append(&mut self, log: &mut Log, new: &New<'_>) -> io::Result<Slot> {
        loop {
            let appended = log.append(new);
            if !self.frees_for(log, &appended)? {
                let (segment, entry) = appended?;
                self.admission.wrote(entry.length.into());
                self.shared.counts.add(Count::WrittenBytes, entry.length.into());
                return Ok(Slot::new(&entry, segment));
            }
        }
    }
}

impl Drop for Writer {
    /// Also after a panic: nobody waits for it any more.
    fn drop(&mut self) {
        self.shared.set_open(false);
        self.shared.queue.end();
    }
}

/// Says how the folder could be opened, if somebody waits for that.
fn hear(first: Option<Sender<io::Result<()>>>, opened: io::Result<()>) {
    first.map(|first| first.send(opened));
}

/// A record of this moment: its name, its head and its body.
fn new<'a>(kind: Kind, digest: Digest, (name, head, body): (&'a [u8], &'a [u8], &'a [Bytes])) -> New<'a> {
    New { kind, digest, name, head, body, took: Default::default() }
}
