//! What packets carry for the ranks of ports: a deadline, the slack that is left, and how much longer than others they waited.

use std::cell::RefCell;
use std::rc::Rc;

use trueplane_sched::rank::PacketMeta;
use trueplane_units::Nanos;

use super::port::{Facts, Waiting};

/// An average moves by this part of what is new, as a power of two.
const AVERAGE_BITS: u32 = 4;

/// The header of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    deadline: Nanos,
    /// Time that the packet may still wait and be in time.
    slack: Nanos,
    /// Time that the packet has waited so far less the averages of the ports.
    excess_wait_ns: i64,
    /// Time at which it came to the port where it is.
    came: Nanos,
}

/// Headers of the packets of a network, by their places; ports read them, and the network writes them.
///
/// - The **deadline** is that of the flow.
/// - The **slack** of a packet is the time from when it is sent to the deadline, less the least time of the packet on its way (Mittal et al., NSDI 2016,
///   §2.1). Each port takes away what the packet waited. It does not fall below 0: of packets that are late, the one that comes first is first.
/// - The **excess wait** is 0 when the packet is sent. Each port adds what the packet waited, less the average there (Clark, Shenker and Zhang,
///   SIGCOMM 1992). The average of a port moves by 1/16 of the difference with every packet that the port sends.
#[derive(Clone, Debug, Default)]
pub struct Headers(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    packets: Vec<Header>,
    /// Average wait of each port, in 1/16 ns.
    averages: Vec<i64>,
    /// Deadlines of the flows by number.
    deadlines: Vec<Nanos>,
}

impl Headers {
    /// Headers in a network with so many ports. Flows have these deadlines by number, in the order in which they start; others have none.
    pub fn new(ports: usize, deadlines: Vec<Nanos>) -> Self {
        Self(Rc::new(RefCell::new(State { packets: Vec::new(), averages: vec![0; ports], deadlines })))
    }

    /// A host sends a packet of a flow, which takes `transit` on its way if it waits nowhere.
    pub(super) fn sent(&self, handle: u32, flow: u64, transit: Nanos, now: Nanos) {
        let state = &mut *self.0.borrow_mut();
        let deadline = state.deadlines.get(flow as usize).copied().unwrap_or(Nanos::MAX);
        let slack = deadline.since(now).since(transit);
        if state.packets.len() <= handle as usize {
            state.packets.resize(handle as usize + 1, Header::default());
        }
        state.packets[handle as usize] = Header { deadline, slack, excess_wait_ns: 0, came: now };
    }

    /// A packet comes to a port.
    pub(super) fn comes(&self, handle: u32, now: Nanos) {
        self.0.borrow_mut().packets[handle as usize].came = now;
    }

    /// A port begins to send a packet.
    pub(super) fn leaves(&self, handle: u32, port: u32, now: Nanos) {
        let state = &mut *self.0.borrow_mut();
        let header = &mut state.packets[handle as usize];
        let wait = now.since(header.came);
        header.slack = header.slack.since(wait);
        let wait = i64::try_from(wait.0).unwrap_or(i64::MAX);
        let average = &mut state.averages[port as usize];
        let excess = wait.saturating_sub(*average >> AVERAGE_BITS);
        header.excess_wait_ns = header.excess_wait_ns.saturating_add(excess);
        *average = average.saturating_add(excess);
    }
}

impl Facts for Headers {
    fn of(&self, packet: &Waiting) -> PacketMeta {
        let header = self.0.borrow().packets[packet.handle as usize];
        PacketMeta {
            deadline: header.deadline,
            slack: header.slack,
            excess_wait_ns: header.excess_wait_ns,
            ..packet.meta()
        }
    }
}
