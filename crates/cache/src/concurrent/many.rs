//! One fetch for many keys.

use std::collections::HashMap;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::asking::{Asked, Own};
use super::cache::Cache;
use super::error::{AnyError, FetchError};
use super::nested;
use super::shared::{Guard, Shared};
use super::waiting::Waiting;

impl<K, V, S> Cache<K, V, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// The values of many keys, in their order. Those that are not there are fetched together by `fetch`, which gets their keys, but for
    /// those that other requests fetch already.
    ///
    /// The caller works on the fetch. If it leaves, the others who wait for one of the keys fetch it themselves; so `fetch` is called again for keys
    /// of which another one's fetch was given up.
    ///
    /// # Errors
    ///
    /// For each key as [`get_or_fetch`](Self::get_or_fetch); also [`FetchError::NotBrought`] for a key that the fetch brings no value for.
    pub async fn get_many_or_fetch<F, W, E>(&self, keys: &[K], mut fetch: F) -> Vec<Result<V, FetchError>>
    where
        F: FnMut(Vec<K>) -> W,
        W: Future<Output = Result<HashMap<K, V>, E>>,
        E: Into<AnyError>,
    {
        let mut answers: Vec<Option<Result<V, FetchError>>> = keys.iter().map(|_| None).collect();
        // A key that is there twice is asked for once.
        let mut places = HashMap::with_capacity(keys.len());
        let first: Vec<usize> =
            keys.iter().enumerate().map(|(place, key)| *places.entry(key).or_insert(place)).collect();
        loop {
            let (mut waits, mut batch) = (Vec::new(), Batch { shared: &self.shared, own: Vec::new() });
            for (place, key) in keys.iter().enumerate() {
                if answers[place].is_some() || first[place] != place {
                    continue;
                }
                let mut own = Own::new(|| None);
                match self.shared.ask(self.hash(key), |other| other == key, || key.clone(), &mut own) {
                    Asked::Answer(answer) => answers[place] = Some(answer),
                    Asked::Wait(waiting) => waits.push((place, waiting)),
                    Asked::Fetch(waiting) => batch.own.push((place, waiting)),
                    Asked::Again => {}
                }
            }
            for (place, answer) in batch.fetch(&mut fetch, &mut waits).await {
                answers[place] = Some(answer);
            }
            for place in 0..keys.len() {
                answers[place] = answers[first[place]].clone();
            }
            if answers.iter().all(Option::is_some) {
                return answers.into_iter().flatten().collect();
            }
        }
    }
}

/// Fetches that one future works on, with the places of their keys.
struct Batch<'a, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    shared: &'a Arc<Shared<K, V, S>>,
    /// Those that have not ended.
    own: Vec<(usize, Waiting<K, V, S>)>,
}

impl<K, V, S> Batch<'_, K, V, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// Fetches, lands all, and waits for those of others meanwhile. Answers for each place, but not for those whose fetch was given up.
    async fn fetch<F, W, E>(
        mut self,
        fetch: &mut F,
        waits: &mut Vec<(usize, Waiting<K, V, S>)>,
    ) -> Vec<(usize, Result<V, FetchError>)>
    where
        F: FnMut(Vec<K>) -> W,
        W: Future<Output = Result<HashMap<K, V>, E>>,
        E: Into<AnyError>,
    {
        let flights: Vec<nested::Id> = self.own.iter().map(|(_, own)| own.flight.id()).collect();
        let wanted: Vec<K> = self.own.iter().map(|(_, own)| own.flight.key.clone()).collect();
        let mut answers = Vec::new();
        if !wanted.is_empty() {
            let made = within(&flights, || fetch(wanted));
            let brought = match made {
                Ok(work) => {
                    let mut work = pin!(work);
                    poll_fn(|context| {
                        // Others may wait for this one to go on with what they share.
                        answers.extend(ended(waits, context));
                        match within(&flights, || work.as_mut().poll(context)) {
                            Ok(polled) => polled.map(|result| result.map_err(FetchError::failed)),
                            Err(error) => Poll::Ready(Err(error)),
                        }
                    })
                    .await
                }
                Err(error) => Err(error),
            };
            answers.extend(self.land(brought));
        }
        poll_fn(|context| {
            answers.extend(ended(waits, context));
            if waits.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        answers
    }

    /// Ends all fetches with what was brought.
    fn land(
        &mut self,
        mut brought: Result<HashMap<K, V>, FetchError>,
    ) -> Vec<(usize, Result<V, FetchError>)> {
        let mut answers = Vec::with_capacity(self.own.len());
        while let Some((place, mut own)) = self.own.pop() {
            let answer = match &mut brought {
                Ok(values) => values.remove(&own.flight.key).ok_or(FetchError::NotBrought),
                Err(error) => Err(error.clone()),
            };
            let guard = Guard { shared: self.shared, flight: &own.flight };
            self.shared.land(&own.flight, answer.clone());
            guard.done();
            answers.push((place, answer.or_else(|error| own.instead.take().ok_or(error))));
        }
        answers
    }
}

/// The caller leaves before the fetch has ended.
impl<K, V, S> Drop for Batch<'_, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        for (_, own) in self.own.drain(..) {
            own.flight.give_up();
            self.shared.give_up(&own.flight);
        }
    }
}

/// Does a part of the work of these flights; a panic is an error.
fn within<T>(flights: &[nested::Id], work: impl FnOnce() -> T) -> Result<T, FetchError> {
    let _within: Vec<_> = flights.iter().map(|flight| nested::enter(*flight)).collect();
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| FetchError::panicked(&*payload))
}

/// Polls all who wait, and takes out those that have ended, with their answers. A fetch that was given up has none.
fn ended<K, V, S>(
    waits: &mut Vec<(usize, Waiting<K, V, S>)>,
    context: &mut Context<'_>,
) -> Vec<(usize, Result<V, FetchError>)>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    let mut answers = Vec::new();
    waits.retain_mut(|(place, waiting)| match Pin::new(waiting).poll(context) {
        Poll::Pending => true,
        Poll::Ready(answer) => {
            answers.extend(answer.map(|answer| (*place, answer)));
            false
        }
    });
    answers
}
