//! Round-trip times, asked for one after the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use trueplane_study::metrics::Distribution;

use super::{Error, Host};
use crate::clock;

/// Longest time between two looks of a waiting thread whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// An answer that takes longer is lost.
const LOST: Duration = Duration::from_secs(1);

/// The number of a question, alone in its packet.
const QUESTION_BYTES: usize = 8;

/// Transport of the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// One packet each way; a lost one is counted.
    Udp,
    /// One connection without Nagle's delay; a lost packet shows as a long time.
    Tcp,
}

/// A host that asks another, and times the answers.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Transport of the questions.
    pub transport: Transport,
    /// Time to ask for.
    pub duration: Duration,
    /// The time between an answer and the next question.
    pub gap: Duration,
}

/// Results of a probe.
#[derive(Clone, Debug, Default)]
pub struct ProbeReport {
    /// Round-trip times in ns, seen by the asking program.
    pub rtt_ns: Distribution,
    /// Number of questions that were asked.
    pub sent: u64,
    /// Number of questions that had no answer within a second.
    pub lost: u64,
}

/// A probe under way, with the echo that answers it.
#[derive(Debug)]
pub struct ProbeRun {
    echo: Echo,
    thread: JoinHandle<Result<io::Result<ProbeReport>, Error>>,
}

impl Probe {
    /// Asks and waits until it is done.
    pub fn run(&self, from: &Host, to: &Host) -> Result<ProbeReport, Error> {
        self.start(from, to)?.finish()
    }

    /// Asks beside other traffic.
    pub fn start(&self, from: &Host, to: &Host) -> Result<ProbeRun, Error> {
        let echo = Echo::start(to, self.transport)?;
        let (probe, address) = (*self, echo.address);
        let thread = from.ns.spawn(move || match probe.transport {
            Transport::Udp => probe.ask_by_udp(address),
            Transport::Tcp => probe.ask_by_tcp(address),
        });
        Ok(ProbeRun { echo, thread })
    }

    fn ask_by_udp(&self, address: SocketAddr) -> io::Result<ProbeReport> {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect(address)?;
        socket.set_read_timeout(Some(LOST))?;
        self.ask(|question| {
            socket.send(question)?;
            loop {
                let mut answer = [0; QUESTION_BYTES];
                socket.recv(&mut answer)?;
                // An older one comes too late: it was counted as lost.
                if answer == *question {
                    return Ok(());
                }
            }
        })
    }

    fn ask_by_tcp(&self, address: SocketAddr) -> io::Result<ProbeReport> {
        let mut stream = TcpStream::connect_timeout(&address, 5 * LOST)?;
        stream.set_nodelay(true)?;
        // A stream's answers are late, never lost, as long as the connection holds.
        stream.set_read_timeout(Some(10 * LOST))?;
        self.ask(|question| {
            stream.write_all(question)?;
            stream.read_exact(&mut [0; QUESTION_BYTES])
        })
    }

    fn ask(
        &self,
        mut exchange: impl FnMut(&[u8; QUESTION_BYTES]) -> io::Result<()>,
    ) -> io::Result<ProbeReport> {
        let mut report = ProbeReport::default();
        let end = clock::now() + self.duration;
        loop {
            let asked = clock::now();
            if asked >= end {
                return Ok(report);
            }
            report.sent += 1;
            match exchange(&report.sent.to_be_bytes()) {
                Ok(()) => report.rtt_ns.record(asked.elapsed().as_nanos() as u64),
                Err(error) if is_timeout(&error) && self.transport == Transport::Udp => report.lost += 1,
                Err(error) => return Err(error),
            }
            thread::sleep(self.gap);
        }
    }
}

impl ProbeRun {
    /// Waits until the probe's time is over.
    pub fn finish(self) -> Result<ProbeReport, Error> {
        let asked = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let address = self.echo.address;
        asked?.map_err(Error::io(format!("probe {address}")))
    }
}

/// A thread that sends back what it gets; ends when dropped.
#[derive(Debug)]
struct Echo {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    fn start(host: &Host, transport: Transport) -> Result<Self, Error> {
        let here = SocketAddr::from((host.v4, 0));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let started = host.ns.run(|| match transport {
            Transport::Udp => {
                let socket = UdpSocket::bind(here)?;
                Ok((socket.local_addr()?, thread::spawn(move || echo_packets(&socket, &stop))))
            }
            Transport::Tcp => {
                let listener = TcpListener::bind(here)?;
                Ok((listener.local_addr()?, thread::spawn(move || echo_stream(&listener, &stop))))
            }
        })?;
        let (address, thread) = started.map_err(Error::io(format!("listen on {here}")))?;
        Ok(Self { address, is_stopped, thread: Some(thread) })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has no result.
            let _ = thread.join();
        }
    }
}

fn echo_packets(socket: &UdpSocket, is_stopped: &AtomicBool) {
    let mut buffer = [0; QUESTION_BYTES];
    if socket.set_read_timeout(Some(LOOK)).is_err() {
        return;
    }
    while !is_stopped.load(Ordering::Relaxed) {
        // An error or a lost answer shows at the side that asks.
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
        }
    }
}

fn echo_stream(listener: &TcpListener, is_stopped: &AtomicBool) {
    let Some(mut stream) = accept(listener, is_stopped) else { return };
    let mut buffer = [0; QUESTION_BYTES];
    while !is_stopped.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) if stream.write_all(&buffer[..length]).is_ok() => {}
            Err(error) if is_timeout(&error) => {}
            _ => return,
        }
    }
}

/// The first connection; `None` where none comes before the end, or it cannot be used.
fn accept(listener: &TcpListener, is_stopped: &AtomicBool) -> Option<TcpStream> {
    listener.set_nonblocking(true).ok()?;
    while !is_stopped.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).ok()?;
                stream.set_nodelay(true).ok()?;
                stream.set_read_timeout(Some(LOOK)).ok()?;
                return Some(stream);
            }
            Err(error) if is_timeout(&error) => thread::sleep(Duration::from_millis(1)),
            Err(_) => return None,
        }
    }
    None
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
