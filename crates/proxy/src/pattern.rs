//! Patterns by which stored answers are found: a URL, the begin of URLs, a tag, or a pattern with `*`.

use std::fmt;

use http::Uri;
use trueplane_units::unexpected;

use crate::target::url_of;

/// Bytes of a pattern, at most.
const MOST: usize = 8192;

const URL: &str = "a URL such as http://www.example.com/logo.png";
const PREFIX: &str = "a URL that others begin with, such as http://www.example.com/images/";
const TAG: &str = "a tag without spaces, as in Surrogate-Key";
const GLOB: &str = "a pattern for whole URLs such as http://www.example.com/*.css";

/// A set of stored answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All answers to this URL.
    Url(Vec<u8>),
    /// All answers to URLs that begin so.
    Prefix(Vec<u8>),
    /// All answers that have this tag in `Surrogate-Key`.
    Tag(Vec<u8>),
    /// All answers to URLs that consist of these parts, with anything between two of them.
    Glob(Vec<Vec<u8>>),
}

impl Pattern {
    /// All answers to a URL, for each variant.
    ///
    /// # Errors
    ///
    /// It is no URL, in one line.
    pub fn url(text: &str) -> Result<Self, String> {
        normal(text).map(Self::Url).ok_or_else(|| unexpected(URL, text))
    }

    /// All answers to URLs that begin with a URL, which names a whole host.
    ///
    /// # Errors
    ///
    /// It is no URL, in one line.
    pub fn prefix(text: &str) -> Result<Self, String> {
        normal(text).map(Self::Prefix).ok_or_else(|| unexpected(PREFIX, text))
    }

    /// All answers with a tag.
    ///
    /// # Errors
    ///
    /// It is no tag, in one line.
    pub fn tag(text: &str) -> Result<Self, String> {
        let is_tag = (1..=MOST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_tag { Ok(Self::Tag(text.into())) } else { Err(unexpected(TAG, text)) }
    }

    /// All answers to URLs that match a pattern as a whole, in which `*` stands for any bytes, also for none.
    ///
    /// # Errors
    ///
    /// No URL could match it, in one line.
    pub fn glob(text: &str) -> Result<Self, String> {
        let is_glob = (1..=MOST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        let parts = text.as_bytes().split(|&byte| byte == b'*').map(<[u8]>::to_vec).collect();
        if is_glob { Ok(Self::Glob(parts)) } else { Err(unexpected(GLOB, text)) }
    }

    /// Whether an answer to a URL, with these tags, is in the set.
    pub(crate) fn has(&self, url: &[u8], tags: &[u8]) -> bool {
        match self {
            Self::Url(whole) => whole == url,
            Self::Prefix(prefix) => url.starts_with(prefix),
            Self::Tag(tag) => tags.split(u8::is_ascii_whitespace).any(|other| other == tag),
            Self::Glob(parts) => is_made_of(parts, url),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        match self {
            Self::Url(url) => f.write_str(&text(url)),
            Self::Prefix(prefix) => write!(f, "{}…", text(prefix)),
            Self::Tag(tag) => write!(f, "Surrogate-Key {}", text(tag)),
            Self::Glob(parts) => f.write_str(&text(&parts.join(&b'*'))),
        }
    }
}

/// A URL as the store has it.
fn normal(text: &str) -> Option<Vec<u8>> {
    let uri: Uri = text.parse().ok().filter(|_| text.len() <= MOST)?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    Some(url_of(scheme, authority, uri.path_and_query()?))
}

/// Whether a text consists of these parts, with anything between two of them. Its time grows with the text's length times that of a part at most.
fn is_made_of(parts: &[Vec<u8>], text: &[u8]) -> bool {
    let [first, rest @ ..] = parts else { return text.is_empty() };
    let Some(mut text) = text.strip_prefix(first.as_slice()) else { return false };
    let Some((last, middle)) = rest.split_last() else { return text.is_empty() };
    for part in middle {
        // The leftmost place leaves the most for the others.
        match memchr::memmem::find(text, part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glob(pattern: &str, url: &str) -> bool {
        Pattern::glob(pattern).unwrap().has(url.as_bytes(), b"")
    }

    #[test]
    fn patterns_by_hand() {
        assert!(glob("*", "") && glob("*", "http://a/") && glob("a*", "a") && glob("a*a", "aa"));
        assert!(!glob("a*a", "a") && !glob("a", "ab") && !glob("a", "ba"));
        assert!(glob("http://a/*.css", "http://a/x/y.css") && !glob("http://a/*.css", "http://a/y.css?z"));
        assert!(glob("*a*b*", "xaxbx") && !glob("*b*a*", "ab"));
    }

    #[test]
    fn urls_are_as_the_store_has_them() {
        let url = |text: &str| Pattern::url(text).map(|pattern| pattern.to_string());
        assert_eq!(url("HTTP://Example.com:80").unwrap(), "http://example.com/");
        assert_eq!(url("https://a:443/B?c#d").unwrap(), "https://a/B?c");
        for wrong in ["", "/a", "a.example/b", "ftp://a/", "http://u@a/", "http://a/ b", "http:///"] {
            let error = url(wrong).unwrap_err();
            assert!(error.starts_with("expected a URL") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_prefix_names_a_whole_host() {
        let prefix = |text| Pattern::prefix(text).unwrap();
        assert!(prefix("http://a").has(b"http://a/b", b"") && !prefix("http://a").has(b"http://ab/", b""));
        assert!(
            prefix("http://a/b").has(b"http://a/bc", b"") && !prefix("http://a/b").has(b"http://a/", b"")
        );
    }

    #[test]
    fn tags_are_whole_words() {
        let tag = Pattern::tag("ab").unwrap();
        assert!(tag.has(b"", b"x ab") && tag.has(b"", b"ab  x") && !tag.has(b"", b"abc AB a b"));
        assert!(Pattern::tag("a b").is_err() && Pattern::tag("").is_err());
    }

    /// The same, letter by letter.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', rest @ ..] => (0..=text.len()).any(|at| naive(rest, &text[at..])),
            [byte, rest @ ..] => {
                text.split_first().is_some_and(|(first, text)| first == byte && naive(rest, text))
            }
        }
    }

    proptest! {
        #[test]
        fn patterns_match_what_they_match_letter_by_letter(pattern in "[ab*]{1,8}", text in "[ab]{0,10}") {
            prop_assert_eq!(glob(&pattern, &text), naive(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn no_text_makes_a_pattern_panic(text in any::<String>()) {
            let patterns = [Pattern::url(&text), Pattern::prefix(&text), Pattern::tag(&text), Pattern::glob(&text)];
            for pattern in patterns.into_iter().flatten() {
                pattern.has(text.as_bytes(), text.as_bytes());
            }
        }
    }
}
