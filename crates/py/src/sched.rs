//! SP-PIFO as a class, and a port with a rank function of the user's.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trueplane_pqueue::FifoBank;
use trueplane_sched::policy::{Adaptation, PushDown, SchedulerName, SpPifo as Policy};
use trueplane_sched::port::{Port, Ranks, Tally, Traffic};
use trueplane_sched::rank::PacketMeta;
use trueplane_sched::scheduler::{Examined, Settings, Visitor, with_scheduler};
use trueplane_sched::waiting::Map;
use trueplane_sched::{Mapper as _, Packet};
use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Nanos, Rank, Value as _};

use crate::arrays::{at, bytes_of, check_length, check_times, in_chunks};
use crate::callback::Callbacks;
use crate::errors;

/// Ranks and labels of packets.
type Packets<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// SP-PIFO over packets that are a rank and a label.
#[pyclass(module = "trueplane._native")]
pub(crate) struct SpPifo {
    bank: FifoBank<Packet>,
    policy: Policy,
}

#[pymethods]
impl SpPifo {
    /// Empty queues for `depth` packets each.
    #[new]
    fn new(queues: usize, depth: usize, push_down: &str) -> PyResult<Self> {
        let push_down = PushDown::parse(push_down)
            .map_err(|message| errors::parameter(format!("push_down: {message}")))?;
        let shape = |error: trueplane_sched::BadShape| errors::parameter(error.to_string());
        let policy = Policy::new(queues, push_down).map_err(shape)?;
        Ok(Self { bank: FifoBank::new(queues, depth).map_err(shape)?, policy })
    }

    fn __len__(&self) -> usize {
        self.lengths().into_iter().sum()
    }

    /// The smallest rank that each queue takes now.
    fn bounds(&self) -> Vec<u64> {
        self.policy.bounds().to_vec()
    }

    /// The number of packets in each queue.
    fn lengths(&self) -> Vec<usize> {
        (0..self.bank.queues()).map(|queue| self.bank.len_of(queue)).collect()
    }

    /// Offers a packet. The queue that it is in; none if that is full and the packet is dropped.
    fn push(&mut self, rank: u64, label: u64) -> Option<usize> {
        let rank = Rank(rank);
        let queue = self.policy.map(rank, &self.bank)?;
        let packet = Packet { rank, flow: label, bytes: 0, handle: 0, arrival: Nanos(0) };
        self.bank.push(queue, packet).is_ok().then_some(queue)
    }

    /// Offers many packets. The queue of each, or -1 if it is dropped.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn push_many<'py>(
        &mut self,
        py: Python<'py>,
        ranks: PyReadonlyArray1<'py, u64>,
        labels: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (ranks, labels) = (ranks.as_slice()?, labels.as_slice()?);
        check_length("labels", labels.len(), ranks.len(), true)?;
        let mut queues = Vec::with_capacity(ranks.len());
        in_chunks(py, ranks.len(), |range| {
            let put = |index| self.push(ranks[index], at(labels, index)).map_or(-1, |queue| queue as i64);
            queues.extend(range.map(put));
        })?;
        Ok(queues.into_pyarray(py))
    }

    /// Takes out the packet that is sent next: its rank and its label.
    fn pop(&mut self) -> Option<(u64, u64)> {
        let packet = self.bank.first_queue().and_then(|queue| self.bank.pop(queue))?;
        Some((packet.rank.0, packet.flow))
    }

    /// Takes out up to `count` packets: their ranks and their labels.
    fn pop_many<'py>(&mut self, py: Python<'py>, count: usize) -> Packets<'py> {
        let taken = (0..count).map_while(|_| self.pop());
        let (ranks, labels): (Vec<u64>, Vec<u64>) = taken.unzip();
        (ranks.into_pyarray(py), labels.into_pyarray(py))
    }
}

/// Packets that come to a port. Each is a flow of its own to the port, by its number.
struct Arrivals<'a> {
    times: &'a [u64],
    bytes: &'a [u32],
    next: usize,
}

impl Traffic for Arrivals<'_> {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        let now = Nanos(*self.times.get(self.next)?);
        let flow = self.next as u64;
        let packet = PacketMeta { flow, bytes: at(self.bytes, self.next), ..PacketMeta::default() };
        self.next += 1;
        Some((now, packet))
    }
}

/// The ranks of packets.
struct Ranked<'a> {
    flows: &'a [u64],
    /// Those of an array, or a function that is told the flow, the bytes and the time.
    rank: Result<&'a [u64], &'a Py<PyAny>>,
    /// What is told the rank of each packet that begins to be sent.
    departs: Option<&'a Py<PyAny>>,
    callbacks: &'a Callbacks,
}

impl Ranks for Ranked<'_> {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        let index = packet.flow as usize;
        Rank(match self.rank {
            Ok(ranks) => at(ranks, index),
            Err(rank) => {
                let told = (at(self.flows, index), packet.bytes, now.0);
                self.callbacks.number("rank", |py| rank.call1(py, told)).unwrap_or_default()
            }
        })
    }

    fn departs(&mut self, rank: Rank) {
        if let Some(departs) = self.departs {
            self.callbacks.call(|py| departs.call1(py, (rank.0,)).map(drop));
        }
    }
}

/// The fate of each packet.
struct Fates {
    ranks: Vec<u64>,
    /// When it begins to be sent; the largest number if it is dropped.
    starts: Vec<u64>,
    /// How much its rank is above the smallest that waits meanwhile.
    inversions: Vec<u64>,
}

impl<S> Tally<S> for Fates {
    fn arrives(&mut self, packet: &Packet) {
        self.ranks[packet.flow as usize] = packet.rank.0;
    }

    fn drops(&mut self, _packet: &Packet) {}

    fn departs(&mut self, packet: &Packet, start: Nanos, smallest: Option<u64>) {
        let index = packet.flow as usize;
        self.starts[index] = start.0;
        self.inversions[index] = smallest.map_or(0, |smallest| packet.rank.0.saturating_sub(smallest));
    }
}

struct Served<'a> {
    arrivals: Arrivals<'a>,
    ranked: Ranked<'a>,
    rate: BitsPerSec,
}

impl Visitor for Served<'_> {
    type Output = Fates;

    fn visit<S: Examined>(self, scheduler: S) -> Result<Fates, Error> {
        let packets = self.arrivals.times.len();
        let fates =
            Fates { ranks: vec![0; packets], starts: vec![u64::MAX; packets], inversions: vec![0; packets] };
        let callbacks = self.ranked.callbacks;
        Ok(Port::new(self.rate, scheduler, Map::default(), fates)
            .run(self.arrivals, self.ranked, callbacks)?
            .0)
    }
}

/// Ranks, times at which packets begin to be sent, and inversions.
type FateArrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// Sends packets by a port: `shape` is the number of queues, the packets that each holds, and the window of AIFO and PACKS. `rank` is an array or
/// a function.
#[pyfunction]
#[pyo3(signature = (times, bytes, flows, rank, rate, scheduler, push_down, shape, departs=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
#[expect(clippy::too_many_arguments, reason = "python/trueplane/_port.py gives them names")]
pub(crate) fn serve_port<'py>(
    py: Python<'py>,
    times: PyReadonlyArray1<'py, u64>,
    bytes: PyReadonlyArray1<'py, u64>,
    flows: PyReadonlyArray1<'py, u64>,
    rank: &Bound<'py, PyAny>,
    rate: &str,
    scheduler: &str,
    push_down: &str,
    shape: (usize, usize, usize),
    departs: Option<Py<PyAny>>,
) -> PyResult<FateArrays<'py>> {
    let wrong = |name: &str, message: String| errors::parameter(format!("{name}: {message}"));
    let (times, flows) = (times.as_slice()?, flows.as_slice()?);
    let bytes =
        bytes.as_slice()?.iter().map(|&bytes| bytes_of("sizes", bytes)).collect::<PyResult<Vec<u32>>>()?;
    check_length("sizes", bytes.len(), times.len(), true)?;
    check_length("flows", flows.len(), times.len(), true)?;
    check_times(times, 0, "packet")?;
    let given: Option<PyReadonlyArray1<'py, u64>> = rank.extract().ok();
    let ranks = given.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    if let Some(ranks) = ranks {
        check_length("rank", ranks.len(), times.len(), true)?;
    }
    let name = SchedulerName::parse(scheduler).map_err(|message| wrong("scheduler", message))?;
    if name.properties().needs_distribution || name.properties().has_rounds {
        let message = format!("expected one of fifo, sp-pifo, aifo, packs, pifo, got \"{scheduler}\"");
        return Err(wrong("scheduler", message));
    }
    let (queues, depth, window) = shape;
    let settings = Settings {
        queues,
        depth,
        push_down: PushDown::parse(push_down).map_err(|message| wrong("push_down", message))?,
        window,
        adaptation: Adaptation::Authors,
        bytes_per_round: 1,
        counts: None,
        optimum: None,
    };
    let rate = BitsPerSec::parse(rate).map_err(|message| wrong("rate", message))?;
    let (callbacks, function) = (Callbacks::default(), rank.clone().unbind());
    let ranked =
        Ranked { flows, rank: ranks.ok_or(&function), departs: departs.as_ref(), callbacks: &callbacks };
    let served = Served { arrivals: Arrivals { times, bytes: &bytes, next: 0 }, ranked, rate };
    let fates = py.detach(|| with_scheduler(name, &settings, served));
    callbacks.check()?;
    let fates = fates.map_err(errors::study)?;
    Ok((fates.ranks.into_pyarray(py), fates.starts.into_pyarray(py), fates.inversions.into_pyarray(py)))
}
