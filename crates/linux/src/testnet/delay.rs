//! A path that takes time: packets from one host to another are held for a while, in one direction.
//!
//! Between namespaces a round trip takes some 20 µs, less than any real path, and what depends on it (how large a window is
//! at a rate, how soon a mark is obeyed) comes out unlike anywhere else. netem would add to it; not every kernel has it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::pace::wake_promptly;
use super::{Error, Host};
use crate::{clock, cores};

/// The name of the devices at both ends.
const DEVICE: &str = "delay";

/// Longest time between two looks of a waiting thread whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// Packets that are held at a time; more are dropped.
const ROOM: usize = 1 << 16;

/// Holds what one host sends to another for a fixed time; all else goes its usual way.
///
/// Meant for acknowledgements, which are few and short: each passes through this process, and may be late by what the
/// machine needs to wake a thread. Data in the other direction is as fast as ever, and the
/// round trip is longer by the delay. IPv4 only.
#[derive(Debug)]
pub struct DelayLine {
    state: Arc<State>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    packets: AtomicU64,
    dropped: AtomicU64,
}

impl DelayLine {
    /// Holds what `from` sends to `to` for `delay`, until dropped; once per host that sends.
    pub fn new(from: &Host, to: &Host, delay: Duration) -> Result<Self, Error> {
        let doing = "open a device for delayed packets";
        // A device of layer 3 each: what is sent on one comes in by the other.
        let near = from.ns.run(open)?.map_err(Error::io(doing))?;
        let far = to.ns.run(open)?.map_err(Error::io(doing))?;
        for host in [from, to] {
            host.ns.ip(&["link", "set", DEVICE, "up"])?;
        }
        from.set_detour(to, DEVICE)?;
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread =
            std::thread::spawn(move || Line { near, far, delay, held: VecDeque::new(), state: shared }.run());
        Ok(Self { state, thread: Some(thread) })
    }

    /// Packets that were delivered.
    pub fn packets(&self) -> u64 {
        self.state.packets.load(Ordering::Relaxed)
    }

    /// Packets for which there was no room.
    pub fn dropped(&self) -> u64 {
        self.state.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for DelayLine {
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The devices go with the thread, and where it failed, packets stopped: the test has seen that.
            let _ = thread.join();
        }
    }
}

/// A device of layer 3 in the namespace that the calling thread is in.
fn open() -> io::Result<File> {
    let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    // SAFETY: a structure of integers and arrays of them, for which zeros are fine.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the call reads a structure of this type, which lives on the stack meanwhile.
    match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// State of the thread that holds the packets.
struct Line {
    near: File,
    far: File,
    delay: Duration,
    /// With the time at which each is due; the oldest first.
    held: VecDeque<(Instant, Box<[u8]>)>,
    state: Arc<State>,
}

impl Line {
    fn run(mut self) -> io::Result<()> {
        wake_promptly();
        // It does little, but that in time. Where this is refused, packets are later.
        cores::go_first();
        while !self.state.is_stopped.load(Ordering::Relaxed) {
            self.take_in()?;
            self.let_go()?;
            let now = clock::now();
            let due = self.held.front().map_or(LOOK, |(due, _)| due.saturating_duration_since(now));
            wait_for_packet(&self.near, due.min(LOOK))?;
        }
        Ok(())
    }

    fn take_in(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 16];
        loop {
            match self.near.read(&mut buffer) {
                Ok(_) if self.held.len() >= ROOM => {
                    self.state.dropped.fetch_add(1, Ordering::Relaxed);
                }
                Ok(length) => self.held.push_back((clock::now() + self.delay, buffer[..length].into())),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.held.front().is_some_and(|(due, _)| *due <= clock::now()) {
                return Ok(());
            }
        }
    }

    fn let_go(&mut self) -> io::Result<()> {
        while let Some((due, packet)) = self.held.front() {
            if clock::now() < *due {
                break;
            }
            self.far.write_all(packet)?;
            self.held.pop_front();
            self.state.packets.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Sleeps until there is something to read or the time is over.
fn wait_for_packet(file: &File, time: Duration) -> io::Result<()> {
    let time = Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&time)) {
        Err(error) if error != Errno::INTR => Err(error.into()),
        _ => Ok(()),
    }
}
