//! DySO's table of registers, with its controller.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trueplane_offload::Key;
use trueplane_offload::policy::dyso::ranking::Ranking;
use trueplane_offload::policy::dyso::{Controller, Shape, Switch, Terms};

use crate::arrays::in_chunks;
use crate::errors;

/// A switch and its controller. Time is in lookups.
#[pyclass(module = "trueplane._native")]
pub(crate) struct Dyso {
    switch: Switch,
    controller: Controller,
    now: u64,
}

impl Dyso {
    /// A control packet goes to the switch and back.
    fn turn(&mut self) {
        let mut packet = self.controller.send(self.now);
        self.switch.process(&mut packet);
        self.controller.receive(packet, self.now);
    }
}

#[pymethods]
impl Dyso {
    /// An empty table of `rows` × `chain` entries, and a history buffer of `history_rows` × `history_slots` keys.
    #[new]
    #[pyo3(signature = (rows, chain, history_rows, history_slots, tracked, ageing, tuning=None))]
    fn new(
        rows: u32,
        chain: u32,
        history_rows: u32,
        history_slots: u32,
        tracked: usize,
        ageing: u64,
        tuning: Option<u64>,
    ) -> PyResult<Self> {
        let shape = Shape::new(rows, chain, history_rows, history_slots)
            .map_err(|error| errors::parameter(error.to_string()))?;
        if !(chain as usize..=Ranking::MOST_TRACKED).contains(&tracked) {
            return Err(errors::parameter(format!(
                "tracked: expected {chain} to {}, got {tracked}",
                Ranking::MOST_TRACKED
            )));
        }
        for (name, slots) in [("ageing", ageing), ("tuning", tuning.unwrap_or(1))] {
            if slots == 0 {
                return Err(errors::parameter(format!("{name}: expected at least 1 lookup, got 0")));
            }
        }
        // No packet is lost: nothing is ever sent again.
        let terms = Terms { tracked, timeout: u64::MAX, ageing, tuning };
        Ok(Self { switch: Switch::new(shape), controller: Controller::new(shape, &terms), now: 0 })
    }

    /// Whether the table answers a lookup of this key.
    fn lookup(&mut self, key: u64) -> bool {
        self.now += 1;
        self.switch.lookup(Key(key))
    }

    /// Whether the table answers each of many lookups, with a control packet after every `every` of them; never if that is 0.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn lookup_many<'py>(
        &mut self,
        py: Python<'py>,
        keys: PyReadonlyArray1<'py, u64>,
        every: u64,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let keys = keys.as_slice()?;
        let mut answers = Vec::with_capacity(keys.len());
        in_chunks(py, keys.len(), |range| {
            for &key in &keys[range] {
                answers.push(self.lookup(key));
                if every > 0 && self.now.is_multiple_of(every) {
                    self.turn();
                }
            }
        })?;
        Ok(answers.into_pyarray(py))
    }

    /// Sends `packets` control packets to the switch and back.
    fn control(&mut self, py: Python<'_>, packets: usize) -> PyResult<()> {
        in_chunks(py, packets, |range| range.for_each(|_| self.turn()))
    }

    /// The row of a key.
    fn row_of(&self, key: u64) -> u32 {
        self.switch.shape().row_of(Key(key))
    }

    /// The keys that a row answers.
    fn keys<'py>(&self, py: Python<'py>, row: u32) -> Bound<'py, PyArray1<u64>> {
        let keys: Vec<u64> = self.switch.table().keys(row).map(|key| key.0).collect();
        keys.into_pyarray(py)
    }

    /// The rows written so far, the lookups recorded in the history buffer, those that found no room there, and the ageing period in use.
    fn counts(&self) -> (u64, u64, u64, u64) {
        (self.switch.applied(), self.switch.recorded(), self.switch.lost(), self.controller.period())
    }
}
