//! How many packets a second one core forwards: small ones, sent by the kernel from another core as fast as it can.

use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::time::Duration;

use libbpf_rs::libbpf_sys::BPF_F_TEST_XDP_LIVE_FRAMES;
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{OpenObject, ProgramInput};
use trueplane_linux::testnet::Spliced;
use trueplane_linux::{Device, Error as LiveError, clock, cores, privileges};
use trueplane_spray::Limits;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::live::io::{IoBackend, attach_xdp};
use trueplane_spray::live::run;
use trueplane_spray::live::run::start;
use trueplane_spray::nf::{FunctionName, FunctionOptions, parse_v4_prefix};
use trueplane_units::Nanos;

use self::skeleton::{FloodSkel, FloodSkelBuilder};
use crate::conduct::Error;

mod skeleton {
    // libbpf-cargo's code, not ours.
    #![allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::needless_pass_by_value,
        missing_docs,
        unused_imports,
        unused_qualifications,
        unreachable_pub
    )]
    include!(concat!(env!("OUT_DIR"), "/flood.skel.rs"));
}

/// Frames that the kernel sends at one request.
const REQUEST: u32 = 1 << 16;

/// Packet rates of one core.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    /// Packets that came to it, each second.
    pub offered_pps: f64,
    /// Packets that it forwarded, each second.
    pub forwarded_pps: f64,
}

/// Sends packets of 64 bytes through a function on one core, for so long; the other end drops them, for they are for nobody there.
///
/// # Errors
///
/// The network or the function cannot be set up, or packets are missing.
pub fn forward(backend: IoBackend, function: FunctionName, duration: Duration) -> Result<Forwarded, Error> {
    let net = Spliced::new()?;
    let allowed = cores::allowed();
    let [Some(&own), Some(&other)] = [allowed.first(), allowed.last()] else {
        return Err(LiveError::Request("expected a processor".into()).into());
    };
    let inner = net.as_device(Spliced::INNER);
    let mut object = MaybeUninit::uninit();
    let programs = load(&mut object)?;
    let pass = programs.progs.pass.as_fd();
    // An end of a veth pair takes frames from the test bench only where a program runs.
    let _pass = match backend {
        IoBackend::Packet => Some(inner.within(|| {
            attach_xdp(pass, inner.index()?).map_err(LiveError::io("attach a program that does nothing"))
        })?),
        IoBackend::Xdp => None,
    };
    let settings = run::Settings {
        function,
        cycles: 0,
        devices: [inner.clone(), net.as_device(Spliced::OUTER)],
        backend,
        cpus: vec![own],
        dispatch: DispatchName::of(PolicyName::Rss),
        limits: Limits::new(4096),
        // The kernel sends and receives in turns of milliseconds on the other core.
        ring_frames: 16384,
        seed: 1,
        realtime: false,
    };
    let mut options = FunctionOptions::default();
    // Both ends have private addresses; the left one alone is inside.
    options.nat.inside = parse_v4_prefix(&net.left.v4.to_string()).into_iter().collect();
    let run = start(&settings, &options)?;
    let device = Device { name: net.left.device.clone(), netns: None };
    let elapsed = net.left.ns.run(|| {
        cores::pin(other);
        send(&device, duration)
    })??;
    let counts = run.stop()?;
    counts.check().map_err(Error::Lost)?;
    let total = counts.total();
    let rate = |count: u64| count as f64 * 1e9 / elapsed.0.max(1) as f64;
    Ok(Forwarded { offered_pps: rate(total.offered[0]), forwarded_pps: rate(total.sent[1]) })
}

fn load(object: &mut MaybeUninit<OpenObject>) -> Result<FloodSkel<'_>, LiveError> {
    privileges::require("sending packets from the kernel")?;
    let refused = || LiveError::kernel("load the program that sends packets");
    FloodSkelBuilder::default().open(object).map_err(refused())?.load().map_err(refused())
}

/// Has the kernel send packets out of a device of this thread's namespace for so long; how long it took.
fn send(device: &Device, duration: Duration) -> Result<Nanos, LiveError> {
    let mut object = MaybeUninit::uninit();
    let programs = load(&mut object)?;
    let frame = frame();
    // The kernel's `struct xdp_md`: where the packet is, and by which interface it came.
    let mut context = [0u8; 24];
    context[4..8].copy_from_slice(&(frame.len() as u32).to_ne_bytes());
    context[12..16].copy_from_slice(&device.index()?.to_ne_bytes());
    let began = clock::monotonic();
    loop {
        let input = ProgramInput {
            data_in: Some(&frame),
            context_in: Some(&mut context),
            flags: BPF_F_TEST_XDP_LIVE_FRAMES,
            repeat: REQUEST,
            ..ProgramInput::default()
        };
        programs.progs.flood.test_run(input).map_err(LiveError::kernel("send packets"))?;
        let elapsed = clock::monotonic().since(began);
        if elapsed.0 >= duration.as_nanos() as u64 {
            return Ok(elapsed);
        }
    }
}

/// A UDP datagram without a checksum, 64 bytes with the card's own four, for an Ethernet address that nobody has.
fn frame() -> Vec<u8> {
    let mut frame = [&[2, 0, 0, 0, 0, 9][..], &[2, 0, 0, 0, 0, 8], &[8, 0, 0x45, 0]].concat();
    frame.extend(46u16.to_be_bytes());
    // The header's checksum, worked out for these addresses.
    frame.extend([0, 0, 0, 0, 64, 17, 0x61, 0x27, 10, 203, 2, 1, 10, 203, 2, 2]);
    frame.extend([4, 0, 0, 9, 0, 26, 0, 0]);
    frame.extend([0; 18]);
    frame
}
