//! The tier as one: it is reopened, filled, and broken.

mod bytes;
mod failing;
mod order;
mod start;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use super::hook;
use super::*;
use crate::clock::now;
use crate::head::{Fetched, Piece, body_of};
use crate::rules::freshness::Times;
use trueplane_units::Nanos;

const MEMORY: u64 = 1 << 20;
const LIMITS: Limits = Limits { size: 1 << 20, segment: 64 << 10 };

/// A folder of a test, until this is dropped.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("trueplane-disk-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl std::ops::Deref for Temporary {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Who waits for a disk that fails does so for a moment.
const SHORT: Patience = Patience {
    open: Duration::from_secs(60),
    answer: Duration::from_secs(60),
    retry: Duration::from_millis(20),
    end: Duration::from_secs(60),
};

/// A tier that is tried again after a moment when it fails.
fn open(folder: &Path) -> Arc<Disk> {
    open_with(folder, LIMITS, SHORT)
}

fn open_with(folder: &Path, limits: Limits, patience: Patience) -> Arc<Disk> {
    Arc::new(Disk::with(folder, limits, MEMORY, "trueplane", Arc::default(), patience).unwrap())
}

impl Disk {
    /// Writes an object that has answered so many requests, and waits until that is done.
    fn put(&self, name: &str, body: &[u8], answered: u32) {
        let before = self.stats();
        let object = object(body, answered, self.begin());
        self.offer(name.into(), name.len(), object, None, self.last());
        until(|| {
            let DiskStats { written, refused, dropped, .. } = self.stats();
            written + refused + dropped > before.written + before.refused + before.dropped
        });
    }
}

/// What a runtime makes of a future.
fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// What is found under a name.
fn body(disk: &Arc<Disk>, name: &str) -> Option<Vec<u8>> {
    body_since(disk, name, disk.last())
}

/// What a look with a number finds under a name.
fn body_since(disk: &Arc<Disk>, name: &str, number: u64) -> Option<Vec<u8>> {
    match wait(disk.find(name.as_bytes(), name.len(), (number, &Arc::default()), |_| true)) {
        Some(Hit::Object(_, object)) => Some(body_of(&object).concat()),
        _ => None,
    }
}

/// A fresh object that took a millisecond to fetch.
fn object(body: &[u8], answered: u32, number: u64) -> Object {
    let mut headers = HeaderMap::new();
    headers.append("cache-control", "max-age=600".parse().unwrap());
    let times = Times { asked: now(), came: now() };
    let length = Some(body.len() as u64);
    let head = Head::new(&HeaderMap::new(), StatusCode::OK, headers, length, times, "trueplane");
    let head = Head { number, ..head };
    let _ = head.took.set(Fetched { took: Nanos(1_000_000), ended: now() });
    (0..answered).for_each(|_| head.answer());
    [Piece::Head(Arc::new(head)), Piece::Data(Bytes::copy_from_slice(body))].into_iter().collect()
}

fn until(is_so: impl Fn() -> bool) {
    let start = now();
    while !is_so() {
        assert!(now().since(start).0 < 30_000_000_000, "it is so within 30 s");
        thread::sleep(Duration::from_micros(100));
    }
}

/// Bytes of all files of a folder.
fn bytes_in(folder: &Path) -> u64 {
    // A file may be gone between the two looks.
    let length = |entry: fs::DirEntry| entry.metadata().map_or(0, |metadata| metadata.len());
    fs::read_dir(folder).unwrap().map(|entry| length(entry.unwrap())).sum()
}

/// A body that nobody confuses with another one.
fn numbered(number: u32, bytes: usize) -> Vec<u8> {
    number.to_le_bytes().into_iter().cycle().take(bytes).collect()
}

#[test]
fn the_bytes_of_all_files_are_never_more_than_they_may_be() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let mut most = 0;
    for number in 0..600 {
        // 2 to 11 kB; those that are small are read often, and stay.
        let bytes = 2000 + number as usize % 10 * 1000;
        disk.put(&number.to_string(), &numbered(number, bytes), 10);
        if bytes == 2000 {
            (0..5).for_each(|_| drop(body(&disk, &number.to_string())));
        }
        most = most.max(bytes_in(&folder));
        assert!(most <= LIMITS.size, "{most} after {number}");
        if number % 97 == 0 {
            assert!(disk.stats().bytes <= bytes_in(&folder));
        }
    }
    assert!(most > LIMITS.size * 7 / 10, "most of it is used: {most}");
    let mut found = Vec::new();
    for number in 0..600 {
        let Some(body) = body(&disk, &number.to_string()) else { continue };
        assert_eq!(body, numbered(number, body.len()));
        found.push(number);
    }
    // Older ones are there only if they were read.
    let is_old = |number: &&u32| **number < 440;
    assert!(found.iter().filter(is_old).all(|number| number % 10 == 0), "{found:?}");
    assert!(found.iter().filter(is_old).count() > 5, "{found:?}");
    assert_eq!(disk.stats().broken, 0);
    // The same is there after a restart, and after one with less room.
    drop(disk);
    assert!(bytes_in(&folder) <= LIMITS.size);
    let disk = open(&folder);
    assert!(found.iter().all(|number| body(&disk, &number.to_string()).is_some()));
    drop(disk);
    let less = Limits { size: 512 << 10, ..LIMITS };
    let disk = open_with(&folder, less, SHORT);
    assert!(bytes_in(&folder) <= less.size);
    drop(disk);
}

#[test]
fn removals_stay_after_a_restart_and_so_do_replacements() {
    let folder = Temporary::new();
    let disk = open(&folder);
    ["a", "b", "c"].into_iter().for_each(|name| disk.put(name, b"old", 1));
    disk.remove(b"a");
    disk.supersede(b"b", disk.begin());
    disk.put("b", b"new", 1);
    drop(disk);
    for _ in 0..2 {
        let disk = open(&folder);
        let found = ["a", "b", "c"].map(|name| body(&disk, name));
        assert_eq!(found, [None, Some(b"new".to_vec()), Some(b"old".to_vec())]);
    }
}

#[test]
fn what_is_neither_fresh_nor_can_be_validated_is_not_written() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let stale = object(b"old", 1, disk.last());
    let head = head_of(&stale).unwrap();
    let head = Head { freshness: head.freshness.aged(Nanos(u64::MAX / 2)), ..(*head).clone() };
    let stale = [Piece::Head(Arc::new(head)), Piece::Data(Bytes::from_static(b"old"))].into_iter().collect();
    disk.offer(b"a".to_vec(), 1, stale, None, disk.last());
    until(|| disk.stats().refused == 1);
    assert_eq!(disk.stats().written, 0);
}

#[test]
fn other_files_are_left_alone_and_broken_segments_are_not_read() {
    let folder = Temporary::new();
    let disk = open(&folder);
    (0..60).for_each(|number| disk.put(&number.to_string(), &numbered(number, 4000), 1));
    drop(disk);
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    fs::write(folder.join("ffffffff.segment~"), "mine").unwrap();
    let mut segments: Vec<_> = fs::read_dir(&*folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.retain(|path| path.extension().is_some_and(|extension| extension == "segment"));
    segments.sort();
    assert!(segments.len() >= 4);
    // A bit of the middle of the last whole one, which holds whole records, and the header of an earlier one.
    for (path, at) in [(&segments[2], 30_000), (&segments[1], 3)] {
        let mut bytes = fs::read(path).unwrap();
        bytes[at] ^= 4;
        fs::write(path, bytes).unwrap();
    }
    let disk = open(&folder);
    let found: Vec<u32> = (0..60).filter(|number| body(&disk, &number.to_string()).is_some()).collect();
    // What stands before the broken header is not trusted any more.
    assert!(found.len() > 20 && found[0] >= 28, "{found:?}");
    assert_eq!(disk.stats().broken, 1);
    assert!(!segments[0].exists() && folder.join("notes.txt").exists());
    assert!(folder.join("ffffffff.segment~").exists());
}
