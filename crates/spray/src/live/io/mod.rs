//! Packets from interfaces, already shared out to cores by the kernel.
//!
//! 1. [`Selector`]: the program in the kernel that chooses a core for every packet.
//! 2. `interface`: an interface with a way to and from each core.
//! 3. `port`: that way, whatever it is made of.
//! 4. `socket`: a packet socket: a ring that the kernel fills, and sending.
//! 5. `xdp`: AF_XDP sockets.
//! 6. `repair`: what the kernel leaves undone in a packet.
//! 7. `offloads`: what an interface does to packets before anybody sees them.
//! 8. `options`: options of sockets.
//!
//! Packet sockets of an interface are a group of which each packet reaches one member (`PACKET_FANOUT_EBPF`, packet(7)); of AF_XDP sockets the program
//! names one. Either way the kernel sprays on any interface without help from the card.

mod interface;
mod offloads;
mod options;
mod port;
mod repair;
mod selector;
mod socket;
mod xdp;

pub(super) use interface::{Interface, Opening};
pub use port::IoBackend;
pub(super) use port::Port;
pub(super) use repair::{complete, is_link_control, with_tag};
pub use selector::Selector;
pub(super) use socket::Frame;
pub use xdp::attach as attach_xdp;
