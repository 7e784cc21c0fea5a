//! A path that takes time: packets from one host to another are held for a while, in one direction.
//!
//! Between namespaces a round trip takes some 20 µs, less than any real path, and what depends on it (how large a window is
//! at a rate, how soon a mark is obeyed) comes out unlike anywhere else. netem would add to it; not every kernel has it.
//! A path may also have a rate, and a queue before it that drops what it has no room for.

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
use trueplane_units::{BitsPerSec, Bytes};

use super::pace::wake_promptly;
use super::{Error, Host};
use crate::{clock, cores};

/// The name of the devices at both ends.
const DEVICE: &str = "delay";

/// Longest time between two looks of a waiting thread whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// Packets that are held at a time; more are dropped.
const ROOM: usize = 1 << 16;

/// A port with a FIFO: a packet leaves when all before it have, and is dropped if it finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fifo {
    /// The rate of IP packets, above zero.
    pub rate: BitsPerSec,
    /// Bytes of IP packets that may wait, the one that is being sent left aside.
    pub room: Bytes,
}

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
    late_nanos: AtomicU64,
}

impl DelayLine {
    /// Holds what `from` sends to `to` for `delay`, until dropped; once per host that sends.
    pub fn new(from: &Host, to: &Host, delay: Duration) -> Result<Self, Error> {
        Self::start(from, to, delay, None)
    }

    /// The same behind a port, which each packet has to pass first. The sender's kernel hands over single segments.
    ///
    /// The times at which packets leave the port are computed from those at which they come, so that its rate is exact
    /// however late the machine wakes the thread.
    ///
    /// # Errors
    /// As [`DelayLine::new`], and if the rate is zero.
    pub fn behind(from: &Host, to: &Host, delay: Duration, port: Fifo) -> Result<Self, Error> {
        if port.rate.0 == 0 {
            return Err(Error::Setting("expected a rate above zero, got 0".to_owned()));
        }
        let line = Self::start(from, to, delay, Some(Port::new(port)))?;
        from.ns.ip(&["link", "set", "dev", DEVICE, "gso_max_segs", "1"])?;
        Ok(line)
    }

    fn start(from: &Host, to: &Host, delay: Duration, port: Option<Port>) -> Result<Self, Error> {
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
        let line = Line { near, far, delay, port, held: VecDeque::new(), state: shared };
        let thread = std::thread::spawn(move || line.run());
        Ok(Self { state, thread: Some(thread) })
    }

    /// Packets that were delivered.
    pub fn packets(&self) -> u64 {
        self.state.packets.load(Ordering::Relaxed)
    }

    /// The most by which a packet was delivered later than it was due: how far the path was from what was asked for.
    pub fn lateness(&self) -> Duration {
        Duration::from_nanos(self.state.late_nanos.load(Ordering::Relaxed))
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

/// State of a port: when each packet that waits begins to leave.
struct Port {
    fifo: Fifo,
    /// Time at which the line is free; `None` before the first packet.
    free: Option<Instant>,
    /// Packets that wait: when each begins to leave, and its bytes; the oldest first.
    waiting: VecDeque<(Instant, u64)>,
    waiting_bytes: u64,
}

impl Port {
    fn new(fifo: Fifo) -> Self {
        Self { fifo, free: None, waiting: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Takes a packet of so many bytes. Returns the time at which its last bit has left; `None` if it is dropped.
    fn offer(&mut self, bytes: u64, now: Instant) -> Option<Instant> {
        while let Some((_, begun)) = self.waiting.front().filter(|(start, _)| *start <= now) {
            self.waiting_bytes -= begun;
            self.waiting.pop_front();
        }
        let start = self.free.map_or(now, |free| free.max(now));
        if start > now {
            if self.waiting_bytes + bytes > self.fifo.room.0 {
                return None;
            }
            self.waiting.push_back((start, bytes));
            self.waiting_bytes += bytes;
        }
        let end = start + Duration::from_nanos(bytes * 8_000_000_000 / self.fifo.rate.0);
        self.free = Some(end);
        Some(end)
    }
}

/// State of the thread that holds the packets.
struct Line {
    near: File,
    far: File,
    delay: Duration,
    port: Option<Port>,
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
                Ok(length) => {
                    let now = clock::now();
                    let left = self.port.as_mut().map_or(Some(now), |port| port.offer(length as u64, now));
                    match left.filter(|_| self.held.len() < ROOM) {
                        Some(left) => self.held.push_back((left + self.delay, buffer[..length].into())),
                        None => _ = self.state.dropped.fetch_add(1, Ordering::Relaxed),
                    }
                }
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
            let now = clock::now();
            if now < *due {
                break;
            }
            let late = u64::try_from(now.duration_since(*due).as_nanos()).unwrap_or(u64::MAX);
            self.state.late_nanos.fetch_max(late, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_sends_one_after_the_other_and_drops_what_finds_no_room() {
        let start = clock::now();
        let at = |micros| start + Duration::from_micros(micros);
        // At 8 Mbit/s a byte takes a microsecond.
        let mut port = Port::new(Fifo { rate: BitsPerSec(8_000_000), room: Bytes(2_000) });
        assert_eq!(port.offer(1_000, at(0)), Some(at(1_000)));
        assert_eq!(port.offer(1_000, at(100)), Some(at(2_000)));
        assert_eq!(port.offer(1_000, at(100)), Some(at(3_000)));
        assert_eq!(port.offer(1, at(999)), None, "2000 bytes wait, and the first packet is still being sent");
        assert_eq!(port.offer(1_000, at(1_000)), Some(at(4_000)), "the second begins to leave");
        assert_eq!(port.offer(500, at(9_000)), Some(at(9_500)), "the line was idle");
    }
}
