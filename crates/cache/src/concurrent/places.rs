//! The places of a shard: a [`Directory`] under any policy, behind one type.

use trueplane_units::Nanos;

use crate::policy::{Params, PolicyName, WithPolicy, with_policy};
use crate::{Access, Directory, FetchId, Object, Policy, Slot};

/// Looking up is compiled into the shard; what the policy is told takes one indirect jump.
pub(super) type Places = Directory<Box<dyn Policy + Send + Sync>>;

/// Directories of these capacities under the policy called `name`; the n-th draws by the n-th seed.
pub(super) fn places(name: PolicyName, params: Params, capacities: &[u64]) -> Vec<Places> {
    with_policy(name, params, Make(capacities))
}

struct Make<'a>(&'a [u64]);

impl WithPolicy for Make<'_> {
    type Output = Vec<Places>;

    fn with<P: Policy + Send + Sync + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output {
        let directory =
            |(number, &capacity): (u64, &u64)| Directory::new(Box::new(make(number)) as Box<_>, capacity);
        (0..).zip(self.0).map(directory).collect()
    }
}

/// A request for what is not there: its slot, and the name of its fetch.
pub(super) fn miss(places: &mut Places, object: Object, now: Nanos) -> (Slot, FetchId) {
    let (_, slot) = places.request(object, Access::at(now));
    (slot, places.fetch_id(slot).expect("a miss has begun a fetch"))
}
