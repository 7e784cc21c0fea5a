//! The folder of a tier: `lock`, which one process holds, `key`, by which names are hashed, and the segments, `00000001.segment` and so on. Other files are
//! left alone.
//!
//! | bytes of `key` | what |
//! |---|---|
//! | 0–7 | `TPKEYV01` |
//! | 8–23 | key of SipHash-2-4 |
//! | 24–31 | XXH3-64 of bytes 0–23 |

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};
use rustix::io::Errno;
use siphasher::sip128::SipHasher24;
use twox_hash::XxHash3_64;

use super::format::Digest;
#[cfg(test)]
use super::hook;

const LOCK: &str = "lock";
const KEY: &str = "key";
/// The key, before it is whole.
const NEW_KEY: &str = "key.new";
const SUFFIX: &str = ".segment";
const KEY_MAGIC: &[u8; 8] = b"TPKEYV01";
/// Bytes of the key's file. The one before it is whole may stand beside it.
const KEY_BYTES: usize = 32;

/// Bytes of all files but the segments, at most.
pub(super) const OTHERS: u64 = 2 * KEY_BYTES as u64;

/// A key by which names are hashed, so that nobody can choose names that collide.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; 16]);

impl Key {
    /// One that nobody knows. Its parts are keyed hashes, with keys that the system has drawn.
    fn new() -> Self {
        let mut key = [0; 16];
        for part in key.chunks_exact_mut(8) {
            part.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
        }
        Self(key)
    }

    pub(super) fn digest(&self, name: &[u8]) -> Digest {
        let hash = SipHasher24::new_with_key(&self.0).hash(name);
        [hash.h1, hash.h2]
    }

    /// A number by which segments know it.
    pub(super) fn tag(&self) -> u64 {
        self.digest(b"tag\n")[0]
    }

    fn bytes(&self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        bytes[..8].copy_from_slice(KEY_MAGIC);
        bytes[8..24].copy_from_slice(&self.0);
        let checksum = XxHash3_64::oneshot(&bytes[..24]);
        bytes[24..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let key = Self(bytes.get(8..24)?.try_into().ok()?);
        (bytes == key.bytes()).then_some(key)
    }
}

/// A folder that this process alone uses, as long as this is there.
pub(super) struct Folder {
    path: PathBuf,
    key: Key,
    _lock: File,
}

impl Folder {
    /// Opens a folder, and makes it and its key if they are not there, for their owner alone.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::from(io::ErrorKind::NotADirectory),
            _ => error,
        })?;
        let lock = lock(path)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::ResourceBusy, "another process uses this folder"))?;
        let key = match fs::read(path.join(KEY)) {
            Ok(bytes) => Key::read(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let folder = Self { path: path.to_owned(), key: key.unwrap_or_else(Key::new), _lock: lock };
        if key.is_none() {
            let new = path.join(NEW_KEY);
            let mut file =
                private(&mut OpenOptions::new()).create(true).truncate(true).write(true).open(&new)?;
            file.write_all(&folder.key.bytes())?;
            file.sync_all()?;
            fs::rename(new, path.join(KEY))?;
        }
        Ok(folder)
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Numbers and bytes of all segments, the oldest first.
    pub(super) fn segments(&self) -> io::Result<Vec<(u32, u64)>> {
        let mut segments = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if let Some(number) = entry.file_name().to_str().and_then(number_of) {
                segments.push((number, entry.metadata()?.len()));
            }
        }
        segments.sort_unstable();
        Ok(segments)
    }

    /// Removes all segments, the oldest first: what removes something is younger than that, and goes after it.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.segments()?.into_iter().try_for_each(|(number, _)| self.remove(number))
    }

    pub(super) fn remove(&self, number: u32) -> io::Result<()> {
        #[cfg(test)]
        hook::of(&self.path).removes()?;
        match fs::remove_file(segment_path(&self.path, number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Opens files so that only their owner may read and write them.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// The file of a segment.
pub(super) fn segment_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:08x}{SUFFIX}"))
}

/// The number of the segment of a file with this name.
fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(SUFFIX)?;
    let is_ours = digits.len() == 8 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u32::from_str_radix(digits, 16).ok().filter(|_| is_ours)
}

/// Takes the lock of a folder; none if another process has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = private(&mut options).create(true).truncate(false).write(true).open(path.join(LOCK))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Checks that a folder can be made and written, whether or not a process uses it. It makes nothing: another user may ask.
pub(crate) fn probe(path: &Path) -> io::Result<()> {
    let mut path = path;
    loop {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Ok(access(path, Access::WRITE_OK | Access::EXEC_OK)?);
            }
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                path = parent.unwrap_or(Path::new("."));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_are_segments() {
        assert_eq!(number_of("000000ff.segment"), Some(255));
        for other in
            ["000000FF.segment", "ff.segment", "+00000ff.segment", "000000ff", "000000ff.segment~", "key"]
        {
            assert_eq!(number_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_key_stays_and_is_replaced_when_it_is_broken() {
        let folder = super::super::tests::Temporary::new();
        assert!(probe(&folder).is_ok() && !folder.exists(), "it makes nothing");
        let first = Folder::open(&folder).unwrap();
        assert!(Folder::open(&folder).is_err(), "it is in use");
        assert!(probe(&folder).is_ok());
        let key = first.key();
        drop(first);
        assert!(Folder::open(&folder).unwrap().key() == key);
        let mut bytes = fs::read(folder.join(KEY)).unwrap();
        bytes[9] ^= 1;
        fs::write(folder.join(KEY), bytes).unwrap();
        assert!(Folder::open(&folder).unwrap().key() != key);
    }
}
