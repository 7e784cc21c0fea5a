//! Orders of service.
//!
//! 1. [`PolicyName`]: their names. [`queue`]: queues of ranks, exact and by the first set bit.
//! 2. [`Fcfs`]: no rank. [`ranked`]: a rank for every packet. [`per_flow`]: flows that stay in order, and a rank for every flow.
//!
//! | policy | rank | worst | in order |
//! |---|---|---|---|
//! | [`Fcfs`] | | newest packet | yes |
//! | [`Sjf`] | work | largest rank | no |
//! | [`Wsjf`] | work ÷ bits | largest rank | no |
//! | [`Fq`] | finish tag of the first packet, by self-clocked virtual time | last packet of the largest rank | yes |
//! | [`Drr`] | round in which the flow's deficit is enough | last packet of the largest rank | yes |
//! | [`WsjfHoq`] | work ÷ bits of the first packet | last packet of the largest rank | yes |
//! | [`WsjfInorder`] | Σ work ÷ Σ bits of what waits | last packet of the largest rank | yes |
//! | [`SjfInorder`] | Σ work ÷ packets of what waits | last packet of the largest rank | yes |
//!
//! Each but [`Fcfs`] is a composition of a rule that gives ranks and a queue that orders by them; `…Exact` are the same rules over a
//! balanced tree, for reference.
//!
//! A packet that waits can be cancelled by its name ([`Named`](crate::Named)) in [`SjfNamed`], [`WsjfNamed`], [`SjfExact`] and [`WsjfExact`].

mod fcfs;
mod name;
pub mod per_flow;
pub mod queue;
pub mod ranked;

pub use fcfs::Fcfs;
pub use name::{PolicyName, Properties};
pub use per_flow::{
    Drr, DrrExact, Fq, FqExact, PerFlow, SjfInorder, SjfInorderExact, WsjfHoq, WsjfHoqExact, WsjfInorder,
    WsjfInorderExact,
};
pub use ranked::{Ranked, Sjf, SjfExact, SjfNamed, Wsjf, WsjfExact, WsjfNamed};
