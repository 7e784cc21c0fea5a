//! The network, event by event.

use trueplane_units::Nanos;

use super::attached::Attached;
use super::calendar::{Calendar, Event};
use super::faults::Passage;
use super::flow::{Completed, Counts, DropCause, Flow, FlowSpec};
use super::fork::Chooser;
use super::line::Line;
use super::outcome::{Outcome, PortOutcome, Unbalanced};
use super::packets::{Packets, Travelling};
use super::port::{PortQueue, Waiting};
use super::topology::Topology;
use crate::transport::{BadSettings, End, Segment, SendingEnd, Transport};

/// Events, by the two highest bits of what they happen to.
const KIND_BITS: u32 = 30;
/// A packet arrives at its node. The stamp is the port by which it goes on, if that is known ahead.
const ARRIVAL: u32 = 0;
/// A port has sent a packet, and more wait.
const PORT: u32 = 1;
/// A flow asked to be woken.
const WAKE: u32 = 2;
/// The next flow starts.
const START: u32 = 3;

/// The stamp of an arrival whose port is not known ahead.
pub(super) const NONE_AHEAD: u32 = u32::MAX;

/// Number of events between two looks at a run: less than 10 ms of work, also under a slow scheduler.
pub const WATCHED: u64 = 1 << 12;

/// An output port and what went through it: offered = sent + dropped + waiting, and what its link dropped.
///
/// Ports take turns, so that a packet finds a port that the processor's cache may have lost. The first line of 64 bytes has all but the queue,
/// which may be large.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port<Q> {
    /// Time at which the line is free.
    free: Nanos,
    line: Line,
    delay: Nanos,
    pub(super) offered: u64,
    sent: u64,
    dropped: u64,
    /// Node at the end of the link.
    to: u32,
    /// Whether an event at the time at which the line is free is in the calendar.
    is_waiting: bool,
    queue: Q,
}

/// Hosts with flows, ports with queues `Q`, connections of `T`.
#[derive(Debug)]
pub struct Network<'a, Q, T: Transport> {
    pub(super) topology: &'a Topology,
    transport: T,
    /// Bytes of a packet beside its payload.
    header: u32,
    pub(super) seed: u64,
    calendar: Calendar,
    pub(super) packets: Packets,
    pub(super) ports: Vec<Port<Q>>,
    pub(super) flows: Vec<Flow<T>>,
    /// Places of flows that have ended.
    free: Vec<u32>,
    started: u64,
    next: Option<FlowSpec>,
    /// Rule for forks, before the hash of flow and node.
    pub(super) chooser: Option<Box<dyn Chooser>>,
    /// Faults, headers and instruments, if there are any.
    pub(super) attached: Option<Box<Attached>>,
    outcome: Outcome,
}

impl<'a, Q: PortQueue, T: Transport> Network<'a, Q, T> {
    /// A network without flows. `queue` makes the queue of each port by its number, `transport` the two ends of each flow, and packets have
    /// `header` bytes beside their payload.
    ///
    /// # Errors
    ///
    /// If the settings of the transport make no sense.
    pub fn new(
        topology: &'a Topology,
        mut queue: impl FnMut(usize) -> Q,
        transport: T,
        header: u32,
        seed: u64,
    ) -> Result<Self, BadSettings> {
        transport.check()?;
        let port = |(number, link): (usize, &super::topology::Link)| Port {
            queue: queue(number),
            free: Nanos(0),
            is_waiting: false,
            to: link.to,
            line: Line::of_rate(link.rate.0),
            delay: link.delay,
            offered: 0,
            sent: 0,
            dropped: 0,
        };
        Ok(Self {
            topology,
            transport,
            header,
            seed,
            calendar: Calendar::new(),
            packets: Packets::default(),
            ports: topology.links().iter().enumerate().map(port).collect(),
            flows: Vec::new(),
            free: Vec::new(),
            started: 0,
            next: None,
            chooser: None,
            attached: None,
            outcome: Outcome::default(),
        })
    }

    /// The same network, with another rule for where packets go on that have several ways.
    #[must_use]
    pub fn choosing(self, chooser: Box<dyn Chooser>) -> Self {
        Self { chooser: Some(chooser), ..self }
    }

    /// The same network, in which a packet takes the port of this number for so long, whatever the packet's length.
    #[must_use]
    pub fn serving(mut self, port: usize, each: Nanos) -> Self {
        self.ports[port].line = Line::Each(each);
        self
    }

    /// Sends flows that come in the order of their starts, until all have ended, or until the time `until`.
    ///
    /// # Errors
    ///
    /// If packets got lost in the books, which are checked at the end.
    pub fn run(self, flows: impl Iterator<Item = FlowSpec>, until: Nanos) -> Result<Outcome, Unbalanced> {
        self.run_watched(flows, until, |_| true)
    }

    /// The same, showing what has happened so far to `goes_on` every [`WATCHED`] events. The run ends early if that says so.
    ///
    /// `goes_on` may take the flows that have ended out of [`Outcome::completed`]: a run of any length then takes no more memory than what is on
    /// its way.
    ///
    /// # Errors
    ///
    /// As [`Network::run`].
    pub fn run_watched(
        mut self,
        mut flows: impl Iterator<Item = FlowSpec>,
        until: Nanos,
        mut goes_on: impl FnMut(&mut Outcome) -> bool,
    ) -> Result<Outcome, Unbalanced> {
        self.expect(flows.next());
        while let Some(event) = self.calendar.take() {
            if event.time > until
                || self.outcome.events.is_multiple_of(WATCHED) && !goes_on(&mut self.outcome)
            {
                break;
            }
            let (now, number) = (event.time, event.what & ((1 << KIND_BITS) - 1));
            self.outcome.events += 1;
            self.outcome.end = now;
            match event.what >> KIND_BITS {
                ARRIVAL => self.arrive(number, event.stamp, now),
                PORT => self.send_next(number, now),
                WAKE => self.wake(number, event.stamp, now),
                _ => {
                    if let Some(spec) = self.next.take() {
                        self.start(spec, now);
                    }
                    self.expect(flows.next());
                }
            }
        }
        self.finish()
    }

    #[inline]
    fn add(&mut self, time: Nanos, kind: u32, number: u32, stamp: u32) {
        self.calendar.add(Event { time, what: kind << KIND_BITS | number, stamp });
    }

    fn expect(&mut self, spec: Option<FlowSpec>) {
        self.next = spec;
        if let Some(spec) = spec {
            self.add(spec.start, START, 0, 0);
        }
    }

    fn start(&mut self, spec: FlowSpec, now: Nanos) {
        let Ok((sender, receiver)) = self.transport.connect(spec.bytes) else { return };
        let number = self.started;
        self.started += 1;
        let mut flow = Flow {
            spec,
            number,
            sender,
            receiver,
            wake: Nanos::MAX,
            stamp: 0,
            in_network: 0,
            is_done: false,
            counts: Counts::default(),
        };
        let place = match self.free.pop() {
            Some(place) => {
                // Events of the flow that had this place do not count.
                flow.stamp = self.flows[place as usize].stamp.wrapping_add(1);
                self.flows[place as usize] = flow;
                place
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        self.pump(place, now);
    }

    fn wake(&mut self, place: u32, stamp: u32, now: Nanos) {
        let flow = &mut self.flows[place as usize];
        if flow.stamp == stamp && !flow.is_done && flow.wake == now {
            flow.wake = Nanos::MAX;
            self.answer(place, now);
            self.pump(place, now);
        }
    }

    /// Sends what the sender of a flow has to send, and sets its timer.
    fn pump(&mut self, place: u32, now: Nanos) {
        while let Some(segment) = self.flows[place as usize].sender.poll(now) {
            let flow = &self.flows[place as usize];
            let (from, to, remaining) = (flow.spec.from, flow.spec.to, flow.sender.remaining(&segment));
            self.send(place, segment, [from, to], remaining, true, now);
        }
        let flow = &mut self.flows[place as usize];
        if !flow.sender.is_done() {
            let wakeup = flow.sender.wakeup();
            self.wake_at(place, wakeup);
            return;
        }
        if !flow.is_done {
            flow.is_done = true;
            self.outcome.completed.push(Completed { spec: flow.spec, end: now });
        }
        self.release(place);
    }

    /// Sends what the receiver of a flow has to send, and sets its timer.
    fn answer(&mut self, place: u32, now: Nanos) {
        while let Some(answer) = self.flows[place as usize].receiver.poll(now) {
            let FlowSpec { from, to, .. } = self.flows[place as usize].spec;
            self.send(place, answer, [to, from], 0, false, now);
        }
        let flow = &self.flows[place as usize];
        let wakeup = flow.receiver.wakeup().filter(|_| !flow.is_done);
        self.wake_at(place, wakeup);
    }

    /// Wakes both ends of a flow at a time, if they are not woken before.
    #[inline]
    fn wake_at(&mut self, place: u32, wakeup: Option<Nanos>) {
        let flow = &mut self.flows[place as usize];
        if let Some(wakeup) = wakeup.filter(|wakeup| *wakeup < flow.wake) {
            flow.wake = wakeup;
            let stamp = flow.stamp;
            self.add(wakeup, WAKE, place, stamp);
        }
    }

    /// Gives the place of a flow away once it is done and has no packet in the network.
    fn release(&mut self, place: u32) {
        let flow = &mut self.flows[place as usize];
        if flow.is_done && flow.in_network == 0 {
            flow.in_network = u32::MAX;
            self.free.push(place);
        }
    }

    /// A host sends a segment.
    fn send(
        &mut self,
        place: u32,
        segment: Segment,
        ends: [u32; 2],
        remaining: u64,
        is_data: bool,
        now: Nanos,
    ) {
        let bytes = segment.length + self.header;
        let [node, to] = ends;
        let flow = &mut self.flows[place as usize];
        let key = 2 * flow.number + u64::from(is_data);
        let handle =
            self.packets.insert(Travelling { key, remaining, flow: place, node, to, bytes }, &segment);
        if let Some(attached) = &self.attached {
            attached.sent(self.topology, handle, self.packets.seen(handle), now);
        }
        flow.in_network += 1;
        flow.counts.sent += 1;
        self.outcome.counts.sent += 1;
        self.forward(handle, now);
    }

    /// A packet arrives at its node. `ahead` is the port that leads on, if it is known.
    fn arrive(&mut self, handle: u32, ahead: u32, now: Nanos) {
        if ahead != NONE_AHEAD {
            self.offer(handle, ahead, now);
            return;
        }
        let packet = self.packets.at(handle);
        if packet.node != packet.to {
            self.forward(handle, now);
            return;
        }
        let (packet, segment) = self.packets.remove(handle);
        let place = packet.flow;
        let flow = &mut self.flows[place as usize];
        flow.in_network -= 1;
        flow.counts.delivered += 1;
        self.outcome.counts.delivered += 1;
        if packet.is_data() {
            flow.receiver.on_segment(&segment, now);
            self.answer(place, now);
        } else if !flow.is_done {
            flow.sender.on_segment(&segment, now);
            self.pump(place, now);
        }
        self.release(place);
    }

    /// Offers a packet to the queue of the port that leads on.
    fn forward(&mut self, handle: u32, now: Nanos) {
        let packet = *self.packets.at(handle);
        let topology = self.topology;
        let ports = topology.ports(packet.node, packet.to);
        let number = match &self.attached {
            None => self.way(handle, &packet, ports, now),
            Some(_) => match self.way_up(handle, &packet, ports, now) {
                Some(number) => number,
                None => return,
            },
        };
        self.offer(handle, number, now);
    }

    /// Offers a packet to the queue of a port.
    fn offer(&mut self, handle: u32, number: u32, now: Nanos) {
        let packet = *self.packets.at(handle);
        let port = &mut self.ports[number as usize];
        if let Some(attached) = &self.attached {
            attached.comes(handle, now);
        }
        port.offered += 1;
        let waiting = Waiting { handle, bytes: packet.bytes, flow: packet.key, remaining: packet.remaining };
        // Who waits has an event that sends it: without one the queue is empty.
        let is_idle = !port.is_waiting && port.free <= now;
        let offered = if is_idle { port.queue.pass(waiting, now) } else { port.queue.offer(waiting, now) };
        if let Some(attached) = &mut self.attached {
            attached.wait(number, port.queue.len(), now);
        }
        if offered.marks {
            self.packets.mark(handle);
        }
        if let Some(dropped) = offered.dropped {
            port.dropped += 1;
            self.drop_packet(dropped, DropCause::Queue);
        }
        let port = &mut self.ports[number as usize];
        if is_idle {
            if offered.dropped.is_none() {
                self.transmit(number, handle, now);
            }
        } else if !port.is_waiting {
            port.is_waiting = true;
            let free = port.free;
            self.add(free, PORT, number, 0);
        }
    }

    pub(super) fn drop_packet(&mut self, handle: u32, cause: DropCause) {
        let (packet, _) = self.packets.remove(handle);
        let flow = &mut self.flows[packet.flow as usize];
        flow.in_network -= 1;
        flow.counts.drop(cause);
        self.outcome.counts.drop(cause);
        self.release(packet.flow);
    }

    /// A port sends its next packet, if any waits.
    fn send_next(&mut self, number: u32, now: Nanos) {
        let port = &mut self.ports[number as usize];
        let sent = port.queue.next();
        port.is_waiting = !port.queue.is_empty();
        if let Some(attached) = &mut self.attached {
            attached.wait(number, port.queue.len(), now);
        }
        let Some(handle) = sent else { return };
        self.transmit(number, handle, now);
    }

    /// A port begins to send a packet.
    #[inline]
    fn transmit(&mut self, number: u32, handle: u32, now: Nanos) {
        let port = &mut self.ports[number as usize];
        let packet = self.packets.at(handle);
        packet.node = port.to;
        port.free = now.after(port.line.time(packet.bytes));
        let (free, mut arrival) = (port.free, port.free.after(port.delay));
        if port.is_waiting {
            self.calendar.add(Event { time: free, what: PORT << KIND_BITS | number, stamp: 0 });
        }
        if let Some(attached) = &mut self.attached {
            let spec = &self.flows[packet.flow as usize].spec;
            let packet = (handle, &self.packets);
            match attached.leaves(number, packet, spec, [now, arrival]) {
                Passage::Late(late) => arrival = arrival.after(late),
                Passage::Dropped(cause) => return self.drop_packet(handle, cause),
            }
        }
        port.sent += 1;
        self.outcome.hops += 1;
        let ahead = self.way_ahead(self.packets.seen(handle));
        self.add(arrival, ARRIVAL, handle, ahead);
    }

    /// Checks the books and closes them.
    fn finish(mut self) -> Result<Outcome, Unbalanced> {
        let check = |what: String, expected: u64, found: u64| {
            if expected == found { Ok(()) } else { Err(Unbalanced { what, expected, found }) }
        };
        let (mut all, mut ports) = (PortOutcome::default(), Vec::with_capacity(self.ports.len()));
        for (number, port) in self.ports.iter().enumerate() {
            let attached = self.attached.as_ref();
            let link = attached.map(|attached| attached.drops(number)).unwrap_or_default();
            let found = PortOutcome {
                offered: port.offered,
                sent: port.sent,
                dropped: port.dropped,
                down: link.down,
                lost: link.lost,
                waiting: port.queue.len() as u64,
                waited: attached.and_then(|attached| attached.waited(number, self.outcome.end)),
            };
            check(format!("port {number}"), port.offered, found.accounted())?;
            all.add(&found);
            ports.push(found);
        }
        self.outcome.ports = ports;
        let mut in_network = vec![0_u64; self.flows.len()];
        for (place, flow) in self.flows.iter().enumerate() {
            // A place that was given away belongs to a flow without packets.
            in_network[place] = if flow.in_network == u32::MAX { 0 } else { u64::from(flow.in_network) };
            check(format!("flow {}", flow.number), flow.counts.in_network(), in_network[place])?;
        }
        let there = self.packets.len() as u64;
        check("the network".to_owned(), self.outcome.counts.in_network(), there)?;
        check("all flows".to_owned(), there, in_network.iter().sum())?;
        let counts = self.outcome.counts;
        check("drops by queues".to_owned(), counts.dropped, all.dropped)?;
        check("drops by links that are down".to_owned(), counts.down, all.down)?;
        check("losses of links".to_owned(), counts.lost, all.lost)?;
        check("all ports".to_owned(), self.outcome.hops, all.sent)?;
        if self.calendar.is_empty() {
            check("queues of an idle network".to_owned(), 0, all.waiting)?;
        }
        self.outcome.unfinished = self.flows.iter().filter(|flow| !flow.is_done).count();
        self.outcome.most_packets = self.packets.most();
        self.outcome.most_flows = self.flows.len();
        Ok(self.outcome)
    }
}
