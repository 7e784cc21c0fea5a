//! What is to be written, and what came of it.

use std::time::Duration;

use trueplane_fair::Nanos;

use crate::objects::{Kind, Ready};

/// Something to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Let a pod be scheduled, or a job run.
    Open {
        /// Pod or job.
        kind: Kind,
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its unique number: another one of the same name is not to be opened.
        uid: String,
        /// When it was admitted.
        at: Nanos,
        /// Whether it was admitted with its whole group.
        with_group: bool,
    },
    /// Write an event that says something to people.
    Tell {
        /// The kind of the object that it is about.
        kind: Kind,
        /// Its namespace; empty for a namespace itself.
        namespace: String,
        /// Its name.
        name: String,
        /// Its unique number; may be empty.
        uid: String,
        /// Whether something is wrong.
        is_warning: bool,
        /// A word for machines, such as `Waiting`.
        reason: &'static str,
        /// The sentence.
        text: String,
    },
    /// Write the condition of a tenant or a cohort.
    Condition {
        /// Tenant or cohort.
        kind: Kind,
        /// Its name.
        name: String,
        /// The condition.
        ready: Ready,
        /// Since when it is so, as it was written before; none if it begins now.
        since: Option<String>,
    },
}

/// The outcome of opening something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is open.
    Done,
    /// It was not written; it is to be tried again, after the time that the server asked for, if it asked.
    Again(Option<Duration>),
    /// Somebody has changed it meanwhile; it is to be tried again.
    Conflict,
    /// It is not there any more.
    Gone,
    /// The server does not allow it.
    Refused,
}
