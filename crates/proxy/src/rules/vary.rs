//! Which header fields of a request choose among the responses to its URL. (RFC 9111 §4.1)

use http::{HeaderMap, HeaderName, header};

use super::fields::elements;

/// The fields that `Vary` names, in order and once each; none if it says that nothing tells.
pub fn fields(response: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut fields = Vec::new();
    for element in elements(response, &header::VARY) {
        if element == b"*" {
            return None;
        }
        // What is no name of a field is in no request.
        fields.extend(HeaderName::from_bytes(element));
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
        let mut values: Vec<Vec<u8>> = elements(request, field).map(<[u8]>::to_vec).collect();
        if is_unordered(field) {
            values.iter_mut().for_each(|value| {
                value.retain(|byte| !byte.is_ascii_whitespace());
                value.make_ascii_lowercase();
            });
            values.sort();
        }
        selection.extend(values.join(&b","[..]));
        selection.push(b'\n');
    }
    selection
}

/// Fields in which neither the order of what is listed matters nor its case. (RFC 9110 §12.5)
fn is_unordered(field: &HeaderName) -> bool {
    matches!(*field, header::ACCEPT_ENCODING | header::ACCEPT_LANGUAGE | header::ACCEPT_CHARSET)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_star_chooses_by_nothing_that_anybody_knows() {
        for vary in ["*", "a, *", ", *", "*, *"] {
            assert_eq!(fields(&map(&[("vary", vary)])), None, "{vary}");
        }
        assert_eq!(fields(&map(&[("vary", ""), ("vary", "*")])), None);
        assert_eq!(fields(&map(&[("vary", "B, a"), ("vary", "b")])).unwrap(), ["a", "b"]);
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
        assert_eq!(language("en; q=0.5,DE"), language("de, en;q=0.5"));
        assert_ne!(language("en"), language("de"));
        // Neither a name nor a value can pass for the other.
        assert_ne!(selects("a, b", &[("a", "b,1")]), selects("a, b", &[("a", ""), ("b", "1")]));
    }
}
