//! The heads of records: what is written of a response besides its body, and of the fields that a URL varies by. Pure functions, which are fuzzed.
//!
//! | bytes of the head of an object | what |
//! |---|---|
//! | 0–1 | status |
//! | 2–9 | when the response came, in nanoseconds since 1970 |
//! | 10–17 | nanoseconds of its age then |
//! | 4, and as many as they say | what the request said in the fields that it varies by |
//! | 2 | number of fields |
//! | for each field: 2 and 4, and as many as they say | its name and its value |
//!
//! | bytes of the head of a variation | what |
//! |---|---|
//! | 0–7 | generation of the names of its variants |
//! | 2 | number of fields |
//! | for each field: 2, and as many as they say | its name |

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use trueplane_units::Nanos;

/// The head of a stored response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHead {
    /// Its status.
    pub status: StatusCode,
    /// When it came, since 1970.
    pub came: Nanos,
    /// Its age then.
    pub initial_age: Nanos,
    /// What the request said in the fields that it varies by.
    pub selection: Vec<u8>,
    /// Its fields.
    pub headers: HeaderMap,
}

/// The fields that the responses to a URL vary by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The number that stands in the names of the variants.
    pub generation: u64,
    /// The fields, in the order in which names have them.
    pub fields: Vec<HeaderName>,
}

/// Takes what was written off the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn name(&mut self) -> Option<HeaderName> {
        let count = self.u16()?;
        HeaderName::from_bytes(self.take(count.into())?).ok()
    }
}

fn put_name(bytes: &mut Vec<u8>, name: &HeaderName) -> Option<()> {
    bytes.extend(u16::try_from(name.as_str().len()).ok()?.to_le_bytes());
    bytes.extend(name.as_str().as_bytes());
    Some(())
}

impl StoredHead {
    /// Its bytes; none if a part is too long.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend(self.status.as_u16().to_le_bytes());
        bytes.extend(self.came.0.to_le_bytes());
        bytes.extend(self.initial_age.0.to_le_bytes());
        bytes.extend(u32::try_from(self.selection.len()).ok()?.to_le_bytes());
        bytes.extend(&self.selection);
        bytes.extend(u16::try_from(self.headers.len()).ok()?.to_le_bytes());
        for (name, value) in &self.headers {
            put_name(&mut bytes, name)?;
            bytes.extend(u32::try_from(value.len()).ok()?.to_le_bytes());
            bytes.extend(value.as_bytes());
        }
        Some(bytes)
    }

    /// Reads what was written; none if it is anything else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let status = StatusCode::from_u16(reader.u16()?).ok()?;
        let (came, initial_age) = (Nanos(reader.u64()?), Nanos(reader.u64()?));
        let length = reader.u32()?;
        let selection = reader.take(length as usize)?.to_vec();
        let count = reader.u16()?;
        let mut headers = HeaderMap::new();
        for _ in 0..count {
            let name = reader.name()?;
            let length = reader.u32()?;
            let value = HeaderValue::from_bytes(reader.take(length as usize)?).ok()?;
            headers.try_append(name, value).ok()?;
        }
        reader.0.is_empty().then_some(Self { status, came, initial_age, selection, headers })
    }
}

impl Variation {
    /// Its bytes; none if there are too many fields.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = self.generation.to_le_bytes().to_vec();
        bytes.extend(u16::try_from(self.fields.len()).ok()?.to_le_bytes());
        self.fields.iter().try_for_each(|field| put_name(&mut bytes, field))?;
        Some(bytes)
    }

    /// Reads what was written; none if it is anything else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (generation, count) = (reader.u64()?, reader.u16()?);
        let fields = (0..count).map(|_| reader.name()).collect::<Option<_>>()?;
        reader.0.is_empty().then_some(Self { generation, fields })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_by_hand() {
        let mut headers = HeaderMap::new();
        headers.append("etag", HeaderValue::from_static("\"a\""));
        let head = StoredHead {
            status: StatusCode::OK,
            came: Nanos(2),
            initial_age: Nanos(3),
            selection: b"s".to_vec(),
            headers,
        };
        let expected =
            b"\xc8\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0s\x01\0\x04\0etag\x03\0\0\0\"a\"";
        assert_eq!(head.bytes().unwrap(), expected);
        assert_eq!(StoredHead::read(expected), Some(head));
        assert_eq!(StoredHead::read(&expected[1..]), None);
        assert_eq!(StoredHead::read(&[&expected[..], b"x"].concat()), None);
        let variation = Variation { generation: 5, fields: vec![http::header::ACCEPT] };
        let expected = b"\x05\0\0\0\0\0\0\0\x01\0\x06\0accept";
        assert_eq!(variation.bytes().unwrap(), expected);
        assert_eq!(Variation::read(expected), Some(variation));
    }

    proptest! {
        #[test]
        fn heads_are_read_as_they_were_written(
            status in 100..1000_u16,
            came in any::<u64>(),
            age in any::<u64>(),
            selection in any::<Vec<u8>>(),
            fields in proptest::collection::vec(("[a-z-]{1,20}", "[ -~]{0,40}"), 0..20),
        ) {
            let mut headers = HeaderMap::new();
            for (name, value) in &fields {
                headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
            }
            let status = StatusCode::from_u16(status).unwrap();
            let head = StoredHead { status, came: Nanos(came), initial_age: Nanos(age), selection, headers };
            prop_assert_eq!(StoredHead::read(&head.bytes().unwrap()), Some(head));
        }

        #[test]
        fn no_bytes_break_the_reader(bytes: Vec<u8>) {
            let _ = (StoredHead::read(&bytes), Variation::read(&bytes));
        }
    }
}
