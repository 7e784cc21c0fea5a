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
