//! Fetches that are to renew what is there.

use std::sync::Arc;

use trueplane_units::Nanos;

use super::arriving::{Arriving, Failed, Met};
use super::expiry::Freshness;
use super::flight::Flight;
use super::gone::{Cause, Gone};
use super::shard::Shard;
use crate::{Key, Outcome};

impl<K: Eq, V> Shard<K, V> {
    /// What is met where nothing is: a fetch that was to renew what has left meanwhile is as good as any.
    pub(super) fn renewal_or_nothing(&mut self, hash: u64, is_key: impl Fn(&K) -> bool) -> Met<K, V> {
        match self.renewals.get(&hash).filter(|flight| is_key(&flight.key)) {
            Some(flight) => {
                self.counts.delayed += 1;
                Met::Flight(Arc::clone(flight))
            }
            None => Met::Nothing,
        }
    }

    /// Whether an entry is there that may be served and is to be fetched again, which nobody does yet.
    pub(super) fn is_to_be_renewed(&self, hash: u64, is_key: impl Fn(&K) -> bool, now: Nanos) -> bool {
        let (Outcome::Hit, Some(slot)) = self.places.look_up(Key(hash)) else { return false };
        let is_own = self.holds(slot, is_key);
        let now = self.seen(now);
        let freshness = self.expiry.as_ref().map(|expiry| expiry.freshness(slot, now));
        is_own
            && matches!(freshness, Some(Freshness::Ageing | Freshness::Stale))
            && !self.renewals.contains_key(&hash)
    }

    /// The fetch that renews what is there for a key, if there is one; none at all if nothing is there.
    pub(super) fn renewal(
        &self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
    ) -> Option<Option<Arc<Flight<K, V>>>> {
        let (Outcome::Hit, Some(slot)) = self.places.look_up(Key(hash)) else { return None };
        let renewal = self.renewals.get(&hash).filter(|flight| is_key(&flight.key));
        self.holds(slot, &is_key).then(|| renewal.cloned())
    }

    /// Begins a fetch for what is there and is to be renewed.
    pub(super) fn begin_renewal(&mut self, flight: Flight<K, V>) -> Arc<Flight<K, V>> {
        let flight = Arc::new(flight);
        self.renewals.insert(flight.hash, Arc::clone(&flight));
        flight
    }

    /// A fetch has ended that was to renew what is there. A failure changes nothing.
    pub(super) fn land_renewal(
        &mut self,
        flight: &Arc<Flight<K, V>>,
        arrived: Result<Arriving<V>, Failed>,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) where
        K: Clone,
    {
        let key = flight.key.clone();
        if !self.renewals.get(&flight.hash).is_some_and(|other| Arc::ptr_eq(other, flight)) {
            if let Ok(arriving) = arrived {
                gone.push(key, arriving.value, Cause::Removed);
            }
            return;
        }
        self.renewals.remove(&flight.hash);
        match arrived {
            Ok(mut arriving) => {
                let took = self.at(now).since(flight.began);
                arriving.took = Some(took);
                self.counts.fetched(took);
                self.insert(flight.hash, key, arriving, now, gone);
            }
            Err(failed) => self.counts.failures += u64::from(failed.is_told()),
        }
    }
}
