//! One server with an order of service, or an attack, of the user's.

use std::marker::PhantomData;
use std::sync::Arc;

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trueplane_study::Error;
use trueplane_surge::application::{Given, Never};
use trueplane_surge::orders::{Settings, Visitor, with_policy};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::policy::queue::{Exact, RankQueue as _};
use trueplane_surge::server::{Server, Ticket};
use trueplane_surge::tally::{Class, Departure, Fate, Tally};
use trueplane_surge::traffic::{FIRST_ATTACK_FLOW, Load, Offered, Pace, Traffic};
use trueplane_surge::{Bounded, Capacity, Overflow, Packet, Policy};
use trueplane_units::{Nanos, Value as _};

use crate::arrays::{at, check_length, check_times};
use crate::callback::Callbacks;
use crate::errors;

/// Packets that may wait if the buffer is bounded by bytes or not at all.
const ROOM: usize = 1 << 22;

/// An order of service by a function of Python, which is told the flow, the bytes, the expected work and the time of a packet that comes.
struct Called<'a> {
    rank: &'a Py<PyAny>,
    callbacks: &'a Callbacks,
    queue: Exact<u64, (Packet, Ticket)>,
}

impl Policy<Ticket> for Called<'_> {
    fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn arrive(&mut self, packet: Packet, item: Ticket, now: Nanos) -> Result<(), Ticket> {
        let told = (packet.flow, packet.bits / 8, packet.work.0, now.0);
        let rank = self.callbacks.number("order", |py| self.rank.call1(py, told));
        let inserted = self.queue.insert(rank.unwrap_or_default(), (packet, item));
        inserted.map(drop).map_err(|(_, item)| item)
    }

    fn serve(&mut self, now: Nanos) -> Option<(Packet, Ticket)> {
        self.queue.extract_min(now.0)
    }

    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, Ticket)> {
        self.queue.extract_max()
    }
}

/// Packets of one sender, as columns.
type Columns<'py> = (
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
);

/// The packets whose times, bytes, work, expected work and flows are these.
fn traffic(columns: &Columns<'_>, class: Class) -> PyResult<Traffic<Never>> {
    let (times, bytes) = (columns.0.as_slice()?, columns.1.as_slice()?);
    let (work, estimates, flows) = (columns.2.as_slice()?, columns.3.as_slice()?, columns.4.as_slice()?);
    for (name, column) in
        [("packet_bytes", bytes), ("job_ns", work), ("estimate_ns", estimates), ("flow", flows)]
    {
        check_length(name, column.len(), times.len(), true)?;
    }
    check_times(times, 0, "packet")?;
    let wrong = |index: usize, expected: &str, found: u64| {
        Err(errors::parameter(format!("packet {index}: expected {expected}, got {found}")))
    };
    let mut packets = Vec::with_capacity(times.len());
    for index in 0..times.len() {
        let bytes = at(bytes, index);
        let Some(bits) =
            bytes.checked_mul(8).and_then(|bits| u32::try_from(bits).ok()).filter(|&bits| bits > 0)
        else {
            return wrong(index, "1 to 536870911 bytes", bytes);
        };
        let flow = at(flows, index);
        if flow >= FIRST_ATTACK_FLOW {
            return wrong(index, "a flow below 2**63", flow);
        }
        let flow = if class == Class::Attack { flow + FIRST_ATTACK_FLOW } else { flow };
        let load = Load::Given { job: Nanos(at(work, index)), estimate: Nanos(at(estimates, index)) };
        packets.push(Offered { flow, bits, load });
    }
    Ok(Traffic {
        packets: packets.into(),
        pace: Pace::At(times.iter().map(|&time| Nanos(time)).collect::<Arc<[Nanos]>>()),
        count: times.len() as u64,
        fresh_flows: false,
    })
}

/// Runs the server under a policy.
struct Run<'a> {
    users: &'a Traffic<Never>,
    attack: &'a Traffic<Never>,
    end: Nanos,
    buffer: Option<Capacity>,
    callbacks: &'a Callbacks,
    /// The start and the end of the service of each packet; the largest numbers if there is none by the end.
    starts: [Vec<u64>; 2],
    ends: [Vec<u64>; 2],
}

impl<'a> Run<'a> {
    /// What has been served, and the counts.
    fn under<P: Policy<Ticket>>(mut self, policy: P) -> Result<(Self, Tally), Error> {
        let shape = |error: trueplane_surge::BadShape| Error::Parameters(error.to_string());
        let mut buffer = Bounded::new::<Ticket>(policy, self.buffer, Overflow::DropWorst).map_err(shape)?;
        let (users, attack, end) = (self.users, self.attack, self.end);
        let mut server = Server { application: Given, innocent: users, attack, end };
        let (starts, ends) = (&mut self.starts, &mut self.ends);
        let mut log = |departure: Departure| {
            let (class, number) = (place(departure.class), departure.number as usize);
            starts[class][number] = departure.start.0;
            ends[class][number] = departure.end.0;
            Ok(())
        };
        let tally = server.run(&mut buffer, self.callbacks, &mut log)?;
        Ok((self, tally))
    }
}

impl<'a> Visitor for Run<'a> {
    type Output = (Self, Tally);

    fn visit<P: Policy<Ticket>>(self, policy: P) -> Result<Self::Output, Error> {
        self.under(policy)
    }
}

fn place(class: Class) -> usize {
    usize::from(class == Class::Attack)
}

/// Counts of a sender: packets and bits that came, were served, were dropped and were left at the end, and the work in ns.
fn counts(fate: &Fate) -> Vec<u64> {
    let amounts = [fate.arrived, fate.served, fate.dropped, fate.left];
    amounts.iter().flat_map(|amount| [amount.packets, amount.bits]).chain([fate.work.0]).collect()
}

/// The starts and ends of services, and the counts, of one sender.
type Sender<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Vec<u64>);

/// Serves the packets of users and of an attacker up to `end`. `order` is the name of an order of service or a function.
#[pyfunction]
#[pyo3(signature = (users, attack, order, end, buffer=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
pub(crate) fn serve_packets<'py>(
    py: Python<'py>,
    users: Columns<'py>,
    attack: Columns<'py>,
    order: &Bound<'py, PyAny>,
    end: u64,
    buffer: Option<&str>,
) -> PyResult<(Sender<'py>, Sender<'py>)> {
    let wrong = |name: &str, message: String| errors::parameter(format!("{name}: {message}"));
    let (users, attack) = (traffic(&users, Class::Innocent)?, traffic(&attack, Class::Attack)?);
    let buffer = buffer
        .map(|buffer| Capacity::parse(buffer).map_err(|message| wrong("buffer", message)))
        .transpose()?;
    let callbacks = Callbacks::default();
    let none = || [vec![u64::MAX; users.count as usize], vec![u64::MAX; attack.count as usize]];
    let run = Run {
        users: &users,
        attack: &attack,
        end: Nanos(end),
        buffer,
        callbacks: &callbacks,
        starts: none(),
        ends: none(),
    };
    // One more than the buffer, for the newcomer.
    let capacity = match buffer {
        Some(Capacity::Packets(packets)) => packets.saturating_add(1),
        _ => ROOM,
    };
    let found = if let Ok(name) = order.extract::<String>() {
        let name = PolicyName::parse(&name).map_err(|message| wrong("order", message))?;
        py.detach(|| with_policy(name, Settings { capacity, exact: true }, run))
    } else {
        let rank = order.clone().unbind();
        let queue = Exact::new(PhantomData, capacity).map_err(|error| wrong("buffer", error.to_string()))?;
        py.detach(|| run.under(Called { rank: &rank, callbacks: &callbacks, queue }))
    };
    callbacks.check()?;
    let found = found.map_err(|error| match error {
        Error::Parameters(message) if buffer.is_none() && message.contains("--memory") => Error::Parameters(
            format!("buffer: expected a bound, as {} packets wait and there is no room for more", ROOM - 1),
        ),
        error => error,
    });
    let (Run { starts: [users_start, attack_start], ends: [users_end, attack_end], .. }, tally) =
        found.map_err(errors::study)?;
    Ok((
        (users_start.into_pyarray(py), users_end.into_pyarray(py), counts(&tally.innocent)),
        (attack_start.into_pyarray(py), attack_end.into_pyarray(py), counts(&tally.attack)),
    ))
}
