//! Which header fields of a request choose among the responses to its URL. (RFC 9111 §4.1)

use http::{HeaderMap, HeaderName, header};

use super::fields::{elements, split_all};

/// Fields that a response may vary by, at most.
pub const MOST: usize = 16;

/// The fields that `Vary` names, in order and once each; none if they do not tell who may have the response: `*`, too many fields, or one that says
/// who the client is, which each cache on the way changes.
pub fn fields(response: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut fields = Vec::new();
    for element in elements(response, &header::VARY) {
        if element == b"*" {
            return None;
        }
        // What is no name of a field is in no request.
        fields.extend(HeaderName::from_bytes(element));
    }
    let is_of_client = |field: &HeaderName| {
        *field == header::FORWARDED || field == "x-forwarded-for" || field == "x-real-ip"
    };
    if fields.len() > MOST || fields.iter().any(is_of_client) {
        return None;
    }
    fields.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    fields.dedup();
    Some(fields)
}

/// What a request says in these fields, as bytes that are the same for requests that mean the same.
pub fn selection(fields: &[HeaderName], request: &HeaderMap) -> Vec<u8> {
    let mut selection = Vec::new();
    for field in fields {
        if !request.contains_key(field) {
            continue;
        }
        // No field holds a line break: they keep fields, and names from values, apart.
        selection.extend_from_slice(field.as_str().as_bytes());
        selection.push(b'\n');
        let lines = request.get_all(field).iter();
        let mut values: Vec<Vec<u8>> =
            lines.flat_map(|line| split_all(line.as_bytes(), b',')).map(<[u8]>::to_vec).collect();
        if is_caseless(field) {
            values.iter_mut().for_each(|value| *value = plain(value));
        }
        if *field == header::ACCEPT_ENCODING {
            values.sort();
        }
        selection.extend(values.join(&b","[..]));
        selection.push(b'\n');
    }
    selection
}

/// Fields in which case does not matter. The order of languages does to some servers. (RFC 9110 §12.5.4)
fn is_caseless(field: &HeaderName) -> bool {
    matches!(*field, header::ACCEPT_ENCODING | header::ACCEPT_LANGUAGE)
}

/// An element in small letters, without spaces around its parameters.
fn plain(element: &[u8]) -> Vec<u8> {
    let parts = split_all(element, b';').map(<[u8]>::to_ascii_lowercase);
    parts.collect::<Vec<_>>().join(&b";"[..])
}

#[cfg(test)]
mod tests {
    use super::super::fields::map;
    use super::*;

    #[test]
    fn a_star_and_the_like_choose_by_nothing_that_anybody_knows() {
        for vary in ["*", "a, *", ", *", "*, *"] {
            assert_eq!(fields(&map(&[("vary", vary)])), None, "{vary}");
        }
        assert_eq!(fields(&map(&[("vary", ""), ("vary", "*")])), None);
        assert_eq!(fields(&map(&[("vary", "B, a"), ("vary", "b")])).unwrap(), ["a", "b"]);
        assert_eq!(fields(&map(&[("vary", "a, X-Forwarded-For")])), None);
        let many: Vec<String> = (0..=MOST).map(|number| format!("f{number}")).collect();
        assert_eq!(fields(&map(&[("vary", &many.join(","))])), None);
    }

    #[test]
    fn requests_that_mean_the_same_select_the_same() {
        let selects = |vary: &str, lines: &[(&'static str, &str)]| {
            selection(&fields(&map(&[("vary", vary)])).unwrap(), &map(lines))
        };
        let foo = |lines: &[(&'static str, &str)]| selects("foo", lines);
        assert_eq!(foo(&[("foo", "1,2")]), foo(&[("foo", "1"), ("foo", " 2 ")]));
        assert_ne!(foo(&[("foo", "1, 2")]), foo(&[("foo", "2, 1")]));
        assert_ne!(foo(&[("foo", "a")]), foo(&[("foo", "A")]));
        assert_ne!(foo(&[("foo", "")]), foo(&[]));
        let language = |text| selects("accept-language", &[("accept-language", text)]);
        assert_eq!(language("en; q=0.5,DE"), language("EN ;q=0.5, de"));
        assert_ne!(language("en, de"), language("de, en"));
        assert_ne!(language("d e"), language("de"));
        let encoding = |text| selects("accept-encoding", &[("accept-encoding", text)]);
        assert_eq!(encoding("gzip, br"), encoding("BR,gzip"));
        assert_ne!(foo(&[("foo", "en,")]), foo(&[("foo", "en")]));
        assert_ne!(language("en"), language("de"));
        // Neither a name nor a value can pass for the other.
        assert_ne!(selects("a, b", &[("a", "b,1")]), selects("a, b", &[("a", ""), ("b", "1")]));
    }
}
