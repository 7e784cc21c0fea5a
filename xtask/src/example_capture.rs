//! `examples/tenants.pcap`: a second of traffic of tenants, for `trueplane limit replay` with `examples/classes.toml`.
//!
//! Headers only, as `tcpdump -s 54` would keep them: a packet's length is in its record. Two tenants send more than their classes let through, two less.

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A tenant's server: its address, how much it sends, and through how many connections.
struct Sender {
    address: [u8; 4],
    megabits_per_second: u64,
    connections: u64,
}

const SENDERS: [Sender; 4] = [
    Sender { address: [10, 1, 128, 5], megabits_per_second: 16, connections: 40 },
    Sender { address: [10, 1, 3, 7], megabits_per_second: 8, connections: 4 },
    Sender { address: [192, 168, 7, 20], megabits_per_second: 30, connections: 1 },
    Sender { address: [192, 168, 9, 11], megabits_per_second: 4, connections: 1 },
];

/// Ethernet, IPv4 and TCP without options.
const CAPTURED_BYTES: usize = 14 + 20 + 20;
const FRAME_BYTES: u16 = 1514;
const SERVER: [u8; 4] = [203, 0, 113, 9];
/// 2026-01-01 00:00:00 UTC.
const BEGIN_S: u32 = 1_767_225_600;

/// The whole file: pcap with microseconds, in the order of time.
pub(crate) fn tenants_capture() -> Vec<u8> {
    let mut random = Xoshiro256StarStar::seed_from_u64(1);
    let mut packets: Vec<(u32, usize, u16)> = Vec::new();
    for (index, sender) in SENDERS.iter().enumerate() {
        let gap_us = u64::from(FRAME_BYTES) * 8 / sender.megabits_per_second;
        let mut at = random.next_u64() % gap_us;
        while at < 1_000_000 {
            let port = 40_000 + (random.next_u64() % sender.connections) as u16;
            packets.push((at as u32, index, port));
            // Half of the gap to one and a half of it.
            at += gap_us / 2 + random.next_u64() % gap_us;
        }
    }
    packets.sort_unstable();

    let mut file = Vec::new();
    // Magic number, version 2.4, no time zone, no accuracy, snapshot length, Ethernet.
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, CAPTURED_BYTES as u32, 1] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    for (at_us, sender, port) in packets {
        for word in [BEGIN_S, at_us, CAPTURED_BYTES as u32, u32::from(FRAME_BYTES)] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(&headers(SENDERS[sender].address, port));
    }
    file
}

/// The headers of a full segment to the server's port 443.
fn headers(source: [u8; 4], port: u16) -> [u8; CAPTURED_BYTES] {
    let mut frame = [0; CAPTURED_BYTES];
    // Locally administered addresses, and the type of IPv4.
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
    let ip = &mut frame[14..34];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&(FRAME_BYTES - 14).to_be_bytes());
    // Do not fragment; a time to live of 64; TCP.
    (ip[6], ip[8], ip[9]) = (0x40, 64, 6);
    ip[12..16].copy_from_slice(&source);
    ip[16..20].copy_from_slice(&SERVER);
    let sum = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let tcp = &mut frame[34..];
    tcp[..2].copy_from_slice(&port.to_be_bytes());
    tcp[2..4].copy_from_slice(&443_u16.to_be_bytes());
    // Twenty bytes of header; ACK; a window.
    (tcp[12], tcp[13], tcp[14]) = (0x50, 0x10, 0xff);
    frame
}
