//! A tier on disk: what the memory has no room for, if writing it saves enough waiting.
//!
//! Objects are appended to segments, and the oldest segment is reclaimed when the bytes are used up. What stands where is in memory, and is read from the footers
//! of segments at the start. One thread writes; whoever reads checks every byte by a checksum. From the bottom up: `format` and `stored` are the bytes, `folder` the files, `segment` a
//! file of records, `log` all of them; `numbers` says what is out of date, `index` what stands where; `admission` says what is worth a write, `queue` holds what
//! waits for one, and `writer` writes.
//!
//! # No answer comes back that was removed
//!
//! 1. One lock puts all in order: fetches, removals, looks for slots and their insertion.
//! 2. A fetch takes a number when it begins, before it looks anywhere. What it brings has this number, in memory and in the queue.
//! 3. A removal of a URL takes a number and takes out its slot in one step, before the memory forgets the answer. So a slot is never one that was removed.
//! 4. A record gets its slot only if its URL was not removed, and no newer answer came for its name, since its number; for patterns, if no mark says that it was
//!    purged. What is in memory is up to date, so that this is remembered only for as long as a record may wait after it has left the memory.
//! 5. A look that finds a slot reads, and then asks whether its URL was removed since its own number. If so, it has found nothing.
//! 6. If not, the removal comes later. It then finds in memory what the look has brought, or the fetch on its way, which the cache does not store any more.
//! 7. A pattern makes its mark, and takes out all slots, in one step. What was found before has an older stamp than the mark, by which the memory knows it.
//! 8. A slot leaves only if the file of its segment is gone, or together with a removal that waits to be written. So the files never hold more than the slots and
//!    what waits say. A removal that finds neither a slot, nor one that waits or is being written, has nothing to write.
//! 9. A purge, and the answer to a POST, wait until their removals are in the log. A removal that cannot be written removes all files. If that fails too, or takes
//!    more than a second, the purge says so, and the answer goes out. When the process ends, removals that come before the last segment is sealed are written.
//! 10. Numbers are forgotten at the end: a new process knows what the log says, and has nothing in memory that is older.

mod admission;
mod folder;
pub mod format;
#[cfg(test)]
mod hook;
mod index;
mod log;
mod numbers;
mod object;
mod queue;
mod segment;
mod shared;
pub mod stored;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;

pub(crate) use self::folder::probe;
use self::format::{Digest, Kind, read_record};
use self::index::{Index, Slot, Slots};
use self::log::Limits;
use self::object::restored;
use self::queue::{Item, Queue};
use self::segment::read_at;
use self::shared::{Count, Patience, Shared};
use self::stored::Variation;
use self::writer::Writer;
use crate::head::{Head, Object, head_of, weight};
use crate::marks::{Marks, Stamp};
use crate::reason::reason;

/// Bytes of a tier, at least.
pub(crate) const LEAST_SIZE: u64 = 4 << 20;
/// Share of the memory, and bytes, that objects may take that wait to be written.
const WAITING_SHARE: u64 = 16;
const LEAST_WAITING: u64 = 8 << 20;
/// Bytes of memory for each object on the disk: where it stands takes up to 114 more.
const BYTES_PER_OBJECT: u64 = 256;
const LEAST_OBJECTS: usize = 1 << 16;

/// What a tier on disk holds, and what it has done since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskStats {
    /// Whether it is read and written now.
    pub is_in_use: bool,
    /// Objects on the disk.
    pub objects: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Objects that were read.
    pub hits: u64,
    /// Objects that were written, without those that were written again.
    pub written: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Objects that were not worth a write, were there already, or were out of date.
    pub refused: u64,
    /// Objects that came while the disk failed, or faster than it could write.
    pub dropped: u64,
    /// Records that could not be read, or were not what had been written.
    pub broken: u64,
}

/// A record that was found under a name.
pub(crate) enum Hit {
    /// A response.
    Object(Arc<Head>, Object),
    /// The URL's responses vary by these fields.
    Varies(Variation),
}

/// The result of a removal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Removed {
    /// Whether something was there.
    pub(crate) was_there: bool,
    /// The number of the removal, if it must be written.
    pub(crate) number: Option<u64>,
}

/// A tier on disk.
pub(crate) struct Disk {
    shared: Arc<Shared>,
    path: PathBuf,
    /// The name of this cache, as origins know it.
    name: String,
    /// Says nothing, and ends when the writer does.
    writer: Mutex<Receiver<()>>,
}

impl Disk {
    /// Opens a folder for so many bytes, beside so many bytes of memory. If it cannot be opened now, or not soon, the disk is left out, and tried again.
    ///
    /// # Errors
    ///
    /// The folder can never be used, or another process uses it; the reason is in one line.
    pub(crate) fn open(
        path: &Path,
        size: u64,
        memory: u64,
        name: &str,
        marks: Arc<Marks>,
    ) -> Result<Self, String> {
        Self::with(path, Limits::new(size), memory, name, marks, Patience::default())
            .map_err(|error| reason(&error))
    }

    fn with(
        path: &Path,
        limits: Limits,
        memory: u64,
        name: &str,
        marks: Arc<Marks>,
        patience: Patience,
    ) -> io::Result<Self> {
        let queue = Queue::new((memory / WAITING_SHARE).max(LEAST_WAITING));
        let most = usize::try_from(memory / BYTES_PER_OBJECT).unwrap_or(usize::MAX).max(LEAST_OBJECTS);
        let shared = Arc::new(Shared::new(Index::new(), queue, marks, patience));
        let writer = Writer::new(Arc::clone(&shared), path.to_owned(), limits, most);
        let ((opening, opened), (ending, ended)) = (mpsc::channel(), mpsc::channel());
        let run = move || {
            writer.run(opening);
            drop::<Sender<()>>(ending);
        };
        thread::Builder::new().name("trueplane-disk".to_owned()).spawn(run)?;
        let disk = Self { shared, path: path.to_owned(), name: name.to_owned(), writer: Mutex::new(ended) };
        match opened.recv_timeout(patience.open) {
            Ok(Err(error)) if is_final(&error) => Err(error),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => Ok(disk),
            Err(RecvTimeoutError::Timeout) => {
                disk.shared.tell(format!("the disk is left out until it answers: {}", path.display()));
                Ok(disk)
            }
        }
    }

    /// A fetch begins. Returns its number.
    pub(crate) fn begin(&self) -> u64 {
        self.shared.index().numbers.begin()
    }

    /// The last number, for who looks at the disk alone, and for what leaves the memory now.
    pub(crate) fn last(&self) -> u64 {
        self.shared.index().numbers.last()
    }

    /// An object has left the memory, when `left` was the [last number](Self::last). `url` bytes of its name are the URL, and `variation` is what that varies by
    /// if there are more.
    pub(crate) fn offer(
        &self,
        name: Vec<u8>,
        url: usize,
        object: Object,
        variation: Option<Variation>,
        left: u64,
    ) {
        let Some(head) = head_of(&object) else { return };
        if !self.shared.writes() {
            return self.shared.counts.add(Count::Dropped, 1);
        }
        let bytes = weight(&name, &object);
        let item = Item { name, url, head, object, variation, bytes, left };
        if !self.shared.queue.offer(item) {
            self.shared.counts.add(Count::Dropped, 1);
        }
    }

    /// Whether so few objects wait to be written that another one most likely finds room.
    pub(crate) fn has_room(&self) -> bool {
        self.shared.queue.has_room() || !self.shared.writes()
    }

    /// What stands under a name, of which `url` bytes are the URL, if there is room for so many bytes. `number` is that of the fetch, and `stamp` what was
    /// known of purges before it.
    pub(crate) async fn find(
        self: &Arc<Self>,
        name: &[u8],
        url: usize,
        (number, stamp): (u64, &Arc<Stamp>),
        has_room: impl FnOnce(u64) -> bool,
    ) -> Option<Hit> {
        if !self.shared.reads() {
            return None;
        }
        let (slot, digest) = {
            let mut index = self.shared.index();
            let (of_url, digest) = (index.digest(&name[..url])?, index.digest(name)?);
            if url < name.len() {
                // The variants of a URL that was removed are there until their segments are reclaimed.
                index.slots.hit(of_url[0]).filter(|slot| slot.kind == Kind::Varies)?;
            }
            (index.slots.hit(digest[0])?, digest)
        };
        if !has_room(slot.length.into()) {
            return None;
        }
        let (disk, copied, stamp) = (Arc::clone(self), name.to_vec(), Arc::clone(stamp));
        let read = async move {
            let permit = Arc::clone(&disk.shared.reads).acquire_owned().await;
            tokio::task::spawn_blocking(move || {
                let found = disk.read(&slot, digest, &copied, number, &stamp);
                drop(permit);
                found
            })
            .await
        };
        let Ok(read) = tokio::time::timeout(self.shared.patience.for_read(slot.length), read).await else {
            self.shared.pause_reads();
            let seconds = self.shared.patience.retry.as_secs();
            let path = self.path.display();
            self.shared
                .tell(format!("the disk is not read for {seconds} s: {path}: it does not answer in time"));
            return None;
        };
        let found = read.ok().flatten()?;
        // It may have been removed while it was read.
        let is_so = self.may_use(&name[..url], number);
        if is_so && matches!(found, Hit::Object(..)) {
            self.shared.counts.add(Count::Hits, 1);
        }
        is_so.then_some(found)
    }

    fn read(&self, slot: &Slot, digest: Digest, name: &[u8], number: u64, stamp: &Arc<Stamp>) -> Option<Hit> {
        let bytes = match read_at(&self.path, slot.place, slot.length) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) => {
                self.failed(slot, &error);
                return None;
            }
        };
        let Some(record) = read_record(&bytes, slot.place) else {
            self.forget_broken(slot, digest);
            return None;
        };
        // Another name may have the same key.
        if record.header.digest != digest || record.name != name {
            return None;
        }
        match record.header.kind {
            Kind::Object => {
                let restored = restored(&record, &bytes, &self.name, stamp, number);
                restored.map(|(head, object)| Hit::Object(head, object))
            }
            Kind::Varies => Variation::read(record.head).map(Hit::Varies),
            Kind::Removed => None,
        }
    }

    /// A record is not what was written.
    fn forget_broken(&self, slot: &Slot, digest: Digest) {
        let mut index = self.shared.index();
        if index.slots.find(slot.key).is_some_and(|other| other.place == slot.place) {
            self.shared.counts.add(Count::Broken, 1);
            index.slots.remove_from(slot.key, slot.place);
            self.shared.queue.remove(digest);
        }
    }

    /// A record could not be read. It stays: that may be over soon.
    fn failed(&self, slot: &Slot, error: &io::Error) {
        {
            let index = self.shared.index();
            let is_there = index.slots.find(slot.key).is_some_and(|other| other.place == slot.place);
            // Its segment was reclaimed meanwhile.
            if !is_there || slot.place.segment <= index.gone {
                return;
            }
        }
        self.shared.counts.add(Count::Broken, 1);
        self.shared.tell(format!("an answer cannot be read: {}: {}", self.path.display(), reason(error)));
        if error.kind() == io::ErrorKind::NotFound {
            self.shared.queue.set_broken();
        }
    }

    /// Whether nothing of a URL was removed since a number: what was found then may be used.
    pub(crate) fn may_use(&self, url: &[u8], number: u64) -> bool {
        self.shared.index().numbers.may_use(url, number)
    }

    /// Lets `change` change what the memory knows of a URL, if that was not removed since a number; no removal comes between the two.
    pub(crate) fn if_not_removed(&self, url: &[u8], number: u64, change: impl FnOnce()) -> bool {
        let index = self.shared.index();
        let is_so = index.numbers.may_use(url, number);
        if is_so {
            change();
        }
        is_so
    }

    /// Forgets what stands under the name of a URL: a response, or all its variants. What was asked for before is not written, and what is being read not used.
    pub(crate) fn remove(&self, url: &[u8]) -> Removed {
        let mut index = self.shared.index();
        index.numbers.next(url);
        self.remove_from(&mut index, url)
    }

    /// Forgets what stands under a name, as there is a newer answer, whose fetch had this number.
    pub(crate) fn supersede(&self, name: &[u8], number: u64) {
        let mut index = self.shared.index();
        index.numbers.landed(name, number);
        self.remove_from(&mut index, name);
    }

    /// A response that was fetched with a number for one name is stored under another one of the same URL, as a newer one. Returns its number there.
    pub(crate) fn renew(&self, url: &[u8], name: &[u8], number: u64) -> u64 {
        let mut index = self.shared.index();
        let is_so = index.numbers.may_use(url, number);
        let newer = index.numbers.next(name);
        self.remove_from(&mut index, name);
        if is_so { newer } else { number }
    }

    fn remove_from(&self, index: &mut Index, name: &[u8]) -> Removed {
        let Some(digest) = index.digest(name) else {
            // Nobody knows yet how names are hashed there.
            return Removed { was_there: false, number: Some(self.shared.queue.clear(false)) };
        };
        let was_there = index.slots.remove(digest[0]);
        let may_be_written = index.writing == Some(digest[0]) || index.is_unsure;
        let must_be_removed = was_there || may_be_written || self.shared.queue.removes(&digest);
        Removed { was_there, number: must_be_removed.then(|| self.shared.queue.remove(digest)) }
    }

    /// Forgets everything, also what waits to be written.
    pub(crate) fn clear(&self) {
        let mut index = self.shared.index();
        index.numbers.forget();
        let slots = self.empty(&mut index, true);
        drop(index);
        drop(slots);
    }

    /// Empties the disk while a mark of a purge is made, by which it is known what else is purged.
    pub(crate) fn clear_while<T>(&self, mark: impl FnOnce() -> T) -> T {
        let mut index = self.shared.index();
        index.numbers.empty();
        let made = mark();
        let slots = self.empty(&mut index, false);
        drop(index);
        drop(slots);
        made
    }

    /// Takes out all slots; the writer makes a new table. What is returned takes long to drop.
    fn empty(&self, index: &mut Index, is_all: bool) -> Slots {
        index.is_unsure = true;
        self.shared.queue.clear(is_all);
        std::mem::take(&mut index.slots)
    }

    /// Waits until a removal does not come back after a restart, for a second at most. Returns whether that is so.
    pub(crate) async fn settled(&self, number: u64) -> bool {
        let settled = self.shared.queue.settled(number);
        self.shared.is_open()
            && tokio::time::timeout(self.shared.patience.answer, settled).await.unwrap_or(false)
    }

    /// The same for all removals up to now.
    pub(crate) async fn all_settled(&self) -> bool {
        let number = self.shared.queue.pushed();
        self.shared.queue.is_settled(number) || self.settled(number).await
    }

    /// What there is to tell of the disk, once.
    pub(crate) fn news(&self) -> Option<String> {
        self.shared.untold()
    }

    pub(crate) fn stats(&self) -> DiskStats {
        let number = |count| self.shared.counts.of(count);
        DiskStats {
            is_in_use: self.shared.reads() && self.shared.writes(),
            objects: self.shared.index().slots.len() as u64,
            bytes: number(Count::Bytes),
            hits: number(Count::Hits),
            written: number(Count::Written),
            written_bytes: number(Count::WrittenBytes),
            refused: number(Count::Refused),
            dropped: number(Count::Dropped),
            broken: number(Count::Broken),
        }
    }

    /// Writes what waits, for so long at most, and closes the folder. Nothing is written or found then.
    pub(crate) fn close(&self, time: Duration) {
        let ended = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.queue.stop(false);
        if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            self.shared.queue.stop(true);
            // If it does not end then, the disk does not answer: the process ends without it.
            let _ = ended.recv_timeout(self.shared.patience.end);
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.close(self.shared.patience.end);
    }
}

/// Whether another try is of no use.
fn is_final(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, ResourceBusy};
    matches!(error.kind(), InvalidFilename | InvalidInput | NotADirectory | ResourceBusy)
}
