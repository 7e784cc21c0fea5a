//! gzip as it is found on disks and tapes: several members in a row, zeros after the last.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// Error for a file that goes on after its last member and padding.
const STRAY: &str = "bytes that are no gzip come after its end; gzip -dc leaves them out";

/// Decompresses all members of a gzip file. Zeros after the last are padding, as they are to `gzip -d`.
pub(super) struct Members<R> {
    /// The member that is being read; `None` after the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    /// Reads the members at the start of `bytes` and all that follow.
    pub(super) fn new(bytes: R) -> Self {
        Self { member: Some(GzDecoder::new(bytes)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.member = next(self.member.take())?;
        }
        Ok(0)
    }
}

/// The member after one that has been read to its end.
fn next<R: BufRead>(member: Option<GzDecoder<R>>) -> io::Result<Option<GzDecoder<R>>> {
    let Some(mut bytes) = member.map(GzDecoder::into_inner) else { return Ok(None) };
    match bytes.fill_buf()?.first() {
        // RFC 1952 §2.3.1: how a member begins.
        Some(0x1f) => return Ok(Some(GzDecoder::new(bytes))),
        Some(0) | None => {}
        Some(_) => return Err(io::Error::new(ErrorKind::InvalidData, STRAY)),
    }
    loop {
        let padding = bytes.fill_buf()?;
        if padding.is_empty() {
            return Ok(None);
        }
        if padding.iter().any(|byte| *byte != 0) {
            return Err(io::Error::new(ErrorKind::InvalidData, STRAY));
        }
        let length = padding.len();
        bytes.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text_of(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        // A small buffer, so that padding and members lie across its ends.
        Members::new(io::BufReader::with_capacity(7, bytes)).read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn zeros_after_the_last_member_are_padding() {
        let mut bytes = [gzip(b"one "), gzip(b""), gzip(b"two")].concat();
        assert_eq!(text_of(&bytes).unwrap(), "one two");
        bytes.extend([0; 512]);
        assert_eq!(text_of(&bytes).unwrap(), "one two");
        bytes.push(1);
        assert_eq!(text_of(&bytes).unwrap_err().to_string(), STRAY);
    }

    #[test]
    fn what_is_no_member_is_an_error() {
        for rubbish in [&b"rubbish"[..], b"r"] {
            let error = text_of(&[&gzip(b"one"), rubbish].concat()).unwrap_err();
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidData, STRAY.to_owned()));
        }
        let bytes = gzip(b"one");
        assert_eq!(text_of(&bytes[..bytes.len() - 1]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
