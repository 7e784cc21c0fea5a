//! The policies.

use std::marker::PhantomData;

use trueplane_surge::Policy;
use trueplane_surge::policy::per_flow::{DeficitRoundRobin, FlowId, SelfClocked};
use trueplane_surge::policy::queue::{Calendar, MantissaBits, TICK};
use trueplane_surge::policy::*;
use trueplane_units::Nanos;

use super::naive::{Rounding, Rule};

/// Few enough to be reached.
pub(crate) const CAPACITY: usize = 40;
pub(crate) const QUANTUM: u64 = 2_500;

/// FQ with ticks of 65 µs.
type Coarse<T> = PerFlow<T, SelfClocked, Calendar<FlowId, 16>>;

/// A policy, and what it should do.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) policy: Box<dyn Policy<u64>>,
    pub(crate) rule: Rule,
    pub(crate) rounding: Rounding,
    pub(crate) in_order: bool,
}

impl Row {
    fn new(name: &'static str, policy: impl Policy<u64> + 'static, rule: Rule, rounding: Rounding) -> Self {
        let in_order = !matches!(rule, Rule::Sjf | Rule::Wsjf);
        Self { name, policy: Box::new(policy), rule, rounding, in_order }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.rounding == Rounding::None
    }
}

/// All of them; of those that round, some with coarse steps.
pub(crate) fn table() -> Vec<Row> {
    let turns = || DeficitRoundRobin::new(Nanos(QUANTUM)).unwrap();
    let (coarse, fine) = (MantissaBits(2), MantissaBits(12));
    let mantissa = |MantissaBits(bits)| Rounding::Mantissa(bits);
    let tick = Rounding::Tick;
    let none = Rounding::None;
    vec![
        Row::new("fcfs", Fcfs::new(CAPACITY), Rule::Fcfs, none),
        Row::new("sjf", Sjf::new(CAPACITY).unwrap(), Rule::Sjf, mantissa(MantissaBits::default())),
        Row::new("sjf coarse", Sjf::with_shape(CAPACITY, coarse).unwrap(), Rule::Sjf, mantissa(coarse)),
        Row::new("sjf exact", SjfExact::new(CAPACITY).unwrap(), Rule::Sjf, none),
        Row::new("wsjf", Wsjf::new(CAPACITY).unwrap(), Rule::Wsjf, mantissa(MantissaBits::default())),
        Row::new("wsjf coarse", Wsjf::with_shape(CAPACITY, coarse).unwrap(), Rule::Wsjf, mantissa(coarse)),
        Row::new("wsjf fine", Wsjf::with_shape(CAPACITY, fine).unwrap(), Rule::Wsjf, mantissa(fine)),
        Row::new("wsjf exact", WsjfExact::new(CAPACITY).unwrap(), Rule::Wsjf, none),
        Row::new("fq", Fq::new(CAPACITY).unwrap(), Rule::Fq, tick(TICK)),
        Row::new("fq coarse", Coarse::new(CAPACITY).unwrap(), Rule::Fq, tick(16)),
        Row::new("fq exact", FqExact::new(CAPACITY).unwrap(), Rule::Fq, none),
        Row::new("drr", Drr::with(CAPACITY, turns(), PhantomData).unwrap(), Rule::Drr, none),
        Row::new(
            "drr exact",
            DrrExact::with(CAPACITY, turns(), Default::default()).unwrap(),
            Rule::Drr,
            none,
        ),
        Row::new("hoq", WsjfHoq::new(CAPACITY).unwrap(), Rule::Hoq, mantissa(MantissaBits::default())),
        Row::new("hoq exact", WsjfHoqExact::new(CAPACITY).unwrap(), Rule::Hoq, none),
        Row::new(
            "wsjf-inorder",
            WsjfInorder::new(CAPACITY).unwrap(),
            Rule::WsjfInorder,
            mantissa(MantissaBits::default()),
        ),
        Row::new(
            "wsjf-inorder coarse",
            WsjfInorder::with(CAPACITY, Default::default(), coarse).unwrap(),
            Rule::WsjfInorder,
            mantissa(coarse),
        ),
        Row::new("wsjf-inorder exact", WsjfInorderExact::new(CAPACITY).unwrap(), Rule::WsjfInorder, none),
        Row::new(
            "sjf-inorder",
            SjfInorder::new(CAPACITY).unwrap(),
            Rule::SjfInorder,
            mantissa(MantissaBits::default()),
        ),
        Row::new("sjf-inorder exact", SjfInorderExact::new(CAPACITY).unwrap(), Rule::SjfInorder, none),
    ]
}
