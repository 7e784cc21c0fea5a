//! Whose a packet is, and what becomes of packets.

use crate::Packet;

/// Sender of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A user.
    Innocent,
    /// The attacker.
    Attack,
}

/// The name of a packet: whose it is, and its place in the list that its source sends round and round.
///
/// One word, so that an atomic can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u32);

impl Ticket {
    /// Packet `index` < 2^30 of `class`.
    #[inline]
    pub(super) fn new(class: Class, index: u32) -> Self {
        Self(index << 1 | u32::from(class == Class::Attack))
    }

    /// Sender of the packet.
    #[inline]
    pub fn class(self) -> Class {
        if self.0 & 1 == 0 { Class::Innocent } else { Class::Attack }
    }

    /// Its place in the list of its source.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// The ticket as a word below 2^31.
    #[inline]
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The ticket of such a word.
    #[inline]
    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }
}

/// A packet for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Ticket that says which packet of which source it is.
    pub ticket: Ticket,
    /// Packet as the scheduler knows it.
    pub packet: Packet,
}

/// Packets and their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of packets.
    pub packets: u64,
    /// Their bits together.
    pub bits: u64,
}

impl Amount {
    /// One packet more.
    #[inline]
    pub fn add(&mut self, bits: u32) {
        self.packets += 1;
        self.bits += u64::from(bits);
    }

    fn plus(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bits: self.bits + other.bits }
    }
}

/// Fate of the packets of one class: arrived = served + dropped + lost + left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Packets that arrived before the end.
    pub arrived: Amount,
    /// Packets whose service ended by the end.
    pub served: Amount,
    /// Packets that were dropped because the buffer was full.
    pub dropped: Amount,
    /// Packets that found no free descriptor in the receive ring.
    pub lost: Amount,
    /// Packets that were in the ring, the buffer, the hand-over or in service at the end.
    pub left: Amount,
}

impl Fate {
    /// All that became of packets: what has arrived, if none is missing and none is counted twice.
    pub fn accounted(&self) -> Amount {
        self.served.plus(self.dropped).plus(self.lost).plus(self.left)
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            arrived: self.arrived.plus(other.arrived),
            served: self.served.plus(other.served),
            dropped: self.dropped.plus(other.dropped),
            lost: self.lost.plus(other.lost),
            left: self.left.plus(other.left),
        }
    }
}

/// Fates of all packets, by sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Fate of the users' packets.
    pub innocent: Fate,
    /// Fate of the attacker's packets.
    pub attack: Fate,
}

impl Tally {
    /// The fate of a class.
    #[inline]
    pub fn of(&mut self, class: Class) -> &mut Fate {
        match class {
            Class::Innocent => &mut self.innocent,
            Class::Attack => &mut self.attack,
        }
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.innocent = self.innocent.plus(&other.innocent);
        self.attack = self.attack.plus(&other.attack);
    }

    /// Fate of the packets of users and attacker together.
    pub fn total(&self) -> Fate {
        self.innocent.plus(&self.attack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_a_word() {
        for class in [Class::Innocent, Class::Attack] {
            for index in [0, 1, 77, (1 << 30) - 1] {
                let ticket = Ticket::new(class, index);
                assert_eq!((ticket.class(), ticket.index()), (class, index as usize));
                assert_eq!(Ticket::from_word(ticket.word()), ticket);
                assert!(ticket.word() < 1 << 31);
            }
        }
    }
}
