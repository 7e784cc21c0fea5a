//! Errors in one line.

use kube::Error;

/// An error in one line: what the API server says, or else its innermost cause.
pub fn one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(Error::Api(status)) = error.downcast_ref::<Error>() {
            let message = if status.message.is_empty() { &status.reason } else { &status.message };
            text = format!("{message} ({})", status.code);
            break;
        }
        text = error.to_string();
        next = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
