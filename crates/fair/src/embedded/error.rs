//! Mistakes of whoever calls the scheduler.

use crate::ClusterError;

/// Why a call changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Time went back.
    #[error("expected a time of at least {last} ns, which was told before, found {found} ns")]
    Backwards {
        /// The last one told.
        last: u64,
        /// The one told now.
        found: u64,
    },
    /// Nobody has joined under that number.
    #[error("expected a user who has joined, found number {0}")]
    UnknownUser(u32),
    /// No task of that name runs.
    #[error("expected the name of a task that runs, found {0}")]
    NotRunning(u64),
    /// No task of that name waits.
    #[error("expected the name of a task that waits, found {0}")]
    NotWaiting(u64),
    /// A task of that name waits or runs.
    #[error("expected a name for the task that no other has, found {0}")]
    NameTaken(u64),
    /// A task says what it needs of more or fewer resources than there are.
    #[error("expected what the task needs of {expected} resources, found {found} amounts")]
    Resources {
        /// Number of resources of the cluster.
        expected: usize,
        /// Number of amounts that the task names.
        found: usize,
    },
    /// A task that could never run.
    #[error("expected a task that needs at most {capacity} of resource {resource}, found {found}")]
    TooLarge {
        /// Index of the resource.
        resource: usize,
        /// Capacity of the resource, in units.
        capacity: u64,
        /// Amount that the task needs, in units.
        found: u64,
    },
    /// A new capacity is too small for a task that waits.
    #[error(
        "expected a capacity of at least {needed} of resource {resource}, which task {task} needs that waits, found {found}"
    )]
    NeededByWaiting {
        /// Name of the task.
        task: u64,
        /// Index of the resource.
        resource: usize,
        /// Amount that the task needs, in units.
        needed: u64,
        /// Capacity that was given, in units.
        found: u64,
    },
    /// A ticket that is too large, or that another task of the user has.
    #[error("expected a ticket below 2^62 that no other task of the user has, found {0}")]
    Ticket(u64),
    /// A task that is said to run, for which there is no room.
    #[error("expected a task that fits what is free, found task {0}, which needs more")]
    NoRoom(u64),
    /// The user cannot join or leave, or the cluster cannot have this capacity.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}
