//! Why a test network could not be built or used.

use std::io;

/// Why a test network could not be built or used. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A command could not be started, failed, or took too long.
    #[error("`{command}`: {reason}")]
    Command {
        /// The command line.
        command: String,
        /// Words of the command on stderr, or why there is no answer.
        reason: String,
    },
    /// The operating system refused.
    #[error("cannot {doing}: {source}")]
    Io {
        /// Action that failed.
        doing: String,
        /// The refusal.
        source: io::Error,
    },
    /// A setting does not fit.
    #[error("{0}")]
    Setting(String),
}

impl Error {
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |source| Error::Io { doing, source }
    }
}
