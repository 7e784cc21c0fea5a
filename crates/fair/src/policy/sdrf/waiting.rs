//! The users who wait: who is first, and the whole order where somebody asks for it.

use trueplane_pqueue::{Curve as _, KineticTournament, LiveTree};

use super::course::Course;

/// The users who wait.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// Only who is first is known, at the last instant that somebody asked.
    First(KineticTournament<Course>, u128),
    /// The whole order is kept as time passes, and whether it has been from the start.
    Ordered(LiveTree<Course>, bool),
}

impl Default for Waiting {
    fn default() -> Self {
        Self::First(KineticTournament::default(), 0)
    }
}

impl Waiting {
    /// Nobody waits; the whole order will be kept, and its changes counted.
    pub(super) fn counting() -> Self {
        Self::Ordered(LiveTree::default(), true)
    }

    /// Keeps the whole order from now on. O(n log n) for n users who wait, once.
    pub(super) fn keep_order(&mut self, instant: u128) {
        let Self::First(tournament, _) = self else { return };
        let mut tree = LiveTree::default();
        for user in 0..tournament.positions() {
            if let Some(course) = tournament.remove(user, instant) {
                tree.set(user, course, instant);
            }
        }
        *self = Self::Ordered(tree, false);
    }

    /// Whether the user waits.
    pub(super) fn has(&self, user: u32) -> bool {
        match self {
            Self::First(tournament, _) => tournament.curve(user).is_some(),
            Self::Ordered(tree, _) => tree.curve(user).is_some(),
        }
    }

    pub(super) fn set(&mut self, user: u32, course: Course, instant: u128) {
        match self {
            Self::First(tournament, _) => tournament.set(user, course, instant),
            Self::Ordered(tree, _) => tree.set(user, course, instant),
        }
    }

    pub(super) fn remove(&mut self, user: u32, instant: u128) {
        match self {
            Self::First(tournament, _) => drop(tournament.remove(user, instant)),
            Self::Ordered(tree, _) => drop(tree.remove(user, instant)),
        }
    }

    pub(super) fn first(&mut self, instant: u128) -> Option<u32> {
        match self {
            Self::First(tournament, asked) => {
                *asked = instant;
                tournament.top(instant)
            }
            Self::Ordered(tree, _) => tree.first(instant),
        }
    }

    /// The user after `user` at the last instant that an order was asked for. O(n) for n users who wait while only who is first is known.
    pub(super) fn after(&self, user: u32) -> Option<u32> {
        match self {
            Self::First(tournament, asked) => {
                let course = tournament.curve(user)?;
                let others =
                    (0..tournament.positions()).filter_map(|user| Some((user, tournament.curve(user)?)));
                let later = others.filter(|(other, its)| *other != user && course.beats(its, *asked));
                later.reduce(|a, b| if a.1.beats(b.1, *asked) { a } else { b }).map(|(user, _)| user)
            }
            Self::Ordered(tree, _) => tree.after(user),
        }
    }

    /// All users who wait, the first one first.
    pub(super) fn order(&mut self, instant: u128) -> Vec<u32> {
        match self {
            Self::First(tournament, _) => {
                let users = 0..tournament.positions();
                let mut order: Vec<_> =
                    users.filter_map(|user| Some((tournament.curve(user)?.place(instant), user))).collect();
                order.sort_unstable();
                order.into_iter().map(|(_, user)| user).collect()
            }
            Self::Ordered(tree, _) => {
                let first = tree.first(instant);
                std::iter::successors(first, |&user| tree.after(user)).collect()
            }
        }
    }

    pub(super) fn advance(&mut self, instant: u128) {
        if let Self::Ordered(tree, _) = self {
            tree.advance(instant);
        }
    }

    /// Changes all curves at once; `instant` may be before earlier ones.
    pub(super) fn change_all(&mut self, instant: u128, change: impl FnMut(u32, &mut Course)) {
        match self {
            Self::First(tournament, _) => tournament.change_all(instant, change),
            Self::Ordered(tree, _) => tree.change_all(instant, change),
        }
    }

    /// Changes of places as time passed, where they are counted.
    pub(super) fn crossings(&self) -> Option<u64> {
        match self {
            Self::First(..) => None,
            Self::Ordered(tree, counts) => counts.then(|| tree.crossings()),
        }
    }
}
