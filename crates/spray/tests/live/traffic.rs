//! Network functions between real interfaces, with real clients on both sides.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::FromRawFd as _;
use std::thread;
use std::time::Duration;

use trueplane_linux::testnet::{Iperf, Requirement, Spliced};
use trueplane_linux::{cores, testnet};
use trueplane_spray::Limits;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::live::run::{IoBackend, Run, Settings, Snapshot, start};
use trueplane_spray::nf::{Backend, FunctionName, FunctionOptions, Rules, parse_v4_prefix};

/// Whatever takes longer is taken for lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// The address that the NAT gives to those inside.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// What a run under test costs each packet: nothing but the function itself.
const NO_WORK: u64 = 0;

fn network() -> Option<Spliced> {
    testnet::start(&[Requirement::Bpf, Requirement::Ethtool], Spliced::new)
}

fn settings(net: &Spliced, function: FunctionName, dispatch: DispatchName, cores: usize) -> Settings {
    let allowed = cores::allowed();
    Settings {
        function,
        cycles: NO_WORK,
        devices: [net.as_device(Spliced::INNER), net.as_device(Spliced::OUTER)],
        backend: IoBackend::Packet,
        cpus: (0..cores).map(|core| allowed[core % allowed.len()]).collect(),
        dispatch,
        limits: Limits::new(4096),
        ring_frames: 1024,
        seed: 7,
        realtime: false,
    }
}

/// A NAT for the left host alone: the right one has a private address, too.
fn nat_options(net: &Spliced) -> FunctionOptions {
    let mut options = FunctionOptions::default();
    options.nat.inside = vec![parse_v4_prefix(&net.left.v4.to_string()).expect("an address")];
    options
}

fn firewall_options(rules: &str) -> FunctionOptions {
    FunctionOptions { rules: Rules::parse("rules", rules).expect("rules"), ..FunctionOptions::default() }
}

fn begin(net: &Spliced, settings: &Settings, options: &FunctionOptions) -> Run {
    net.set_route_to_left(&PUBLIC.to_string()).unwrap();
    start(settings, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Ends a run, and nothing may be missing.
fn end(run: Run) -> Snapshot {
    let counts = run.stop().unwrap();
    counts.check().unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(counts.total().unsent, 0, "{counts:?}");
    counts
}

/// Serves connections on the right host until one says nothing: what a client sends comes back with the address that it has here.
fn serve(net: &Spliced, connections: usize) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = net.right.ns.run(|| TcpListener::bind((net.right.v4, 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let body = move || {
        for _ in 0..connections {
            let Ok((mut stream, peer)) = listener.accept() else { return };
            thread::spawn(move || {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let answer = format!("{} {}", peer.ip(), text.trim_end());
                    if stream.write_all(format!("{answer}\n").as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    };
    (address, thread::spawn(body))
}

/// One request and its answer.
fn request(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(format!("{text}\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\n") {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).unwrap();
        assert!(length > 0, "closed");
        answer.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8(answer).unwrap().trim_end().to_owned()
}

fn connect(net: &Spliced, to: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = net.left.ns.run(move || TcpStream::connect_timeout(&to, PATIENCE)).unwrap()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[test]
fn clients_behind_a_nat_are_served_under_every_policy() {
    let _together = testnet::together();
    serve_clients_behind_a_nat(IoBackend::Packet);
}

#[test]
fn clients_behind_a_nat_are_served_under_every_policy_over_af_xdp() {
    let _together = testnet::together();
    serve_clients_behind_a_nat(IoBackend::Xdp);
}

fn serve_clients_behind_a_nat(backend: IoBackend) {
    let Some(net) = network() else { return };
    // On interfaces there are no flowlets.
    for dispatch in DispatchName::all().filter(|name| *name != DispatchName::of(PolicyName::Flowlet)) {
        let settings = Settings { backend, ..settings(&net, FunctionName::Nat, dispatch, 3) };
        let mut run = begin(&net, &settings, &nat_options(&net));
        let (address, server) = serve(&net, 12);
        for connection in 0..12 {
            let mut stream = connect(&net, address).unwrap();
            for number in 0..20 {
                let text = format!("{connection}/{number}");
                assert_eq!(request(&mut stream, &text), format!("{PUBLIC} {text}"), "{dispatch}");
                run.tend().unwrap();
            }
        }
        server.join().unwrap();
        let total = end(run).total();
        // A handshake, and 20 requests with their answers, each at least.
        assert!(total.forwarded >= 12 * 42, "{dispatch}: {total:?}");
        // Over AF_XDP, one right checksum in 65536 looks like one of the pseudo header only.
        let by_chance = if backend == IoBackend::Xdp { 3 } else { 0 };
        assert!(total.cut == 0 && total.partial <= by_chance, "{dispatch}: {total:?}");
    }
}

#[test]
fn one_flow_uses_every_core_when_sprayed_and_one_when_hashed() {
    let _alone = testnet::alone();
    let Some(net) =
        testnet::start(&[Requirement::Bpf, Requirement::Ethtool, Requirement::Iperf3], Spliced::new)
    else {
        return;
    };
    for (backend, dispatch, is_sprayed) in [
        (IoBackend::Packet, DispatchName::of(PolicyName::Rss), false),
        (IoBackend::Packet, DispatchName::of(PolicyName::Spray), true),
        (IoBackend::Xdp, DispatchName::of(PolicyName::Rss), false),
        (IoBackend::Xdp, DispatchName::of(PolicyName::Spray), true),
    ] {
        let settings = Settings { backend, ..settings(&net, FunctionName::Nat, dispatch, 2) };
        let run = begin(&net, &settings, &nat_options(&net));
        let report = Iperf::tcp(1).run(&net.left, &net.right).unwrap();
        let counts = end(run);
        assert!(report.goodput.0 > 1_000_000, "{dispatch}: {report:?}");
        // Data comes by the inner interface. iperf3's control connection is a few packets.
        let data: Vec<u64> = counts.cores.iter().map(|core| core.received[0]).collect();
        let (least, most) = (data[0].min(data[1]), data[0].max(data[1]));
        eprintln!("{backend} {dispatch}: {} with packets {data:?}", report.goodput);
        if is_sprayed {
            assert!(least * 3 > most, "{data:?}");
        } else {
            assert!(least * 20 < most, "{data:?}");
        }
    }
}

/// Asks the right host for an echo (RFC 792) and waits for it.
fn echo(net: &Spliced, identifier: u16, number: u16) {
    let mut question = vec![8, 0, 0, 0];
    question.extend(identifier.to_be_bytes());
    question.extend(number.to_be_bytes());
    let sum: u32 = question.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    question[2..4].copy_from_slice(&checksum.to_be_bytes());
    let open = || {
        // SAFETY: the call takes numbers only.
        let fd =
            unsafe { libc::socket(libc::AF_INET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::IPPROTO_ICMP) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the descriptor was just opened; what sends and receives datagrams does so with packets as well.
        unsafe { UdpSocket::from_raw_fd(fd) }
    };
    let socket = net.left.ns.run(open).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&question, (net.right.v4, 0)).unwrap();
    let answer = [&[0, 0][..], &question[4..]].concat();
    loop {
        let mut buffer = [0; 200];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        // Behind the IP header: the answer with its own identifier, and its checksum between.
        let message = &buffer[20..length];
        if [&message[..2], &message[4..]].concat() == answer {
            return assert_eq!(from.ip(), net.right.v4);
        }
    }
}

#[test]
fn datagrams_and_echoes_and_errors_are_translated() {
    let _together = testnet::together();
    translate(IoBackend::Packet);
    translate(IoBackend::Xdp);
}

fn translate(backend: IoBackend) {
    let Some(net) = network() else { return };
    let settings =
        Settings { backend, ..settings(&net, FunctionName::Nat, DispatchName::of(PolicyName::Spray), 2) };
    let run = begin(&net, &settings, &nat_options(&net));
    // Datagrams come from the public address, and answers come back.
    let inside = net.left.ns.run(|| UdpSocket::bind((net.left.v4, 0))).unwrap().unwrap();
    let outside = net.right.ns.run(|| UdpSocket::bind((net.right.v4, 0))).unwrap().unwrap();
    inside.set_read_timeout(Some(PATIENCE)).unwrap();
    outside.set_read_timeout(Some(PATIENCE)).unwrap();
    for number in 0..50u8 {
        inside.send_to(&[number; 100], outside.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 200];
        let (length, from) = outside.recv_from(&mut buffer).unwrap();
        assert_eq!((from.ip(), &buffer[..length]), (PUBLIC.into(), &[number; 100][..]));
        outside.send_to(&[number; 9], from).unwrap();
        assert_eq!(inside.recv_from(&mut buffer).unwrap(), (9, outside.local_addr().unwrap()));
    }
    for number in 1..=5 {
        echo(&net, 4242, number);
    }
    // Nobody listens on this port: the error names it, and the socket it is for hears of it.
    let closed = SocketAddr::from((net.right.v4, 9));
    let asking = net.left.ns.run(move || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    asking.connect(closed).unwrap();
    asking.set_read_timeout(Some(PATIENCE)).unwrap();
    asking.send(&[1]).unwrap();
    let refused = asking.recv(&mut [0; 9]).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    end(run);
}

#[test]
fn a_firewall_blocks_what_it_must_and_connections_outlive_its_rules() {
    let _together = testnet::together();
    block(IoBackend::Packet);
    block(IoBackend::Xdp);
}

fn block(backend: IoBackend) {
    let Some(net) = network() else { return };
    let (address, server) = serve(&net, 2);
    let (other, _) = serve(&net, 1);
    let rules = |port: u16| firewall_options(&format!("allow tcp from any to any:{port}\ndefault deny\n"));
    let mut settings = settings(&net, FunctionName::Firewall, DispatchName::of(PolicyName::Spray), 2);
    settings.backend = backend;
    let mut run = begin(&net, &settings, &rules(address.port()));
    let mut stream = connect(&net, address).unwrap();
    let left = net.left.v4;
    assert_eq!(request(&mut stream, "allowed"), format!("{left} allowed"));
    let try_connect = |to: SocketAddr| {
        let brief = Duration::from_millis(300);
        net.left.ns.run(move || TcpStream::connect_timeout(&to, brief)).unwrap()
    };
    try_connect(other).expect_err("blocked");
    // The other way round: the old connection stays, new ones are blocked.
    run.reload(&rules(other.port())).unwrap();
    for number in 0..200 {
        let text = format!("after {number}");
        assert_eq!(request(&mut stream, &text), format!("{left} {text}"));
    }
    try_connect(address).expect_err("blocked");
    let mut second = connect(&net, other).unwrap();
    assert_eq!(request(&mut second, "now"), format!("{left} now"));
    drop((stream, second));
    let counts = end(run);
    assert_eq!(counts.reloads, 1);
    assert!(counts.total().dropped.iter().sum::<u64>() > 0);
    // Whoever still waits for a connection gets none.
    drop(server);
}

#[test]
fn a_balancer_sends_clients_elsewhere_when_a_backend_goes_down() {
    let _together = testnet::together();
    let Some(net) = network() else { return };
    let (backend, _) = serve(&net, 9);
    let service = SocketAddr::from(([198, 51, 100, 1], 80));
    net.set_route_to_right(&service.ip().to_string()).unwrap();
    let mut options = FunctionOptions::default();
    options.balancer.service = service;
    let gone = SocketAddr::from((net.right.v4, 1));
    let of = |address, up| Backend { address, weight: 1, up };
    options.balancer.backends = vec![of(backend, true), of(gone, false)];
    let settings = settings(&net, FunctionName::Balancer, DispatchName::of(PolicyName::Spray), 2);
    let mut run = begin(&net, &settings, &options);
    for _ in 0..4 {
        let mut stream = connect(&net, service).unwrap();
        assert_eq!(request(&mut stream, "up"), format!("{} up", net.left.v4));
    }
    // Now the one where nobody listens: all are refused by it.
    options.balancer.backends = vec![of(backend, false), of(gone, true)];
    run.reload(&options).unwrap();
    // Until every core has it, which takes a batch, the other one may answer.
    let mut tries = std::iter::repeat_with(|| connect(&net, service)).take(500);
    let refused = tries.find_map(|connected| {
        thread::sleep(Duration::from_millis(10));
        connected.err()
    });
    let refused = refused.expect("the backend that is down no longer answers");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    options.balancer.backends.truncate(0);
    assert!(run.reload(&options).is_err(), "a balancer without backends");
    end(run);
}

#[test]
fn what_is_not_there_or_does_not_fit_is_refused_and_nothing_is_left_behind() {
    let _together = testnet::together();
    let Some(net) = network() else { return };
    let good = settings(&net, FunctionName::Synthetic, DispatchName::of(PolicyName::Spray), 2);
    let refused = |settings: &Settings| {
        start(settings, &FunctionOptions::default()).err().map(|error| error.to_string())
    };
    let dpi = Settings { function: FunctionName::Dpi, ..good.clone() };
    let why = refused(&dpi).expect("a function that needs whole flows");
    assert!(why.starts_with("dpi cannot be run with spray: "), "{why}");
    assert!(refused(&Settings { dispatch: DispatchName::of(PolicyName::Rss), ..dpi }).is_none());
    let mut nowhere = good.clone();
    nowhere.devices[1].name = "nowhere".to_owned();
    assert!(refused(&nowhere).is_some_and(|why| why.contains("there is no network device nowhere")));
    let twice = Settings { devices: [good.devices[0].clone(), good.devices[0].clone()], ..good.clone() };
    assert!(refused(&twice).is_some());
    assert!(refused(&Settings { ring_frames: 1000, ..good.clone() }).is_some());
    assert!(refused(&Settings { dispatch: DispatchName::of(PolicyName::Flowlet), ..good.clone() }).is_some());
    // Dropped without being stopped, it goes as well: sockets, and what they changed of the interfaces.
    for backend in [IoBackend::Packet, IoBackend::Xdp] {
        let run = start(&Settings { backend, ..good.clone() }, &FunctionOptions::default()).unwrap();
        let told = || net.middle.ip(&["-d", "link", "show", Spliced::INNER]).unwrap();
        assert_eq!(told().contains("prog/xdp"), backend == IoBackend::Xdp, "{}", told());
        assert!(told().contains("promiscuity 1"), "{}", told());
        drop(run);
        // A command that another test starts has all descriptors of this process for a moment.
        let left = || {
            let sockets = || std::fs::read_to_string("/proc/thread-self/net/packet");
            let sockets = net.middle.run(sockets).unwrap().unwrap();
            let links = net.middle.ip(&["-d", "link", "show"]).unwrap();
            let is_left =
                sockets.lines().count() > 1 || links.contains("promiscuity 1") || links.contains("prog/xdp");
            is_left.then_some((sockets, links))
        };
        let gone = (0..100).any(|_| {
            let is_gone = left().is_none();
            if !is_gone {
                thread::sleep(Duration::from_millis(50));
            }
            is_gone
        });
        assert!(gone, "{:?}", left());
    }
    // Pages are what AF_XDP has for packets.
    for device in [Spliced::INNER, Spliced::OUTER] {
        net.middle.ip(&["link", "set", device, "mtu", "9000"]).unwrap();
    }
    let why = refused(&Settings { backend: IoBackend::Xdp, ..good }).expect("frames that are too long");
    assert!(why.contains("there are no frames for an MTU of 9000"), "{why}");
}

#[test]
fn checksums_that_a_sender_left_to_its_card_are_completed() {
    let _together = testnet::together();
    let Some(net) = network() else { return };
    net.left.ns.output(&["ethtool", "-K", &net.left.device, "tx", "on"]).unwrap();
    for backend in [IoBackend::Packet, IoBackend::Xdp] {
        let settings =
            Settings { backend, ..settings(&net, FunctionName::Nat, DispatchName::of(PolicyName::Rss), 2) };
        let run = begin(&net, &settings, &nat_options(&net));
        let (address, server) = serve(&net, 1);
        let mut stream = connect(&net, address).unwrap();
        for number in 0..20 {
            assert_eq!(request(&mut stream, &number.to_string()), format!("{PUBLIC} {number}"));
        }
        server.join().unwrap();
        assert!(end(run).total().partial > 20, "{backend}");
    }
}
