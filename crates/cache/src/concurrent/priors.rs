//! Fetch times of groups of keys, for values of which nobody says how long they took.

use hashbrown::HashMap;
use trueplane_units::Nanos;

/// Groups that are told apart, at most.
const MOST_GROUPS: usize = 1024;

/// The smoothed fetch time of every group.
#[derive(Debug, Default)]
pub(super) struct Priors {
    times: HashMap<u64, Nanos>,
}

impl Priors {
    /// A value of this group took so long: an average with weight 1/8 on the newest, as RFC 6298 §2 has it for round trips.
    pub(super) fn learn(&mut self, group: u64, took: Nanos) {
        let has_room = self.times.len() < MOST_GROUPS;
        match self.times.get_mut(&group) {
            Some(time) if took >= *time => time.0 += (took.0 - time.0) / 8,
            Some(time) => time.0 -= (time.0 - took.0) / 8,
            None if has_room => {
                self.times.insert(group, took);
            }
            None => {}
        }
    }

    /// The time that a value of this group takes, as far as is known.
    pub(super) fn of(&self, group: u64) -> Nanos {
        self.times.get(&group).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_its_time() {
        let mut priors = Priors::default();
        assert_eq!(priors.of(1), Nanos(0));
        priors.learn(1, Nanos(80));
        priors.learn(1, Nanos(160));
        priors.learn(2, Nanos(8));
        priors.learn(2, Nanos(0));
        assert_eq!((priors.of(1), priors.of(2), priors.of(3)), (Nanos(90), Nanos(7), Nanos(0)));
        (0..5_000).for_each(|group| priors.learn(group, Nanos(1)));
        assert_eq!((priors.times.len(), priors.of(4_999)), (MOST_GROUPS, Nanos(0)));
    }
}
