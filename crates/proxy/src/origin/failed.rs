//! Why there is no answer.

use std::sync::Arc;

use bytes::Bytes;

use crate::head::{Head, Object};

/// Why an origin gave no answer, or not all of it.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The answer is for the request alone that it was made for.
    #[error("the answer is private")]
    Private,
    /// There was no answer.
    #[error("the origin does not answer: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("the origin does not answer in time")]
    TimedOut,
    /// It answers with an error, and what is stored may be served instead.
    #[error("the origin fails")]
    Failing,
    /// It answers with an error that is the same for all who wait, and is not kept.
    #[error("the origin fails with {}", .0.status)]
    Error(Arc<Head>, Bytes),
    /// The answer ended early.
    #[error("the origin's answer ended early: {0}")]
    Truncated(String),
    /// The disk knows that the URL's answers vary: the request has another name.
    #[error("the answers vary")]
    Renamed,
    /// It has failed, and this is on the disk.
    #[error("{0}")]
    Instead(Box<Self>, Object),
}

impl Failed {
    /// Whether something stale may be served instead.
    pub(crate) fn is_of_origin(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut | Self::Failing | Self::Truncated(_) => true,
            Self::Private | Self::Error(..) | Self::Renamed | Self::Instead(..) => false,
        }
    }
}
