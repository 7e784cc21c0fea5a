//! Choices by name.

/// A name that is none of those known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} \"{found}\"; known are {known}")]
pub struct ParseNameError {
    what: &'static str,
    found: String,
    known: String,
}

pub(super) fn parse_name<T: Copy>(
    text: &str,
    what: &'static str,
    names: &[(&str, T)],
) -> Result<T, ParseNameError> {
    names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|&(name, _)| name).collect();
        ParseNameError { what, found: text.to_owned(), known: known.join(", ") }
    })
}

pub(super) fn name_of<T: PartialEq>(value: &T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, named)| named == value).map_or("", |&(name, _)| name)
}
