//! The orders of service by name, made: with find-first-set or exact ranks.

use std::fmt;

use trueplane_pqueue::{BadShape, MOST_ITEMS};
use trueplane_study::Error;

use crate::policy::{
    Drr, DrrExact, Fcfs, Fq, FqExact, PolicyName, Sjf, SjfExact, SjfInorder, SjfInorderExact, Wsjf,
    WsjfExact, WsjfHoq, WsjfHoqExact, WsjfInorder, WsjfInorderExact,
};
use crate::server::Ticket;
use crate::{Packet, Policy};

impl PolicyName {
    /// Bytes of memory for every packet that may wait.
    pub fn bytes_per_packet(self, exact: bool) -> u64 {
        let bytes = match (self, exact) {
            // A growing queue is for a moment there twice, the second time twice as large.
            (PolicyName::Fcfs, _) => 3 * size_of::<(Packet, Ticket)>(),
            (PolicyName::Fq, false) => Fq::<Ticket>::bytes_per_packet(),
            (PolicyName::Fq, true) => FqExact::<Ticket>::bytes_per_packet(),
            (PolicyName::Drr, false) => Drr::<Ticket>::bytes_per_packet(),
            (PolicyName::Drr, true) => DrrExact::<Ticket>::bytes_per_packet(),
            (PolicyName::Sjf, false) => Sjf::<Ticket>::bytes_per_packet(),
            (PolicyName::Sjf, true) => SjfExact::<Ticket>::bytes_per_packet(),
            (PolicyName::Wsjf, false) => Wsjf::<Ticket>::bytes_per_packet(),
            (PolicyName::Wsjf, true) => WsjfExact::<Ticket>::bytes_per_packet(),
            (PolicyName::WsjfHoq, false) => WsjfHoq::<Ticket>::bytes_per_packet(),
            (PolicyName::WsjfHoq, true) => WsjfHoqExact::<Ticket>::bytes_per_packet(),
            (PolicyName::WsjfInorder, false) => WsjfInorder::<Ticket>::bytes_per_packet(),
            (PolicyName::WsjfInorder, true) => WsjfInorderExact::<Ticket>::bytes_per_packet(),
            (PolicyName::SjfInorder, false) => SjfInorder::<Ticket>::bytes_per_packet(),
            (PolicyName::SjfInorder, true) => SjfInorderExact::<Ticket>::bytes_per_packet(),
        };
        bytes as u64
    }
}

/// Settings from which a policy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that it has room for.
    pub capacity: usize,
    /// Ranks as they are, over a heap, instead of rounded for a find-first-set queue.
    pub exact: bool,
}

/// Does something with a policy whose kind is only known at run time.
pub trait Visitor {
    /// Result of the visitor.
    type Output;

    /// Does it.
    ///
    /// # Errors
    /// What the visitor has to say.
    fn visit<P: Policy<Ticket>>(self, policy: P) -> Result<Self::Output, Error>;
}

/// Lets `visitor` work with the policy of this name.
///
/// # Errors
/// If there cannot be such a policy; those of the visitor.
pub fn with_policy<V: Visitor>(name: PolicyName, settings: Settings, visitor: V) -> Result<V::Output, Error> {
    let capacity = settings.capacity.clamp(1, MOST_ITEMS as usize);
    if settings.exact {
        return visitor.visit(exact(name, capacity).map_err(parameters)?);
    }
    match name {
        PolicyName::Fcfs => visitor.visit(Fcfs::new(capacity)),
        PolicyName::Fq => visitor.visit(Fq::new(capacity).map_err(parameters)?),
        PolicyName::Drr => visitor.visit(Drr::new(capacity).map_err(parameters)?),
        PolicyName::Sjf => visitor.visit(Sjf::new(capacity).map_err(parameters)?),
        PolicyName::Wsjf => visitor.visit(Wsjf::new(capacity).map_err(parameters)?),
        PolicyName::WsjfHoq => visitor.visit(WsjfHoq::new(capacity).map_err(parameters)?),
        PolicyName::WsjfInorder => visitor.visit(WsjfInorder::new(capacity).map_err(parameters)?),
        PolicyName::SjfInorder => visitor.visit(SjfInorder::new(capacity).map_err(parameters)?),
    }
}

/// The policy with exact ranks: for reference, so that it need not be compiled into every server.
fn exact(name: PolicyName, capacity: usize) -> Result<Box<dyn Policy<Ticket>>, BadShape> {
    Ok(match name {
        PolicyName::Fcfs => Box::new(Fcfs::new(capacity)),
        PolicyName::Fq => Box::new(FqExact::new(capacity)?),
        PolicyName::Drr => Box::new(DrrExact::new(capacity)?),
        PolicyName::Sjf => Box::new(SjfExact::new(capacity)?),
        PolicyName::Wsjf => Box::new(WsjfExact::new(capacity)?),
        PolicyName::WsjfHoq => Box::new(WsjfHoqExact::new(capacity)?),
        PolicyName::WsjfInorder => Box::new(WsjfInorderExact::new(capacity)?),
        PolicyName::SjfInorder => Box::new(SjfInorderExact::new(capacity)?),
    })
}

fn parameters(error: impl fmt::Display) -> Error {
    Error::Parameters(error.to_string())
}
