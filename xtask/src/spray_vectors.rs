//! `vectors/spray/dispatch.json`: frames, and the core that each dispatch policy sends them to.
//!
//! The answers come from the Rust policies; the program in the kernel has to give the same ones. Frames are hexadecimal, and each policy has a
//! core for every frame, in their order. No kernel runs a program on a frame of less than 14 bytes, so a replay there leaves those out.

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_spray::dispatch::{Arrival, DispatchName, DispatchOptions, PolicyName, dispatcher};
use trueplane_spray::packet::headers::{Link, MAX_EXTENSIONS};
use trueplane_spray::{Dispatch, Packet};
use trueplane_units::Nanos;

/// Policies whose answer depends on the frame alone, or on its number.
const POLICIES: [DispatchName; 7] = [
    DispatchName::of(PolicyName::Rss),
    DispatchName::of(PolicyName::RssDefault),
    DispatchName::of(PolicyName::Spray),
    DispatchName::of(PolicyName::RoundRobin),
    DispatchName::subset(1),
    DispatchName::subset(2),
    DispatchName::subset(5),
];

const CORES: [usize; 6] = [1, 2, 3, 8, 12, 128];

/// The whole file.
pub(crate) fn dispatch_vectors() -> String {
    let frames = frames();
    let arrivals: Vec<Arrival> =
        frames.iter().map(|frame| Arrival::of(&Packet::new(frame.clone(), Link::Ethernet))).collect();
    let hex = |frame: &Vec<u8>| {
        format!("  \"{}\"", frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let mut cases = Vec::new();
    for name in POLICIES {
        for cores in CORES {
            let mut policy = dispatcher(name, cores, &DispatchOptions::default());
            let answers: Vec<String> =
                arrivals.iter().map(|arrival| policy.core(arrival, Nanos(0)).to_string()).collect();
            cases.push(format!(
                "  {{\"dispatch\": \"{name}\", \"cores\": {cores}, \"by_frame\": [{}]}}",
                answers.join(", ")
            ));
        }
    }
    let frames = frames.iter().map(hex).collect::<Vec<_>>().join(",\n");
    format!("{{\n\"frames\": [\n{frames}\n],\n\"cases\": [\n{}\n]\n}}\n", cases.join(",\n"))
}

/// Frames of all kinds, whole, cut short, and with bytes that are wrong.
fn frames() -> Vec<Vec<u8>> {
    let random = &mut Xoshiro256StarStar::seed_from_u64(9);
    let mut frames = Vec::new();
    for protocol in [6, 17, 1, 47] {
        for options in [0, 3] {
            for fragment in [0, 0x4000, 0x2000, 0x2001, 0x0007, 0x8000] {
                frames.push(ethernet(&[], 0x0800, &ipv4(random, protocol, options, fragment)));
            }
        }
    }
    for protocol in [6, 17, 58] {
        for extensions in [
            &[][..],
            &[0],
            &[60, 43],
            &[51],
            &[44],
            &[0, 60, 43, 51, 44],
            &[60; MAX_EXTENSIONS],
            &[60; MAX_EXTENSIONS + 1],
            &[60; MAX_EXTENSIONS + 2],
        ] {
            for fragment in [0, 1, 8] {
                frames.push(ethernet(&[], 0x86dd, &ipv6(random, protocol, extensions, fragment)));
            }
        }
    }
    for tags in [&[0x8100][..], &[0x88a8, 0x8100], &[0x9100], &[0x8100; 3]] {
        frames.push(ethernet(tags, 0x0800, &ipv4(random, 6, 0, 0)));
        frames.push(ethernet(tags, 0x86dd, &ipv6(random, 17, &[], 0)));
    }
    // What is not IP, and what says that it is.
    for kind in [0x0806, 0x0026, 0x8847, 0x88cc] {
        frames.push(ethernet(&[], kind, &ipv4(random, 6, 0, 0)));
    }
    frames.push(ethernet(&[], 0x0800, &ipv6(random, 6, &[], 0)));
    frames.push(ethernet(&[], 0x86dd, &ipv4(random, 6, 0, 0)));
    let whole = frames.clone();
    // Lengths that are zero, too small, too large.
    for length in [0u16, 19, 20, 28, 39, 40, 60_000] {
        let mut four = ethernet(&[], 0x0800, &ipv4(random, 6, 0, 0));
        four[16..18].copy_from_slice(&length.to_be_bytes());
        let mut six = ethernet(&[], 0x86dd, &ipv6(random, 17, &[0], 0));
        six[18..20].copy_from_slice(&length.to_be_bytes());
        frames.extend([four, six]);
    }
    for _ in 0..200 {
        let mut frame = whole[random.next_u32() as usize % whole.len()].clone();
        match random.next_u32() % 3 {
            0 => frame.truncate(14 + random.next_u32() as usize % (frame.len() - 13)),
            1 => frame.extend((0..random.next_u32() % 9).map(|_| 0)),
            _ => {}
        }
        if random.next_u32().is_multiple_of(2) && frame.len() > 14 {
            let at = 12 + random.next_u32() as usize % (frame.len() - 12).min(44);
            frame[at] ^= 1 << (random.next_u32() % 8);
        }
        frames.push(frame);
    }
    frames.extend([vec![], vec![0; 13], vec![0; 14]]);
    frames
}

fn bytes<const LENGTH: usize>(random: &mut Xoshiro256StarStar) -> [u8; LENGTH] {
    std::array::from_fn(|_| random.next_u32() as u8)
}

fn ethernet(tags: &[u16], kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    for (number, tag) in (1u16..).zip(tags) {
        frame.extend(tag.to_be_bytes());
        frame.extend(number.to_be_bytes());
    }
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Something of every protocol: random, but for what says how long TCP's header is.
fn transport(random: &mut Xoshiro256StarStar) -> Vec<u8> {
    let mut header = bytes::<20>(random);
    header[12] = 5 << 4;
    let more = random.next_u32() as usize % 20;
    header.into_iter().chain((0..more).map(|_| 7)).collect()
}

fn ipv4(random: &mut Xoshiro256StarStar, protocol: u8, options: usize, fragment: u16) -> Vec<u8> {
    let behind = transport(random);
    let total = (20 + 4 * options + behind.len()) as u16;
    let mut header = vec![0x40 | (5 + options as u8), 0];
    header.extend(total.to_be_bytes());
    header.extend([0, 0]);
    header.extend(fragment.to_be_bytes());
    header.extend([64, protocol, 0, 0]);
    header.extend(bytes::<8>(random));
    header.extend(std::iter::repeat_n(1, 4 * options));
    header.extend(behind);
    header
}

/// With these extension headers; a fragment header says `fragment`.
fn ipv6(random: &mut Xoshiro256StarStar, protocol: u8, extensions: &[u8], fragment: u16) -> Vec<u8> {
    let behind = transport(random);
    let mut payload = Vec::new();
    for (index, &kind) in extensions.iter().enumerate() {
        let next = extensions.get(index + 1).copied().unwrap_or(protocol);
        match kind {
            44 => {
                payload.extend([next, 0]);
                payload.extend(fragment.to_be_bytes());
                payload.extend([0; 4]);
            }
            // A length in words of four bytes, less two; and in words of eight, less one.
            51 => payload.extend([next, 2].into_iter().chain([0; 14])),
            _ => payload.extend([next, 1].into_iter().chain([0; 14])),
        }
    }
    payload.extend(behind);
    let mut header = vec![0x60, 0, 0, 0];
    header.extend((payload.len() as u16).to_be_bytes());
    header.extend([extensions.first().copied().unwrap_or(protocol), 64]);
    header.extend(bytes::<32>(random));
    header.extend(payload);
    header
}
