//! Frames with tags, sent whole.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use trueplane_limit::live::{Attached, Direction, attach, detach};
use trueplane_linux::testnet;
use trueplane_linux::testnet::Host;

use super::common::*;

/// A socket that sends whole frames by a device; to be made within its namespace.
fn frame_socket(device: &str) -> OwnedFd {
    let name = std::ffi::CString::new(device).unwrap();
    // SAFETY: the name is a C string; the descriptor is new and nobody else's; the address is of the type that bind expects.
    unsafe {
        let index = libc::if_nametoindex(name.as_ptr());
        let socket = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        assert!(index > 0 && socket >= 0, "{}", std::io::Error::last_os_error());
        let socket = OwnedFd::from_raw_fd(socket);
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = index as i32;
        let length = size_of::<libc::sockaddr_ll>() as u32;
        let status = libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length);
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
        socket
    }
}

fn send_frames(from: &Host, frames: &[Vec<u8>]) {
    let (device, frames) = (from.device.clone(), frames.to_vec());
    from.ns
        .run(move || {
            let socket = frame_socket(&device);
            for frame in &frames {
                // SAFETY: the buffer is as long as is said.
                let sent = unsafe { libc::send(socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
                // What a limit drops on the way out, the sender is told of.
                let error = std::io::Error::last_os_error();
                assert!(
                    sent == frame.len() as isize || error.raw_os_error() == Some(libc::ENOBUFS),
                    "{sent}: {error}"
                );
            }
        })
        .unwrap();
}

/// A broadcast frame with these tags.
fn frame(tags: &[(u16, u16)], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [[0xff; 6], [2, 0, 0, 0, 0, 9]].concat();
    tags.iter().for_each(|(tpid, tci)| frame.extend([tpid.to_be_bytes(), tci.to_be_bytes()].concat()));
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame.resize(frame.len().max(60), 0);
    frame
}

#[test]
fn tagged_frames_meet_their_class_and_those_of_no_class_pass() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    let text = "[[class]]\nname = 'lab'\nrate = '1kbps'\nburst = '170B'\nvlan = 100\n\
        [[class]]\nname = 'nine'\nrate = '1kbps'\nburst = '200B'\nsource = '10.9.0.0/16'\n";
    let mut ip = vec![0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 203, 1, 1];
    ip.resize(46, 0);
    let frames = [
        // Of the VLAN, whatever is within, and whatever the tag's priority.
        frame(&[(0x8100, 100)], 0x0800, &ip),
        frame(&[(0x88a8, 0x6064), (0x8100, 7)], 0x0800, &ip),
        frame(&[(0x8100, 100)], 0x0806, &[0; 28]),
        frame(&[(0x8100, 100)], 0x0800, &ip),
        // Of another VLAN, so by address.
        frame(&[(0x8100, 7), (0x8100, 100)], 0x0800, &ip),
        frame(&[], 0x0800, &ip),
        // ARP, a length, another protocol's type, an address of no class.
        frame(&[], 0x0806, &[0; 28]),
        frame(&[], 46, &[0; 46]),
        frame(&[], 0x88cc, &[0; 46]),
        frame(&[(0x8100, 7)], 0x86dd, &[0x60; 40]),
        frame(&[], 0x0800, &[0x45; 46]),
    ];
    for (mode, direction) in WAYS {
        attach(&device, &attachment(mode, direction, text)).unwrap();
        let attached = Attached::open(&device).unwrap();
        let from = if direction == Direction::Egress { &pair.left } else { &pair.right };
        send_frames(from, &frames);
        // Frames are 56 to 68 bytes: the first is drained by the time before it, two more fill the bucket.
        let found =
            [class(&attached, 0, 4), class(&attached, 1, 2), settled(|| attached.unclassified().unwrap(), 5)]
                .map(|counter| (counter.passed_packets, counter.dropped_packets));
        assert_eq!(found, [(3, 1), (2, 0), (5, 0)], "{mode:?} {direction:?}");
        detach(&device).unwrap();
    }
}
