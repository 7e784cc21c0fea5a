//! What a response says of its caching: `Cache-Control`, and fields that speak to caches such as this alone.

use http::{HeaderMap, HeaderName, header};

use super::fields::{elements, seconds, split};

/// Spoken to caches of CDNs. (RFC 9213)
const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");
/// Its forerunner. (Edge Architecture Specification, W3C Note, 2001)
pub(crate) const SURROGATE_CONTROL: HeaderName = HeaderName::from_static("surrogate-control");

/// Directives of a response, as a cache that many share reads them. (RFC 9111 §5.2.2, RFC 5861, RFC 8246)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// All may store it, even if the request was authorised.
    pub is_public: bool,
    /// A shared cache must not store it.
    pub is_private: bool,
    /// No cache may store it.
    pub no_store: bool,
    /// It must be validated before each use.
    pub no_cache: bool,
    /// It must not be used when it is stale: `must-revalidate` or `proxy-revalidate`.
    pub must_revalidate: bool,
    /// It may be stored only by caches that know what its status means.
    pub must_understand: bool,
    /// It does not change while it is fresh.
    pub is_immutable: bool,
    /// Seconds for which it is fresh.
    pub max_age: Option<u64>,
    /// The same for shared caches.
    pub s_maxage: Option<u64>,
    /// Seconds for which it may be used when it is stale, while it is validated.
    pub stale_while_revalidate: Option<u64>,
    /// Seconds for which it may be used when it is stale, if validating it fails.
    pub stale_if_error: Option<u64>,
    /// Whether a field that speaks to caches such as this said so. `Cache-Control` and `Expires` then say nothing.
    pub is_targeted: bool,
}

impl Control {
    /// The directives for this cache, which servers know as `name`: of the first field that is there among `Surrogate-Control`, `CDN-Cache-Control`
    /// and `Cache-Control`.
    pub fn of(headers: &HeaderMap, name: &str) -> Self {
        let targeted = surrogate(headers, name).or_else(|| cdn(headers));
        targeted.unwrap_or_else(|| {
            let mut control = Self::default();
            elements(headers, &header::CACHE_CONTROL).for_each(|directive| control.read(directive));
            control
        })
    }

    /// Reads a directive, `name` or `name=value`. One that nobody knows changes nothing.
    fn read(&mut self, directive: &[u8]) {
        let (name, value) = match directive.iter().position(|&byte| byte == b'=') {
            Some(at) => (&directive[..at], Some(&directive[at + 1..])),
            None => (directive, None),
        };
        self.take(&name.trim_ascii().to_ascii_lowercase(), value.map(|value| number(name, value)));
    }

    /// Takes a directive, whose value is a number of seconds if it has one.
    fn take(&mut self, name: &[u8], value: Option<u64>) {
        // Of two numbers the smaller one holds, and one that is wrong is 0: the response is then stale. (RFC 9111 §4.2.1)
        let least = |old: &mut Option<u64>| {
            let new = value.unwrap_or(0);
            *old = Some(old.map_or(new, |old| old.min(new)));
        };
        match name {
            b"public" => self.is_public = true,
            b"private" => self.is_private = true,
            b"no-store" => self.no_store = true,
            b"no-cache" => self.no_cache = true,
            b"must-revalidate" | b"proxy-revalidate" => self.must_revalidate = true,
            b"must-understand" => self.must_understand = true,
            b"immutable" => self.is_immutable = true,
            b"max-age" => least(&mut self.max_age),
            b"s-maxage" => least(&mut self.s_maxage),
            b"stale-while-revalidate" => least(&mut self.stale_while_revalidate),
            b"stale-if-error" => least(&mut self.stale_if_error),
            _ => {}
        }
    }

    /// Whether it says that an authorised response may be shared. (RFC 9111 §3.5)
    pub fn shares_authorised(&self) -> bool {
        self.is_public || self.must_revalidate || self.s_maxage.is_some()
    }

    /// Whether it speaks of caches that many share.
    pub fn speaks_to_shared(&self) -> bool {
        self.is_targeted || self.is_public || self.s_maxage.is_some()
    }
}

/// A number of seconds, perhaps in quotes. What is not one is 0. Nor is one that spaces keep away from its name.
fn number(name: &[u8], value: &[u8]) -> u64 {
    let bare = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    if name.trim_ascii_end().len() < name.len() { 0 } else { seconds(bare).unwrap_or(0) }
}

/// `Surrogate-Control`, if it speaks to this cache: directives whose parameter is another one's name are not for us.
fn surrogate(headers: &HeaderMap, name: &str) -> Option<Control> {
    let mut control = Control { is_targeted: true, ..Control::default() };
    let mut speaks = false;
    for element in elements(headers, &SURROGATE_CONTROL) {
        let mut parts = split(element, b';');
        let Some(directive) = parts.next() else { continue };
        if parts.all(|target| target.eq_ignore_ascii_case(name.as_bytes())) {
            // `max-age=600+30`: fresh for 600 seconds, and to be served for 30 more.
            let (directive, more) = match directive.iter().position(|&byte| byte == b'+') {
                Some(at) => (&directive[..at], seconds(&directive[at + 1..])),
                None => (directive, None),
            };
            control.read(directive);
            control.stale_while_revalidate = more.or(control.stale_while_revalidate);
            speaks = true;
        }
    }
    (speaks && (control.no_store || control.max_age.is_some())).then_some(control)
}

/// `CDN-Cache-Control`, a dictionary of structured fields. If it is none, it is as if it were not there. (RFC 9213 §2.1)
fn cdn(headers: &HeaderMap) -> Option<Control> {
    let mut lines = headers.get_all(CDN_CACHE_CONTROL).iter().peekable();
    lines.peek()?;
    let all = lines.map(http::HeaderValue::as_bytes).collect::<Vec<_>>().join(&b", "[..]);
    let dictionary: sfv::Dictionary = sfv::Parser::new(&all).parse().ok()?;
    if dictionary.is_empty() {
        return None;
    }
    let mut control = Control { is_targeted: true, ..Control::default() };
    for (name, entry) in &dictionary {
        let sfv::ListEntry::Item(item) = entry else { continue };
        let value = match &item.bare_item {
            sfv::BareItem::Boolean(true) => None,
            sfv::BareItem::Integer(number) => Some(u64::try_from(i64::from(*number)).unwrap_or(0)),
            // Wrong in kind: as if it were not there. (RFC 9213 §2.1)
            _ => continue,
        };
        control.take(name.as_str().as_bytes(), value);
    }
    Some(control)
}

#[cfg(test)]
mod tests {
    use super::super::fields::map;
    use super::*;

    fn of(lines: &[(&'static str, &str)]) -> Control {
        Control::of(&map(lines), "here")
    }

    fn max_age(text: &str) -> Option<u64> {
        of(&[("cache-control", text)]).max_age
    }

    #[test]
    fn directives_are_read_over_all_lines() {
        let control = of(&[
            ("cache-control", "Public, MAX-AGE=60, x=\"no-store, private\""),
            ("cache-control", "stale-while-revalidate=5"),
        ]);
        let expected = Control {
            is_public: true,
            max_age: Some(60),
            stale_while_revalidate: Some(5),
            ..Control::default()
        };
        assert_eq!(control, expected);
    }

    #[test]
    fn what_is_wrong_is_stale() {
        for (text, seconds) in [
            ("max-age=3600", Some(3600)),
            ("max-age=\"3600\"", Some(3600)),
            ("max-age='3600'", Some(0)),
            ("max-age=-1", Some(0)),
            ("max-age=1.5", Some(0)),
            ("max-age =60", Some(0)),
            ("max-age= 60", Some(0)),
            ("max-age", Some(0)),
            ("max-age=60, max-age=5", Some(5)),
            ("x-max-age=60", None),
            ("", None),
        ] {
            assert_eq!(max_age(text), seconds, "{text}");
        }
    }

    #[test]
    fn a_field_for_such_caches_comes_first() {
        let cdn = of(&[("cache-control", "no-store"), ("cdn-cache-control", "max-age=60, must-revalidate")]);
        assert_eq!((cdn.max_age, cdn.no_store, cdn.must_revalidate), (Some(60), false, true));
        // It is no dictionary: the other one holds.
        let wrong = of(&[("cache-control", "no-store"), ("cdn-cache-control", "max-age=60;;")]);
        assert!(wrong.no_store && !wrong.is_targeted);
        let surrogate =
            of(&[("cache-control", "no-store"), ("surrogate-control", "max-age=60+30;here, no-store;there")]);
        assert_eq!((surrogate.max_age, surrogate.no_store), (Some(60), false));
        assert_eq!(surrogate.stale_while_revalidate, Some(30));
        assert!(of(&[("cache-control", "no-store"), ("surrogate-control", "max-age=60;there")]).no_store);
    }
}
