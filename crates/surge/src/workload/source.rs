//! What a workload is to a study: its packets, its application, and what is known of both.

use std::sync::Arc;

use trueplane_units::Nanos;

use crate::application::Application;
use crate::theory::{Attack, Job};
use crate::traffic::{Load, Offered, Pool};

/// The packets of users.
#[derive(Clone, Debug)]
pub struct Drawn<P> {
    /// Packets in the order of their arrival.
    pub packets: Arc<[Offered<P>]>,
    /// Times at which they come, from zero on and never falling, if they have times of their own.
    pub times: Option<Arc<[Nanos]>>,
}

impl<P> Drawn<P> {
    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let times = self.times.as_ref().map_or(0, |times| size_of_val::<[Nanos]>(times));
        (size_of_val::<[Offered<P>]>(&self.packets) + times) as u64
    }
}

/// Knowledge of an attacker about packets.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Jobs: what each takes and is thought to take when it comes.
    pub jobs: Vec<Job>,
    /// The packets that the scheduler still misjudges when they come again.
    pub misjudged: Vec<Attack>,
}

/// Name by which the application of a source knows a packet.
pub type PacketOf<S> = <<S as Source>::Application as Application>::Packet;

/// Source of packets, with the application that serves them.
pub trait Source: Sync {
    /// Application that serves the packets.
    type Application: Application<Packet: Send + Sync>;

    /// The application as it starts.
    fn application(&self) -> Self::Application;

    /// The packets of a seed.
    fn draw(&self, seed: u64) -> Drawn<PacketOf<Self>>;

    /// Bytes of memory that the packets of a seed will take, about.
    fn bytes(&self) -> u64;

    /// Whether a seed changes them.
    fn is_random(&self) -> bool {
        false
    }

    /// Packets that were left out, by kind, with their numbers.
    fn left_out(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// The largest job that an attacker can cause, where that is known; else it is that of users.
    fn largest_job(&self) -> Option<Nanos> {
        None
    }

    /// Real packets of an attack on the application, over and over; none if it has no packets of its own.
    fn attack(&self) -> Option<Pool<PacketOf<Self>>> {
        None
    }

    /// Work and estimate of every packet if no other packets arrive, in their order.
    fn profile(&self, drawn: &Drawn<PacketOf<Self>>) -> Profile {
        let mut application = self.application();
        let mut misjudged = Vec::new();
        let job = |offered: &Offered<_>| {
            let (job, estimate, again) = match offered.load {
                Load::Given { job, estimate } => (job, estimate, estimate),
                Load::Real(packet) => {
                    let estimate = application.estimate(packet);
                    let job = application.serve(packet);
                    (job, estimate, application.again(packet, estimate))
                }
            };
            if job != again {
                misjudged.push(Attack { bits: offered.bits, job, estimate: again });
            }
            Job { flow: offered.flow, bits: offered.bits, job, estimate }
        };
        let jobs = drawn.packets.iter().map(job).collect();
        Profile { jobs, misjudged }
    }
}
