//! The congestion window that the kernel has for a connection.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::clock;

/// State `TCP_CA_Recovery` of a connection in the kernel.
const RECOVERY: u8 = 3;

/// State `TCP_CA_Loss` of a connection in the kernel.
const LOSS: u8 = 4;

/// What the kernel tells of a connection at a time (`TCP_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSample {
    /// Time since the first of the samples was asked for.
    pub time: Duration,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Whether fast recovery is under way.
    pub is_recovering: bool,
    /// Whether the retransmission timer expired and what was outstanding then is not acknowledged.
    pub is_after_timeout: bool,
}

/// The window of a connection now; `start` is the time of its first sample.
pub(super) fn sample(stream: &TcpStream, start: Instant) -> io::Result<WindowSample> {
    // SAFETY: a structure of integers, for which zeros are fine.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the call writes no more than `length` bytes into a structure of that size, which lives on the stack meanwhile.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(WindowSample {
        time: clock::now().duration_since(start),
        cwnd: info.tcpi_snd_cwnd,
        is_recovering: info.tcpi_ca_state == RECOVERY,
        is_after_timeout: info.tcpi_ca_state == LOSS,
    })
}
