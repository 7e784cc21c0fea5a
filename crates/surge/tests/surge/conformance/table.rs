//! The policies.

use std::marker::PhantomData;

use trueplane_surge::Policy;
use trueplane_surge::policy::per_flow::{DeficitRoundRobin, FlowId, SelfClocked};
use trueplane_surge::policy::queue::{Calendar, MantissaBits, TICK};
use trueplane_surge::policy::*;
use trueplane_units::Nanos;

use super::naive::Rounding;

/// Few enough to be reached.
pub(crate) const CAPACITY: usize = 40;
pub(crate) const QUANTUM: u64 = 2_500;

/// FQ with ticks of 65 µs.
type Coarse<T> = PerFlow<T, SelfClocked, Calendar<FlowId, 16>>;

/// A policy, and what it should do.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) policy: Box<dyn Policy<u64>>,
    pub(crate) rule: PolicyName,
    pub(crate) rounding: Rounding,
    pub(crate) in_order: bool,
}

impl Row {
    fn new(
        name: &'static str,
        policy: impl Policy<u64> + 'static,
        rule: PolicyName,
        rounding: Rounding,
    ) -> Self {
        let in_order = rule.properties().in_order;
        Self { name, policy: Box::new(policy), rule, rounding, in_order }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.rounding == Rounding::None
    }
}

/// All of them; of those that round, some with coarse steps.
pub(crate) fn table() -> Vec<Row> {
    PolicyName::ALL.iter().flat_map(|&rule| rows(rule)).collect()
}

/// What has to pass for a name. A name without rows does not compile.
fn rows(rule: PolicyName) -> Vec<Row> {
    let turns = || DeficitRoundRobin::new(Nanos(QUANTUM)).unwrap();
    let (usual, coarse, fine) = (MantissaBits::default(), MantissaBits(2), MantissaBits(12));
    let mantissa = |MantissaBits(bits)| Rounding::Mantissa(bits);
    let none = Rounding::None;
    match rule {
        PolicyName::Fcfs => vec![Row::new("fcfs", Fcfs::new(CAPACITY), rule, none)],
        PolicyName::Sjf => vec![
            Row::new("sjf", Sjf::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("sjf coarse", Sjf::with_shape(CAPACITY, coarse).unwrap(), rule, mantissa(coarse)),
            Row::new("sjf named", SjfNamed::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("sjf exact", SjfExact::new(CAPACITY).unwrap(), rule, none),
        ],
        PolicyName::Wsjf => vec![
            Row::new("wsjf", Wsjf::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("wsjf coarse", Wsjf::with_shape(CAPACITY, coarse).unwrap(), rule, mantissa(coarse)),
            Row::new("wsjf fine", Wsjf::with_shape(CAPACITY, fine).unwrap(), rule, mantissa(fine)),
            Row::new("wsjf named", WsjfNamed::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("wsjf exact", WsjfExact::new(CAPACITY).unwrap(), rule, none),
        ],
        PolicyName::Fq => vec![
            Row::new("fq", Fq::new(CAPACITY).unwrap(), rule, Rounding::Tick(TICK)),
            Row::new("fq coarse", Coarse::new(CAPACITY).unwrap(), rule, Rounding::Tick(16)),
            Row::new("fq exact", FqExact::new(CAPACITY).unwrap(), rule, none),
        ],
        PolicyName::Drr => vec![
            Row::new("drr", Drr::with(CAPACITY, turns(), PhantomData).unwrap(), rule, none),
            Row::new("drr exact", DrrExact::with(CAPACITY, turns(), Default::default()).unwrap(), rule, none),
        ],
        PolicyName::WsjfHoq => vec![
            Row::new("hoq", WsjfHoq::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("hoq exact", WsjfHoqExact::new(CAPACITY).unwrap(), rule, none),
        ],
        PolicyName::WsjfInorder => {
            let shaped = WsjfInorder::with(CAPACITY, Default::default(), coarse).unwrap();
            vec![
                Row::new("wsjf-inorder", WsjfInorder::new(CAPACITY).unwrap(), rule, mantissa(usual)),
                Row::new("wsjf-inorder coarse", shaped, rule, mantissa(coarse)),
                Row::new("wsjf-inorder exact", WsjfInorderExact::new(CAPACITY).unwrap(), rule, none),
            ]
        }
        PolicyName::SjfInorder => vec![
            Row::new("sjf-inorder", SjfInorder::new(CAPACITY).unwrap(), rule, mantissa(usual)),
            Row::new("sjf-inorder exact", SjfInorderExact::new(CAPACITY).unwrap(), rule, none),
        ],
    }
}
