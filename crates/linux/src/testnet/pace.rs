//! UDP at a constant rate, and what of it arrives.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::{Error, Host};
use crate::clock;

/// Packets that are due within this time of each other go out together.
const BATCH: Duration = Duration::from_micros(100);

/// The last part of a wait is spun: the kernel wakes a thread about so late.
const SPIN: Duration = Duration::from_micros(15);

/// A sender that cannot keep up gives up so long after its time.
const OVERTIME: Duration = Duration::from_millis(100);

/// A sink that hears nothing for so long has heard all.
const QUIET: Duration = Duration::from_millis(50);

/// No sink lives longer.
const SINK_LIFE: Duration = Duration::from_secs(120);

/// The length of the headers of a UDP packet's frame.
fn header_bytes(address: IpAddr) -> u64 {
    let ip = if address.is_ipv4() { 20 } else { 40 };
    14 + ip + 8
}

/// A sender of UDP packets of one size at a constant rate.
///
/// Packet k is due k × frame ÷ rate after the start, whatever became of those before: a thread that was kept from
/// running catches up, and [`Sent::largest_batch`] tells. One that cannot keep up ends 100 ms after its time.
#[derive(Clone, Copy, Debug)]
pub struct Paced {
    /// The rate of frames with their Ethernet headers.
    pub rate: BitsPerSec,
    /// The length of a frame with its Ethernet header, without checksum: 1514 fills an MTU of 1500.
    pub frame: Bytes,
    /// Time to send for.
    pub duration: Duration,
}

/// Counts of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Packets that the kernel took.
    pub packets: u64,
    /// Their frames' bytes.
    pub frame_bytes: Bytes,
    /// Packets that the kernel refused.
    pub refused: u64,
    /// From the first packet to the end of the last one's slot, or to its sending where that was later.
    pub elapsed: Duration,
    /// The most packets that went out at once.
    pub largest_batch: u64,
}

impl Sent {
    /// The rate of frames that was reached.
    pub fn rate(&self) -> BitsPerSec {
        BitsPerSec::of(self.frame_bytes, nanos(self.elapsed))
    }
}

impl Paced {
    /// Sends and waits until all is sent.
    pub fn run(&self, from: &Host, to: SocketAddr) -> Result<Sent, Error> {
        self.start(from, to)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Sends on a thread of the sender's namespace.
    pub fn start(&self, from: &Host, to: SocketAddr) -> Result<JoinHandle<Result<Sent, Error>>, Error> {
        let headers = header_bytes(to.ip());
        let payload = self.frame.0.checked_sub(headers).filter(|&payload| payload <= 65_507);
        let (Some(payload), true) = (payload, self.rate.0 > 0) else {
            return Err(Error::Setting(format!(
                "expected a rate above zero and frames of {headers} bytes to 64 KB, got {} and {}",
                self.rate, self.frame
            )));
        };
        let (paced, payload) = (*self, vec![0; payload as usize]);
        let thread = from.ns.spawn(move || {
            let local: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
            let socket = UdpSocket::bind(local).and_then(|socket| {
                // What waits in a queue behind a veth pair still counts as this socket's, and must not stop it.
                make_room(&socket, libc::SO_SNDBUFFORCE)?;
                socket.connect(to).map(|()| socket)
            });
            socket.map(|socket| paced.send(&socket, &payload)).map_err(Error::io(format!("send to {to}")))
        });
        Ok(thread::spawn(move || thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?))
    }

    /// Time from the start at which packet `number` is due.
    fn due(&self, number: u64) -> Duration {
        let nanos = u128::from(number) * u128::from(self.frame.0) * 8_000_000_000 / u128::from(self.rate.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn send(&self, socket: &UdpSocket, payload: &[u8]) -> Sent {
        wake_promptly();
        let start = clock::now();
        let mut sent =
            Sent { packets: 0, frame_bytes: Bytes(0), refused: 0, elapsed: Duration::ZERO, largest_batch: 0 };
        let (mut number, mut last) = (0, Duration::ZERO);
        while self.due(number) < self.duration {
            let before = number;
            let now = clock::now().duration_since(start);
            if now > self.duration + OVERTIME {
                break;
            }
            while self.due(number) <= now && self.due(number) < self.duration {
                match send_one(socket, payload) {
                    Ok(()) => sent.packets += 1,
                    Err(_) => sent.refused += 1,
                }
                number += 1;
            }
            last = clock::now().duration_since(start);
            sent.largest_batch = sent.largest_batch.max(number - before);
            wait_until(start + self.due(number).max(now + BATCH).min(self.duration));
        }
        sent.frame_bytes = Bytes(sent.packets * self.frame.0);
        sent.elapsed = self.due(number).max(last);
        sent
    }
}

/// Sends once more where the error was that of a packet before, which nobody listened for.
fn send_one(socket: &UdpSocket, payload: &[u8]) -> io::Result<()> {
    loop {
        match socket.send(payload) {
            Ok(_) => return Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Asks the kernel not to put off this thread's timers by the usual 50 µs.
pub(super) fn wake_promptly() {
    // SAFETY: concerns this thread's timers only. Where it fails, pacing is a little coarser.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Sleeps for most of the time and spins for the rest.
fn wait_until(deadline: Instant) {
    let left = deadline.saturating_duration_since(clock::now());
    if left > SPIN {
        thread::sleep(left - SPIN);
    }
    while clock::now() < deadline {
        std::hint::spin_loop();
    }
}

/// A receiver that counts, on a thread of a host's namespace, until [`Sink::stop`].
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Received, Error>>>,
}

/// Counts of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Number of packets that arrived.
    pub packets: u64,
    /// Bytes of their frames, with Ethernet headers.
    pub frame_bytes: Bytes,
    /// Bytes of their payload.
    pub payload_bytes: Bytes,
    /// Times of the first and of the last packet.
    pub span: Option<(Instant, Instant)>,
}

impl Received {
    /// The time from the first packet to the last.
    pub fn elapsed(&self) -> Duration {
        self.span.map_or(Duration::ZERO, |(first, last)| last.duration_since(first))
    }
}

impl Sink {
    /// Listens on `address` of the host, at a port of the kernel's choice where that is 0.
    pub fn listen(host: &Host, address: SocketAddr) -> Result<Self, Error> {
        let doing = format!("listen on {address}");
        let socket = host.ns.run(|| open(address))?.map_err(Error::io(&doing))?;
        let address = socket.local_addr().map_err(Error::io(&doing))?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let thread = thread::spawn(move || count(&socket, &stop).map_err(Error::io(doing)));
        Ok(Self { address, is_stopped, thread: Some(thread) })
    }

    /// Address that the sink listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until nothing has come for 50 ms, and tells what came.
    pub fn stop(mut self) -> Result<Received, Error> {
        self.is_stopped.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(received)) => received,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(Received::default()),
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its result was not asked for.
            let _ = thread.join();
        }
    }
}

/// A socket with room for what comes while its thread does not run.
fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_read_timeout(Some(QUIET))?;
    make_room(&socket, libc::SO_RCVBUFFORCE)?;
    Ok(socket)
}

/// Sets the size of one of the socket's buffers, above what the system allows to others.
fn make_room(socket: &UdpSocket, option: libc::c_int) -> io::Result<()> {
    let room_bytes: libc::c_int = 16 << 20;
    // SAFETY: the option takes one int, which lives on the stack during the call.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const room_bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn count(socket: &UdpSocket, is_stopped: &AtomicBool) -> io::Result<Received> {
    let headers = header_bytes(socket.local_addr()?.ip());
    let mut buffer = vec![0; 1 << 16];
    let mut received = Received::default();
    let end = clock::now() + SINK_LIFE;
    loop {
        match socket.recv(&mut buffer) {
            Ok(length) => {
                let now = clock::now();
                received.packets += 1;
                received.payload_bytes.0 += length as u64;
                received.span = Some((received.span.map_or(now, |(first, _)| first), now));
                if now > end {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if is_stopped.load(Ordering::Relaxed) || clock::now() > end {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    received.frame_bytes = Bytes(received.payload_bytes.0 + received.packets * headers);
    Ok(received)
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}
