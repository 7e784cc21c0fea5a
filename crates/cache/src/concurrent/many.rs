//! One fetch for many keys.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::cache::Cache;
use super::error::{AnyError, FetchError};
use super::nested;
use super::shared::{Asked, Own, Seat, Shared};
use super::waiting::Waiting;

impl<K, V, S> Cache<K, V, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// The values of many keys, in their order. Those that are not there are fetched together by `fetch`, which gets their keys, but for
    /// those that other requests fetch already.
    ///
    /// The caller works on the fetch. If it leaves, the others who wait for one of the keys fetch it themselves.
    ///
    /// # Errors
    ///
    /// For each key as [`get_or_fetch`](Self::get_or_fetch); also [`FetchError::NotBrought`] for a key that the fetch brings no value for.
    pub async fn get_many_or_fetch<F, W, E>(&self, keys: &[K], fetch: F) -> Vec<Result<V, FetchError>>
    where
        F: FnOnce(Vec<K>) -> W,
        W: Future<Output = Result<HashMap<K, V>, E>>,
        E: Into<AnyError>,
    {
        let mut answers: Vec<Option<Result<V, FetchError>>> = Vec::with_capacity(keys.len());
        let (mut waits, mut batch) = (Vec::new(), Batch { shared: &self.shared, seats: Vec::new() });
        for (place, key) in keys.iter().enumerate() {
            let mut own = Own::new(|| None);
            let asked = self.shared.ask(self.hash(key), |other| other == key, || key.clone(), &mut own);
            answers.push(match asked {
                Asked::Answer(answer) => Some(answer),
                Asked::Wait(seat) => {
                    waits.push((place, seat));
                    None
                }
                Asked::Fetch(seat) => {
                    batch.seats.push((place, seat));
                    None
                }
            });
        }
        if !batch.seats.is_empty() {
            let wanted = batch.seats.iter().map(|(_, seat)| seat.flight.key.clone()).collect();
            for (place, answer) in batch.fetch(move || fetch(wanted)).await {
                answers[place] = Some(answer);
            }
        }
        for (place, mut seat) in waits {
            let instead = seat.instead.take();
            let waited = (Waiting { shared: Arc::clone(&self.shared), seat }).await;
            let answer = waited.unwrap_or(Err(FetchError::Dropped));
            answers[place] = Some(answer.or_else(|error| instead.ok_or(error)));
        }
        answers.into_iter().map(|answer| answer.unwrap_or(Err(FetchError::Dropped))).collect()
    }
}

/// Fetches that one future works on, with the places of their keys.
struct Batch<'a, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    shared: &'a Arc<Shared<K, V, S>>,
    /// Those that have not ended.
    seats: Vec<(usize, Seat<K, V>)>,
}

impl<K, V, S> Batch<'_, K, V, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// Fetches, lands all, and answers for each place.
    async fn fetch<W, E>(&mut self, fetch: impl FnOnce() -> W) -> Vec<(usize, Result<V, FetchError>)>
    where
        W: Future<Output = Result<HashMap<K, V>, E>>,
        E: Into<AnyError>,
    {
        let flights: Vec<nested::Id> = self.seats.iter().map(|(_, seat)| seat.flight.id()).collect();
        let made = catch_unwind(AssertUnwindSafe(fetch)).map_err(|payload| FetchError::panicked(&*payload));
        let mut brought = match made {
            Ok(work) => Guarded { work: pin!(work), flights }.await,
            Err(error) => Err(error),
        };
        let mut answers = Vec::with_capacity(self.seats.len());
        while let Some((place, Seat { flight, instead, .. })) = self.seats.pop() {
            let answer = match &mut brought {
                Ok(values) => values.remove(&flight.key).ok_or(FetchError::NotBrought),
                Err(error) => Err(error.clone()),
            };
            self.shared.land(&flight, answer.clone());
            answers.push((place, answer.or_else(|error| instead.ok_or(error))));
        }
        answers
    }
}

/// The caller leaves before the fetch has ended.
impl<K, V, S> Drop for Batch<'_, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        for (_, Seat { flight, .. }) in self.seats.drain(..) {
            flight.give_up();
            self.shared.give_up(&flight);
        }
    }
}

/// The future of a batch: a panic in it is an error, and it may not wait for its own keys.
struct Guarded<'a, W> {
    work: Pin<&'a mut W>,
    flights: Vec<nested::Id>,
}

impl<T, E, W> Future for Guarded<'_, W>
where
    W: Future<Output = Result<T, E>>,
    E: Into<AnyError>,
{
    type Output = Result<T, FetchError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let within: Vec<_> = this.flights.iter().map(|flight| nested::enter(*flight)).collect();
        let polled = catch_unwind(AssertUnwindSafe(|| this.work.as_mut().poll(context)));
        drop(within);
        match polled {
            Ok(polled) => polled.map(|result| result.map_err(FetchError::failed)),
            Err(payload) => Poll::Ready(Err(FetchError::panicked(&*payload))),
        }
    }
}
