//! SP-PIFO: FIFOs in strict priority with bounds that follow the packets.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trueplane_pqueue::FifoBank;
use trueplane_sched::policy::{PushDown, SpPifo as Policy};
use trueplane_sched::{Mapper as _, Packet};
use trueplane_units::{Nanos, Rank, Value as _};

use crate::arrays::{at, check_length};
use crate::errors;

/// Ranks and labels of packets.
type Packets<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// SP-PIFO over packets that are a rank and a label.
#[pyclass(module = "trueplane._native")]
pub(crate) struct SpPifo {
    bank: FifoBank<Packet>,
    policy: Policy,
}

impl SpPifo {
    /// The queue that a packet was put into.
    fn put(&mut self, rank: u64, label: u64) -> Option<usize> {
        let rank = Rank(rank);
        let queue = self.policy.map(rank, &self.bank)?;
        let packet = Packet { rank, flow: label, bytes: 0, arrival: Nanos(0) };
        self.bank.push(queue, packet).is_ok().then_some(queue)
    }

    fn take(&mut self) -> Option<(u64, u64)> {
        let packet = self.bank.first_queue().and_then(|queue| self.bank.pop(queue))?;
        Some((packet.rank.0, packet.flow))
    }
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
        (0..self.bank.queues()).map(|queue| self.bank.len_of(queue)).sum()
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
        self.put(rank, label)
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
        let queues: Vec<i64> = py.detach(|| {
            let put = |(index, &rank)| self.put(rank, at(labels, index)).map_or(-1, |queue| queue as i64);
            ranks.iter().enumerate().map(put).collect()
        });
        Ok(queues.into_pyarray(py))
    }

    /// Takes out the packet that is sent next: its rank and its label.
    fn pop(&mut self) -> Option<(u64, u64)> {
        self.take()
    }

    /// Takes out up to `count` packets: their ranks and their labels.
    fn pop_many<'py>(&mut self, py: Python<'py>, count: usize) -> Packets<'py> {
        let taken = (0..count).map_while(|_| self.take());
        let (ranks, labels): (Vec<u64>, Vec<u64>) = taken.unzip();
        (ranks.into_pyarray(py), labels.into_pyarray(py))
    }
}
