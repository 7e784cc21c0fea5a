//! Our DCTCP in the running kernel: it registers, it carries connections, it echoes marks exactly and gives way to them.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, TC_EGRESS, TcHookBuilder};
use trueplane_experiments::dctcp;
use trueplane_experiments::dctcp::Dctcp;
use trueplane_linux::testnet;
use trueplane_linux::testnet::{Bottleneck, Dumbbell, Iperf, IperfReport, Options, Requirement};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::{check, in_some_try};

/// The program that marks, `bpf/testmark.bpf.c`.
mod testmark {
    #![allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::pedantic,
        missing_docs,
        unreachable_pub,
        unused_qualifications,
        rust_2018_idioms
    )]
    include!(concat!(env!("OUT_DIR"), "/testmark.skel.rs"));
}

const NEEDS: [Requirement; 5] =
    [Requirement::Iperf3, Requirement::Tc, Requirement::Ethtool, Requirement::Bpf, Requirement::StructOps];

/// One tenant. Without offloads a packet is a segment, and an ACK that comes after a later one echoes nothing: marks can be counted.
fn network() -> Option<Dumbbell> {
    let options = Options { offloads: false, in_order: true, ..Options::default() };
    testnet::start(&NEEDS, || Dumbbell::with(1, options))
}

/// A BPF file system of the test's own.
struct BpfFs(PathBuf);

impl BpfFs {
    fn mount() -> Self {
        let folder = std::env::temp_dir().join(format!("trueplane-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(Command::new("mount").args(["-t", "bpf", "none"]).arg(&folder).status().unwrap().success());
        Self(folder)
    }
}

impl Drop for BpfFs {
    fn drop(&mut self) {
        // Best effort: what is left is an empty folder.
        let _ = Command::new("umount").arg(&self.0).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn it_stays_registered_for_as_long_as_it_is_held_or_pinned() {
    let _together = testnet::together();
    let Some(()) = testnet::start(&NEEDS, || Ok(())) else { return };
    let name = format!("tp_pin_{}", std::process::id());
    let is_there = || dctcp::is_registered(&name).unwrap();
    let held = Dctcp::register_as(&name).unwrap();
    assert!(is_there());
    let again = Dctcp::register_as(&name).unwrap_err().to_string();
    assert_eq!(again, format!("a congestion control {name} is already registered"));
    // A process that has forked holds a copy of every descriptor until it calls exec. This one never does.
    // SAFETY: the child only waits for a signal, which it may do in a process of many threads.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            // SAFETY: it has no arguments.
            unsafe { libc::pause() };
        }
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    drop(held);
    let is_left = is_there();
    // SAFETY: the child is ours, and nobody else waits for it.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    assert!(!is_left);

    let files = BpfFs::mount();
    let path = files.0.join("dctcp");
    Dctcp::register_as(&name).unwrap().pin(&path).unwrap();
    assert!(is_there());
    dctcp::unregister(&path).unwrap();
    assert!(!is_there() && !path.exists());
    assert!(dctcp::unregister(&path).is_err());
    assert!(dctcp::unregister(Path::new("/nowhere")).is_err());
}

#[test]
fn names_that_the_kernel_would_not_take_are_refused() {
    for bad in ["", "a b", "a\0b", "sixteen_letters_"] {
        let error = Dctcp::register_as(bad).unwrap_err().to_string();
        assert!(error.starts_with("expected a name"), "{error}");
    }
}

#[test]
fn a_connection_runs_with_it_through_a_bottleneck() {
    let _alone = testnet::alone();
    in_some_try(|| {
        let Some(net) = network() else { return Ok(()) };
        let control = dctcp::shared().unwrap();
        let bottleneck =
            Bottleneck { rate: BitsPerSec(200_000_000), burst: Bytes(20_000), queue: Nanos(20_000_000) };
        net.router.set_bottleneck(&net.router.toward_sink, bottleneck).unwrap();
        let run = Iperf::tcp(2).congestion(control.name()).start(&net.tenants[0], &net.sink).unwrap();
        thread::sleep(Duration::from_millis(500));
        let hosts = [&net.tenants[0], &net.sink];
        let sockets = hosts.map(|host| host.ns.output(&["ss", "-tin"]).unwrap());
        let report = run.finish().unwrap();
        eprintln!("{} with {} retransmits", report.goodput, report.retransmits);
        assert_eq!(report.congestion.as_deref(), Some(control.name()));
        let all_have_it = sockets.iter().all(|sockets| sockets.contains(control.name()));
        check(all_have_it, || sockets.join("\n"))?;
        // Without marks there is only loss to obey, as Reno does.
        check(report.goodput.0 > 100_000_000, || format!("{report:?}"))
    });
}

#[test]
fn a_connection_without_ecn_is_handed_to_reno() {
    let _together = testnet::together();
    let Some(net) = network() else { return };
    let control = dctcp::shared().unwrap();
    let here = SocketAddr::from((net.sink.v4, 0));
    let listener = net.sink.ns.run(|| TcpListener::bind(here)).unwrap().unwrap();
    let there = listener.local_addr().unwrap();
    let connect = || TcpStream::connect_timeout(&there, Duration::from_secs(5));
    // The connection stands, without ECN, before DCTCP is chosen.
    let connection = net.tenants[0].ns.run(connect).unwrap().unwrap();
    assert_eq!(choose_congestion(&connection, control.name()), "reno");
}

/// Sets `TCP_CONGESTION`; what it is thereafter.
fn choose_congestion(connection: &TcpStream, name: &str) -> String {
    let (socket, mut buffer) = (connection.as_raw_fd(), [0u8; 16]);
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: both calls are told the lengths of the buffers, which live longer than they do.
    let status = unsafe {
        let set = name.len() as libc::socklen_t;
        libc::setsockopt(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_ptr().cast(), set)
            | libc::getsockopt(
                socket,
                libc::IPPROTO_TCP,
                libc::TCP_CONGESTION,
                buffer.as_mut_ptr().cast(),
                &raw mut length,
            )
    };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    String::from_utf8_lossy(&buffer).trim_end_matches('\0').to_owned()
}

/// What `ss` tells of the connection that has delivered the most, which carries the data.
struct Sender {
    /// `delivered_ce` ÷ `delivered`: the share of packets whose ACKs echoed a mark.
    echoed: f64,
    /// The congestion window, in packets.
    cwnd: u64,
}

impl Sender {
    fn of(sockets: &str) -> Result<Self, String> {
        let value = |line: &str, key: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(key)?.parse::<u64>().ok()).unwrap_or(0)
        };
        let line = sockets.lines().max_by_key(|line| value(line, "delivered:")).unwrap();
        let delivered = value(line, "delivered:");
        check(delivered > 100, || format!("no connection has sent much yet: {sockets}"))?;
        let echoed = value(line, "delivered_ce:") as f64 / delivered as f64;
        Ok(Self { echoed, cwnd: value(line, "cwnd:") })
    }
}

/// A run while one in `one_in` packets is marked, and its sender shortly before the end.
fn run_marked(one_in: u32) -> Result<(IperfReport, Sender), String> {
    let net = network().unwrap();
    let control = dctcp::shared().unwrap();
    let mut object = MaybeUninit::<OpenObject>::uninit();
    let mut open = testmark::TestmarkSkelBuilder::default().open(&mut object).unwrap();
    open.maps.bss_data.as_mut().unwrap().one_in = one_in;
    let marker = open.load().unwrap();
    let device = CString::new(net.router.toward_sink.as_str()).unwrap();
    let program = marker.progs.mark.as_fd();
    let attach = move || {
        // SAFETY: the name is a C string.
        let index = unsafe { libc::if_nametoindex(device.as_ptr()) };
        let mut hook = TcHookBuilder::new(program).ifindex(index as i32).hook(TC_EGRESS);
        // It goes with the namespace.
        hook.create().and_then(|mut hook| hook.attach()).map(drop)
    };
    net.router.ns.run(attach).unwrap().unwrap();

    let run = Iperf::tcp(2).congestion(control.name()).start(&net.tenants[0], &net.sink).unwrap();
    thread::sleep(Duration::from_millis(1500));
    let sockets = net.tenants[0].ns.output(&["ss", "-tin"]).unwrap();
    let report = run.finish().unwrap();
    let marked = marker.maps.bss_data.as_ref().unwrap().marked;
    assert_eq!(marked > 0, one_in > 0);
    Ok((report, Sender::of(&sockets)?))
}

#[test]
fn marks_are_echoed_one_by_one_and_slow_it_down() {
    let _alone = testnet::alone();
    if testnet::check(&NEEDS).is_err() {
        // Says so.
        let _ = network();
        return;
    }
    in_some_try(|| {
        let run = |one_in| {
            let (report, sender) = run_marked(one_in)?;
            let (goodput, lost, share) = (report.goodput, report.retransmits, sender.echoed * 100.0);
            eprintln!("{goodput} with {share:.2}% echoed, window {}, {lost} retransmits", sender.cwnd);
            Ok::<_, String>(sender)
        };
        let (free, some, slow) = (run(0)?, run(10)?, run(1)?);
        assert_eq!(free.echoed, 0.0);
        // Plain ECN echoes on until it hears that the window was cut: several times as many.
        check((0.09..0.12).contains(&some.echoed), || format!("a tenth is marked, {} echoed", some.echoed))?;
        check(slow.echoed > 0.95, || format!("everything is marked, {} echoed", slow.echoed))?;
        // Windows, for goodput depends on what else the machine does. A cut of a twentieth in nearly every round trip that
        // adds a packet makes twenty; where everything is marked, the least is left.
        check(some.cwnd < 60, || format!("a tenth is marked, the window is {}", some.cwnd))?;
        check(slow.cwnd <= 4, || format!("everything is marked, the window is {}", slow.cwnd))
    });
}
