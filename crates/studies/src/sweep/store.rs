//! A folder that keeps the rows of every point.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// Grows when files of before cannot be read any more.
const LAYOUT: u32 = 1;

/// A folder with a file for every point, which is written whole or not at all. Several sweeps may use it at once.
pub(super) struct Store {
    folder: PathBuf,
    /// What was hashed: the state of each file, and the hash of its content.
    hashed: Mutex<HashMap<PathBuf, (State, String)>>,
}

/// What changes with a file: its size and the time of its last change.
type State = (u64, Option<SystemTime>);

impl Store {
    /// The store in a folder, which is made if it is not there.
    pub(super) fn open(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("--store {}: {error}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), hashed: Mutex::default() })
    }

    /// The name of a point: the hash of the study, the table, the parameters, the version, and the content of the parameters that are
    /// `files`.
    pub(super) fn key(
        &self,
        study: &str,
        table: Option<&str>,
        given: &[(&str, &str)],
        files: &[&str],
    ) -> Result<String, String> {
        let mut given = given.to_vec();
        given.sort_unstable();
        let mut parts = vec![
            format!("layout {LAYOUT}"),
            env!("CARGO_PKG_VERSION").to_owned(),
            study.to_owned(),
            table.unwrap_or_default().to_owned(),
        ];
        for (name, text) in given {
            let value = if files.contains(&name) { self.contents(text)? } else { format!("text {text}") };
            parts.push(format!("{name} {value}"));
        }
        let mut hash = Sha256::new();
        for part in parts {
            // Its length first, so that no two lists of parts are one text.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Ok(hex(&hash.finalize())[..32].to_owned())
    }

    /// The rows of a point; none if it has not been run, or its file is damaged.
    pub(super) fn read(&self, key: &str) -> Option<Vec<u8>> {
        let text = fs::read(self.path(key)).ok()?;
        let (checksum, rows) = text.split_at_checked(65)?;
        (checksum == format!("{}\n", hex(&Sha256::digest(rows))).as_bytes()).then(|| rows.to_vec())
    }

    /// Keeps the rows of a point.
    pub(super) fn write(&self, key: &str, rows: &[u8]) -> Result<(), String> {
        let wrong =
            |error: &dyn ToString| format!("--store {}: {}", self.folder.display(), error.to_string());
        let mut aside = tempfile::NamedTempFile::new_in(&self.folder).map_err(|error| wrong(&error))?;
        let written = writeln!(aside, "{}", hex(&Sha256::digest(rows))).and_then(|()| aside.write_all(rows));
        written.map_err(|error| wrong(&error))?;
        aside.persist(self.path(key)).map(drop).map_err(|error| wrong(&error))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.csv"))
    }

    /// The name of a file, by which formats are known, and the hash of its content. The text itself if it names no file, perhaps behind a word:
    /// `trace:jobs.csv` is a workload of `surge compare`.
    fn contents(&self, text: &str) -> Result<String, String> {
        let behind_word = text.split_once(':').map_or(text, |(_, path)| path);
        let Some(path) = [text, behind_word].into_iter().find(|path| Path::new(path).is_file()) else {
            return Ok(format!("text {text}"));
        };
        let hash = self.hash_of(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        Ok(format!("file {}{name} {hash}", text.strip_suffix(path).unwrap_or_default()))
    }

    /// The hash of a file's content, which is read again only if the file has changed.
    fn hash_of(&self, path: &Path) -> io::Result<String> {
        let about = fs::metadata(path)?;
        let state = (about.len(), about.modified().ok());
        // Others wait meanwhile: they want the same hash.
        let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hash)) = hashed.get(path).filter(|(known, _)| *known == state) {
            return Ok(hash.clone());
        }
        let hash = hash_file(path)?;
        hashed.insert(path.to_owned(), (state, hash.clone()));
        Ok(hash)
    }
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
