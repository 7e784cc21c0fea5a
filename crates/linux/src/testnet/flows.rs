//! Many TCP flows that begin when they are told to, and the windows that the kernel gives them.
//!
//! iperf3 connects one flow after the other and then sends at once; through a full queue, a hundred of them take seconds until
//! the last has begun. Here all are connected while the network is quiet, and then wait.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_linger;

use super::window::{self, WindowSample};
use super::{Error, Host};
use crate::clock;

/// Time between two looks of a waiting thread whether it shall end.
const LOOK: Duration = Duration::from_millis(20);

/// Bytes that are handed over at a time.
const CHUNK: usize = 64 << 10;

/// Longest time for a connection to be made.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connected flows from one host to another, and the thread that reads what comes.
#[derive(Debug)]
pub struct Flows {
    senders: Vec<TcpStream>,
    is_stopped: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Flows {
    /// Connects so many flows with a congestion control, which is from then on that of all connections between the two hosts
    /// that choose none.
    pub fn connect(from: &Host, to: &Host, flows: usize, congestion: &str) -> Result<Self, Error> {
        to.set_congestion(from, congestion)?;
        from.set_congestion(to, congestion)?;
        let here = SocketAddr::from((to.v4, 0));
        let doing = format!("connect {flows} flows to {}", to.v4);
        let listener = to.ns.run(|| TcpListener::bind(here))?.map_err(Error::io(&doing))?;
        let there = listener.local_addr().map_err(Error::io(&doing))?;
        let connect = || {
            let mut pairs = (Vec::new(), Vec::new());
            for _ in 0..flows {
                pairs.0.push(open(TcpStream::connect_timeout(&there, PATIENCE)?)?);
                pairs.1.push(open(listener.accept()?.0)?);
            }
            Ok(pairs)
        };
        let (senders, receivers) = from.ns.run(connect)?.map_err(Error::io(doing))?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let reader = Some(thread::spawn(move || read_all(receivers, &stop)));
        Ok(Self { senders, is_stopped, reader })
    }

    /// All of them send as much as they can for so long, and are then cut off.
    pub fn send(self, duration: Duration) -> Sending {
        Sending { thread: Some(thread::spawn(move || self.send_all(duration))) }
    }

    /// All of them send as much as they can for so long, and are then cut off; the window of the first, `every` so often.
    ///
    /// # Errors
    /// If the system refuses to send or to tell the window.
    pub fn trace(self, duration: Duration, every: Duration) -> Result<Vec<WindowSample>, Error> {
        let doing = "read the window of a flow";
        let first =
            self.senders.first().ok_or_else(|| Error::Setting("expected a flow, got none".to_owned()))?;
        let watched = first.try_clone().map_err(Error::io(doing))?;
        let start = clock::now();
        let sending = self.send(duration);
        let mut samples = Vec::new();
        while clock::now() < start + duration {
            samples.push(window::sample(&watched, start).map_err(Error::io(doing))?);
            thread::sleep(every);
        }
        drop(watched);
        sending.finish()?;
        Ok(samples)
    }

    fn send_all(&self, duration: Duration) -> io::Result<()> {
        let chunk = vec![0; CHUNK];
        let end = clock::now() + duration;
        while clock::now() < end {
            for index in ready(&self.senders, PollFlags::OUT)? {
                match (&self.senders[index]).write(&chunk) {
                    Err(error) if !is_wait(&error) => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Drop for Flows {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.senders.clear();
        if let Some(thread) = self.reader.take() {
            // It has no result.
            let _ = thread.join();
        }
    }
}

/// Flows that send.
#[derive(Debug)]
pub struct Sending {
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Sending {
    /// Waits until their time is over.
    pub fn finish(mut self) -> Result<(), Error> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(sent)) => sent.map_err(Error::io("send")),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Its result was not asked for; its time is bounded.
            let _ = thread.join();
        }
    }
}

/// Does not wait, and forgets what it has not sent when it is closed.
fn open(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    set_socket_linger(&stream, Some(Duration::ZERO))?;
    Ok(stream)
}

/// Reads and forgets, until told to stop or all are closed.
fn read_all(mut streams: Vec<TcpStream>, is_stopped: &AtomicBool) {
    let mut buffer = vec![0; CHUNK];
    while !is_stopped.load(Ordering::Relaxed) && !streams.is_empty() {
        let Ok(ready) = ready(&streams, PollFlags::IN) else { return };
        // From the end, so that those before keep their places.
        for index in ready.into_iter().rev() {
            match (&streams[index]).read(&mut buffer) {
                Ok(1..) => {}
                Err(error) if is_wait(&error) => {}
                _ => drop(streams.swap_remove(index)),
            }
        }
    }
}

/// Waits a little until some can be read or written; which ones, in increasing order.
fn ready(streams: &[TcpStream], events: PollFlags) -> io::Result<Vec<usize>> {
    let mut asked: Vec<PollFd<'_>> = streams.iter().map(|stream| PollFd::new(stream, events)).collect();
    let time = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
    match poll(&mut asked, Some(&time)) {
        Err(Errno::INTR) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok((0..streams.len()).filter(|&index| !asked[index].revents().is_empty()).collect()),
    }
}

fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
