//! What the cache did, for clients to read: `Cache-Status` (RFC 9211).

use http::StatusCode;

/// Why a request went to the origin. (RFC 9211 §2.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarded {
    /// Its method is none that a cache answers.
    Method,
    /// Its fields do not let it be answered from a cache, or its answers are known to be private.
    Bypass,
    /// Nothing was stored for its URL and variant.
    Miss,
    /// What was stored is too old.
    Stale,
}

/// The way in which a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// Answered from what is stored.
    Hit,
    /// The same from the disk.
    Disk,
    /// Answered by the origin.
    Forwarded {
        /// Why it was forwarded.
        why: Forwarded,
        /// Status of the origin's answer, if there was one.
        status: Option<StatusCode>,
        /// Whether the answer is kept.
        is_stored: bool,
        /// Whether the request waited for another one's.
        is_collapsed: bool,
    },
}

/// The value of `Cache-Status`; `ttl` is the number of seconds for which the answer is still fresh, negative if it is stale.
pub fn cache_status(name: &str, handled: Handled, ttl: Option<i64>) -> String {
    let mut text = name.to_owned();
    match handled {
        Handled::Hit | Handled::Disk => text += "; hit",
        Handled::Forwarded { why, status, is_stored, is_collapsed } => {
            text += match why {
                Forwarded::Method => "; fwd=method",
                Forwarded::Bypass => "; fwd=bypass",
                Forwarded::Miss => "; fwd=miss",
                Forwarded::Stale => "; fwd=stale",
            };
            if let Some(status) = status {
                text += &format!("; fwd-status={}", status.as_u16());
            }
            if is_stored {
                text += "; stored";
            }
            if is_collapsed {
                text += "; collapsed";
            }
        }
    }
    if let Some(ttl) = ttl {
        text += &format!("; ttl={ttl}");
    }
    if handled == Handled::Disk {
        text += "; detail=disk";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_in_words() {
        assert_eq!(cache_status("here", Handled::Hit, Some(30)), "here; hit; ttl=30");
        assert_eq!(cache_status("here", Handled::Disk, Some(30)), "here; hit; ttl=30; detail=disk");
        let forwarded = Handled::Forwarded {
            why: Forwarded::Stale,
            status: Some(StatusCode::NOT_MODIFIED),
            is_stored: true,
            is_collapsed: true,
        };
        let text = "here; fwd=stale; fwd-status=304; stored; collapsed; ttl=-5";
        assert_eq!(cache_status("here", forwarded, Some(-5)), text);
        let private = Handled::Forwarded {
            why: Forwarded::Method,
            status: None,
            is_stored: false,
            is_collapsed: false,
        };
        assert_eq!(cache_status("here", private, None), "here; fwd=method");
    }
}
