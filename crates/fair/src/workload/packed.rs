//! Compression by the ending of a file's name.

use std::io::{self, Write};
use std::path::Path;

/// Beyond this level files hardly get smaller but take several times as long; those of gzip and xz are their tools' own defaults.
const ZSTD_LEVEL: i32 = 9;
const GZIP_LEVEL: u32 = 6;
const XZ_LEVEL: u32 = 6;

/// How a file is compressed; [`super::load()`] undoes all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.xz`
    Xz,
}

impl Packing {
    /// What the ending of the file's name asks for.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Packing::Gzip,
            Some("zst") => Packing::Zstd,
            Some("xz") => Packing::Xz,
            _ => Packing::Plain,
        }
    }

    /// Sends to `out`, compressed, whatever `write` writes.
    ///
    /// # Errors
    ///
    /// As `write`, or `out` cannot be written to.
    pub fn pack(
        self,
        mut out: impl Write,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Packing::Plain => write(&mut out)?,
            Packing::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(&mut out, flate2::Compression::new(GZIP_LEVEL));
                write(&mut encoder)?;
                encoder.finish()?;
            }
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(&mut out, ZSTD_LEVEL)?;
                write(&mut encoder)?;
                encoder.finish()?;
            }
            Packing::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(&mut out, XZ_LEVEL);
                write(&mut encoder)?;
                encoder.finish()?;
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{LogOptions, from_bytes, write_csv};

    #[test]
    fn what_is_packed_is_read_as_it_was() {
        let text = b"submit,duration,user,cpu\n0,1,ann,2\n3,1,bob,1\n".to_vec();
        let log = from_bytes("x", text, &LogOptions::default(), &()).unwrap();
        let magic: [(&str, &[u8]); 4] = [
            ("x.csv", b"submit"),
            ("x.csv.gz", b"\x1f\x8b"),
            ("x.zst", b"\x28\xb5\x2f\xfd"),
            ("a.b.xz", b"\xfd7zXZ"),
        ];
        for (name, magic) in magic {
            let mut packed = Vec::new();
            Packing::of(Path::new(name)).pack(&mut packed, |out| write_csv(&log, out)).unwrap();
            assert!(packed.starts_with(magic), "{name}");
            assert_eq!(from_bytes("x", packed, &LogOptions::default(), &()).unwrap(), log, "{name}");
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = &mut [0u8; 4][..];
        assert!(Packing::Zstd.pack(full, |out| out.write_all(b"more than four bytes")).is_err());
    }
}
