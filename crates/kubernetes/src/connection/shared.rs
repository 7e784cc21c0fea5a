//! What the parts of the process share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use trueplane_fair::Nanos;

use super::clock::Clock;
use crate::controller::Controller;

/// Where the controller keeps what is its own, and how it is called.
#[derive(Clone, Debug)]
pub struct Place {
    /// The namespace of its lease and its ConfigMap.
    pub namespace: String,
    /// The name of both.
    pub name: String,
    /// The name of this process, which no other has.
    pub identity: String,
}

/// The loop is well if it has turned within this.
const WELL: Nanos = Nanos(30_000_000_000);

/// What all parts of the process share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) controller: Mutex<Controller>,
    pub(super) clock: Clock,
    /// When the loop last turned.
    pub(super) turned: Mutex<Nanos>,
    /// Until when this process leaves the lead to others, as it could not lead.
    pub(super) unable_until: Mutex<Nanos>,
    /// Errors of watches, which begin again by themselves.
    pub(super) watch_errors: Mutex<u64>,
}

impl Shared {
    pub(super) fn controller(&self) -> MutexGuard<'_, Controller> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watch_errors(&self) -> u64 {
        *self.watch_errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop has turned.
    pub(super) fn turn(&self) {
        *self.turned.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.now();
    }

    /// Others may lead for so long, since this process cannot.
    pub(super) fn cannot_lead(&self, pause: Nanos) {
        let until = Nanos(self.clock.now().0.saturating_add(pause.0));
        *self.unable_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    pub(super) fn is_well(&self) -> bool {
        let turned = *self.turned.lock().unwrap_or_else(PoisonError::into_inner);
        let unable_until = *self.unable_until.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        now.since(turned) < WELL && now >= unable_until
    }
}
