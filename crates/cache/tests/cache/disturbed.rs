//! Caches whose fetches fail, whose objects are removed, and whose capacity changes, against the naive model.

use proptest::prelude::*;
use trueplane_cache::policy::{Params, WithPolicy, with_policy};
use trueplane_cache::{Access, Directory, Key, Object, Outcome, Policy, Removed, Slot};
use trueplane_units::Nanos;

use crate::naive::{self, Step};
use crate::slotted::{Answer, requests, shared, told};

/// A fetch on its way.
struct Fetch {
    slot: Slot,
    began: u64,
    fails: bool,
}

/// A driver in slotted time around a cache.
struct Drive<'a> {
    steps: &'a [Step],
    z: u64,
    capacity: usize,
}

impl WithPolicy for Drive<'_> {
    type Output = (Vec<Answer>, Vec<Vec<u64>>);

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output {
        let trace: Vec<Option<u64>> = self.steps.iter().map(|step| step.arrival).collect();
        let (_, oracle) = requests(&trace, self.z);
        let keys: std::collections::BTreeSet<u64> = trace.iter().flatten().copied().collect();
        let mut cache = Directory::new(make(0), self.capacity as u64);
        let mut fetches: Vec<Fetch> = Vec::new();
        let (mut answers, mut contents, mut index) = (Vec::new(), Vec::new(), 0);
        for (step, happens) in (0..).zip(self.steps) {
            let now = Nanos(step);
            if let Some(key) = happens.arrival {
                let access = Access { now, future: oracle.future(index, Some(0)) };
                index += 1;
                let (outcome, slot) = cache.request(Object { key: Key(key), size: 1 }, access);
                let began = fetches.iter().find(|fetch| fetch.slot == slot).map(|fetch| fetch.began);
                let wait = match outcome {
                    Outcome::Hit => 0,
                    Outcome::Delayed => self.z - (step - began.expect("somebody waits for it")),
                    Outcome::Miss => {
                        assert!(began.is_none(), "a slot that waits for a fetch was given away");
                        fetches.push(Fetch { slot, began: step, fails: happens.fails });
                        self.z
                    }
                };
                answers.push((told(outcome), wait));
            }
            if let Some(key) = happens.remove {
                let was_resident = cache.contains(Key(key));
                let removed = cache.remove(Key(key), now);
                assert_eq!(matches!(removed, Removed::Resident(_)), was_resident);
                assert!(!cache.contains(Key(key)));
            }
            if let Some(capacity) = happens.resize {
                let _ = cache.resize(capacity as u64, now);
            }
            if let Some(due) = fetches.iter().position(|fetch| fetch.began + self.z - 1 == step) {
                let Fetch { slot, fails, .. } = fetches.remove(due);
                if fails {
                    assert!(cache.failed(slot) && !cache.failed(slot), "it ends once");
                } else {
                    let _ = cache.fetched(slot, Nanos(self.z), now);
                }
            }
            let residents: Vec<u64> = keys.iter().copied().filter(|&key| cache.contains(Key(key))).collect();
            assert_eq!((cache.len(), cache.used()), (residents.len(), residents.len() as u64));
            assert_eq!(cache.is_empty(), residents.is_empty());
            contents.push(residents);
        }
        (answers, contents)
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || prop_oneof![4 => 0..4u64, 4 => 0..12u64, 2 => 0..40u64];
    let rarely = |weight, key| prop_oneof![9 => Just(None), weight => prop::option::of(key)];
    let step = (
        prop_oneof![1 => Just(None), 10 => key().prop_map(Some)],
        prop::bool::weighted(0.15),
        rarely(2, key().boxed()),
        prop_oneof![40 => Just(None), 1 => (1..20usize).prop_map(Some)],
    );
    let step = step.prop_map(|(arrival, fails, remove, resize)| Step { arrival, fails, remove, resize });
    prop::collection::vec(step, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_fails_is_removed_or_resized_fares_as_in_the_naive_model(steps in steps(), z in 1..60u64, capacity in 1..20usize) {
        for (policy, mad_memory, naive) in shared() {
            let params = Params { mad_memory, ..Params::objects(capacity as u64) };
            let (answers, contents) = with_policy(policy, params, Drive { steps: &steps, z, capacity });
            let (served, expected) = naive::serve_steps(naive, &steps, z, capacity);
            let served: Vec<Answer> = served.iter().map(|served| (served.outcome, served.latency)).collect();
            prop_assert_eq!(answers, served, "{} {:?}", policy, mad_memory);
            prop_assert_eq!(contents, expected, "{} {:?}", policy, mad_memory);
        }
    }
}
