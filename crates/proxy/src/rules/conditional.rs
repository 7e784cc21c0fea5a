//! Conditions on what has changed: of clients, which the cache answers, and of the cache, which origins answer. (RFC 9110 §13, RFC 9111 §4.3)

use http::{HeaderMap, HeaderName, HeaderValue, header};
use trueplane_units::Nanos;

use super::fields::{date, elements, parse_date};

/// Whether a client that sends these fields has what is stored already. (RFC 9111 §4.3.2)
pub fn is_not_modified(request: &HeaderMap, stored: &HeaderMap, came: Nanos) -> bool {
    if request.contains_key(header::IF_NONE_MATCH) {
        let etag = stored.get(header::ETAG).map(HeaderValue::as_bytes);
        return elements(request, &header::IF_NONE_MATCH)
            .any(|tag| tag == b"*" || etag.is_some_and(|etag| is_same_weakly(tag, etag)));
    }
    let Some(since) = date(request, &header::IF_MODIFIED_SINCE) else { return false };
    let changed =
        date(stored, &header::LAST_MODIFIED).or_else(|| date(stored, &header::DATE)).unwrap_or(came);
    changed <= since
}

/// Whether two entity tags say that representations mean the same. (RFC 9110 §8.8.3.2)
fn is_same_weakly(one: &[u8], other: &[u8]) -> bool {
    let bare = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    bare(one) == bare(other)
}

/// An entity tag that says that representations are the same to the last byte.
pub fn strong_tag(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""))
}

/// Fields that ask the origin whether what is stored still holds. None if nothing there can be validated.
pub fn validators(stored: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let mut fields = Vec::new();
    if let Some(etag) = stored.get(header::ETAG) {
        fields.push((header::IF_NONE_MATCH, etag.clone()));
    }
    if let Some(changed) = stored.get(header::LAST_MODIFIED) {
        fields.push((header::IF_MODIFIED_SINCE, changed.clone()));
    }
    fields
}

/// Whether an answer that nothing has changed is about what is stored, whose [`validators`] the origin was asked about. (RFC 9111 §4.3.4)
///
/// An origin that was asked about a tag has compared it. Some then answer with another one, as Apache does where it compresses: that is no
/// reason to fetch all of it again.
pub fn confirms(not_modified: &HeaderMap, stored: &HeaderMap) -> bool {
    let Some(new) = not_modified.get(header::LAST_MODIFIED) else { return true };
    let date = |value: &HeaderValue| parse_date(value.as_bytes());
    let is_same = |old: &HeaderValue| old == new || date(old).is_some_and(|old| date(new) == Some(old));
    stored.contains_key(header::ETAG) || stored.get(header::LAST_MODIFIED).is_some_and(is_same)
}

/// Fields that say what the body is: an answer without a body does not change them. (RFC 9111 §3.2)
fn describes_body(name: &HeaderName) -> bool {
    matches!(*name, header::CONTENT_ENCODING | header::CONTENT_LENGTH | header::CONTENT_RANGE | header::ETAG)
        || name == "content-md5"
}

/// What is stored, with the fields of an answer that nothing has changed. (RFC 9111 §3.2)
pub fn freshened(stored: &HeaderMap, not_modified: &HeaderMap) -> HeaderMap {
    let mut fresh = stored.clone();
    // These say how old the stored answer was. Without a date, the new one is from when it comes. (RFC 9110 §6.6.1)
    fresh.remove(header::AGE);
    fresh.remove(header::DATE);
    for name in not_modified.keys().filter(|name| !describes_body(name)) {
        fresh.remove(name);
        for value in not_modified.get_all(name) {
            fresh.append(name.clone(), value.clone());
        }
    }
    fresh
}

/// Takes out what an answer that nothing has changed does not say: what the body is like. (RFC 9110 §15.4.5)
pub fn without_body(headers: &mut HeaderMap) {
    for name in [
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_LENGTH,
        header::CONTENT_RANGE,
        header::CONTENT_TYPE,
    ] {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{map, print_date};
    use super::*;

    #[test]
    fn tags_come_before_dates() {
        let (old, new) = (print_date(Nanos::from_secs(100)), print_date(Nanos::from_secs(200)));
        let stored = map(&[("etag", "\"a\""), ("last-modified", &old)]);
        let has = |lines: &[(&'static str, &str)]| is_not_modified(&map(lines), &stored, Nanos(0));
        assert!(has(&[("if-none-match", "\"b\", W/\"a\"")]) && has(&[("if-none-match", "*")]));
        assert!(!has(&[("if-none-match", "\"b\""), ("if-modified-since", &new)]));
        assert!(has(&[("if-modified-since", &new)]) && has(&[("if-modified-since", &old)]));
        assert!(!has(&[("if-modified-since", &print_date(Nanos::from_secs(99)))]));
        assert!(!has(&[("if-modified-since", "yesterday")]) && !has(&[]));
        // Without a date of change, that of the response counts, or when it came.
        let dated = map(&[("date", &old)]);
        assert!(is_not_modified(&map(&[("if-modified-since", &new)]), &dated, Nanos(0)));
        let bare = map(&[]);
        assert!(!is_not_modified(&map(&[("if-modified-since", &old)]), &bare, Nanos::from_secs(150)));
    }

    #[test]
    fn an_answer_is_about_what_is_stored_or_not() {
        let stored = map(&[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]);
        let tagged = map(&[("etag", "\"a-gzip\"")]);
        assert!(confirms(&map(&[]), &stored) && confirms(&map(&[("etag", "\"a\"")]), &tagged));
        assert!(confirms(&map(&[("last-modified", "Sunday, 06-Nov-94 08:49:37 GMT")]), &stored));
        assert!(!confirms(&map(&[("last-modified", "Sun, 06 Nov 1994 08:49:38 GMT")]), &stored));
    }

    #[test]
    fn an_answer_changes_all_but_the_body() {
        let stored = map(&[
            ("etag", "\"a\""),
            ("x", "1"),
            ("x", "2"),
            ("y", "1"),
            ("content-encoding", "br"),
            ("age", "9"),
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]);
        let fresh =
            freshened(&stored, &map(&[("etag", "W/\"a\""), ("x", "3"), ("content-encoding", "gzip")]));
        assert_eq!(fresh, map(&[("etag", "\"a\""), ("x", "3"), ("y", "1"), ("content-encoding", "br")]));
    }
}
