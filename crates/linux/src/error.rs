//! Why something could not be done to the live system.

use std::io;

/// Why something could not be done to the live system. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is for something that is not there or does not fit: a device, a class, a mode.
    #[error("{0}")]
    Request(String),
    /// The process may not do this.
    #[error("{doing} needs root, or the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON")]
    Privileges {
        /// Action that was refused, such as `limit attach`.
        doing: &'static str,
    },
    /// The kernel said no.
    #[error("cannot {doing}: {reason}")]
    Kernel {
        /// Action that failed, such as `attach to eth0`.
        doing: String,
        /// Reason that the kernel gave.
        reason: String,
    },
}

impl Error {
    /// The kernel's refusal of `doing`.
    pub fn kernel(doing: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
        let doing = doing.into();
        move |error| Error::Kernel { doing, reason: one_line(&format!("{error:#}")) }
    }

    /// The operating system's refusal of `doing`.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |error| Error::Kernel { doing, reason: one_line(&error.to_string()) }
    }
}

/// `text` without line breaks and without the ` (os error 2)` that only a programmer wants.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
