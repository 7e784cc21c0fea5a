//! Packets from interfaces, already shared out to cores by the kernel.
//!
//! 1. [`Selector`]: the program in the kernel that chooses a core for every packet.
//! 2. `socket`: a core's packet socket on an interface: a ring that the kernel fills, and sending.
//! 3. `interface`: an interface with one socket for each core.
//! 4. `repair`: what the kernel leaves undone in a packet.
//! 5. `offloads`: what an interface does to packets before anybody sees them.
//!
//! The sockets of an interface are a group of which each packet reaches one member (`PACKET_FANOUT_EBPF`, packet(7)), so that the kernel sprays on
//! any interface without help from the card.

mod interface;
mod offloads;
mod repair;
mod selector;
mod socket;

pub(super) use interface::Interface;
pub(super) use repair::{complete, is_link_control, with_tag};
pub use selector::Selector;
pub(super) use socket::{Frame, Socket};
