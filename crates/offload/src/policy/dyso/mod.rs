//! DySO: a table of registers that control packets rewrite at the speed of the data path.
//!
//! A match-action table with cuckoo hashing is rewritten by the switch's CPU, an entry at a time. DySO's table has one place for a key,
//! a row of k entries, so that a packet can rewrite a row in passing; on its way it takes along what was looked up. The loop then turns as
//! often as there are control packets, 10⁶ to 10⁸ times a second.
//!
//! 1. [`shape`]: how large everything is.
//! 2. [`switch`]: the data plane, an [`RMat`](switch::RMat) and a history buffer.
//! 3. [`packet`]: what travels between the two.
//! 4. [`ranking`]: the keys of a row, the hottest first, by counters that age.
//! 5. [`controller`]: which row is rewritten next, and what to do about packets that do not come back; `image`: what it knows of the table;
//!    `ageing`: when counters are halved.
//! 6. [`tuning`]: how fast counters should age, found out on a few rows.
//!
//! The driver moves packets from [`Controller::send`](controller::Controller::send) to [`Switch::process`](switch::Switch::process)
//! and from there to [`Controller::receive`](controller::Controller::receive), in whatever order and with whatever losses.
//!
//! Source: Song, Khooi, Divakaran, Chan, *Revisiting Application Offloads on Programmable Switches*, 2022, §III. Departures: the row of
//! a key is the high part of its hash and not a remainder ([`hash::row`](crate::hash::row)), a row remembers the version of its
//! last update so that late duplicates do no harm, a bounded number of keys is counted for each row, and the ageing period in use takes part in
//! its own tuning.

mod ageing;
pub mod controller;
mod image;
pub mod packet;
pub mod ranking;
pub mod shape;
pub mod switch;
pub mod tuning;

pub use controller::{Controller, Terms};
pub use packet::{Packet, Update};
pub use shape::{InvalidShape, Shape};
pub use switch::Switch;
