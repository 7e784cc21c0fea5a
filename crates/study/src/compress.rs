//! Files compressed as their names say, in the formats that [`trace`](trueplane_trace) reads.

use std::io::{self, Write};
use std::path::Path;

/// Beyond this level files hardly get smaller but take several times as long; those of gzip and xz are their tools'
/// own defaults. xz is the smallest and by far the slowest.
const ZSTD_LEVEL: i32 = 9;
const GZIP_LEVEL: u32 = 6;
const XZ_LEVEL: u32 = 6;

/// Has `write` write to `out` through the compressor that the ending of `name` asks for (`.gz`, `.zst`, `.xz`; none for any
/// other) and ends the compressed stream.
///
/// # Errors
/// Those of `write`, and if `out` cannot be written to.
pub fn compressed<T, E: From<io::Error>>(
    name: &Path,
    mut out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let written = match name.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::new(GZIP_LEVEL));
            let written = write(&mut encoder)?;
            encoder.finish()?;
            written
        }
        Some("zst") => {
            let mut encoder = zstd::Encoder::new(&mut out, ZSTD_LEVEL)?;
            let written = write(&mut encoder)?;
            encoder.finish()?;
            written
        }
        Some("xz") => {
            let mut encoder = liblzma::write::XzEncoder::new(&mut out, XZ_LEVEL);
            let written = write(&mut encoder)?;
            encoder.finish()?;
            written
        }
        _ => write(&mut out)?,
    };
    out.flush()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written under a name, as it lies in the file.
    fn written(name: &str, text: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        compressed(Path::new(name), &mut file, |out| out.write_all(text)).unwrap();
        file
    }

    #[test]
    fn what_is_compressed_is_read_as_it_was() {
        let text = b"submit,duration,user,cpu\n0,1,ann,2\n";
        let magic: [(&str, &[u8]); 4] = [
            ("x.csv", b"submit"),
            ("x.csv.gz", b"\x1f\x8b"),
            ("x.zst", b"\x28\xb5\x2f\xfd"),
            ("a.b.xz", b"\xfd7zXZ"),
        ];
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in magic {
            let file = written(name, text);
            assert!(file.starts_with(magic), "{name}");
            let path = folder.path().join(name);
            std::fs::write(&path, file).unwrap();
            let read = io::read_to_string(trueplane_trace::decompressed(&path).unwrap()).unwrap();
            assert_eq!(read.as_bytes(), text, "{name}");
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = &mut [0u8; 4][..];
        let told: io::Result<()> =
            compressed(Path::new("x.zst"), full, |out| out.write_all(b"more than four bytes"));
        assert!(told.is_err());
    }
}
