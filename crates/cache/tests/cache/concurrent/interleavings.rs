//! Requests that come, go on, leave, fail and are overtaken in any order: in the end everybody has an answer, and nothing is left on its way.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use proptest::prelude::*;
use trueplane_cache::{Cache, FetchError};

use super::{Gate, Hand, Plain, Request, exact, poll};

const KEYS: u64 = 3;
const FETCHES: usize = 4;

/// What may happen next. Numbers of requests and gates are taken modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Ask(u64),
    AskMany(u64, u64),
    Poll(usize),
    Leave(usize),
    Open(usize),
    Fail(usize),
    Insert(u64),
    Remove(u64),
    Clear,
    Wait(u64),
}

fn step(writes: bool) -> impl Strategy<Value = Step> {
    let key = || 0..KEYS;
    let usual = prop_oneof![
        4 => key().prop_map(Step::Ask),
        2 => (key(), key()).prop_map(|(one, other)| Step::AskMany(one, other)),
        6 => any::<usize>().prop_map(Step::Poll),
        3 => any::<usize>().prop_map(Step::Leave),
        3 => any::<usize>().prop_map(Step::Open),
        1 => any::<usize>().prop_map(Step::Fail),
        2 => (0u64..60).prop_map(Step::Wait),
    ];
    let written = prop_oneof![key().prop_map(Step::Insert), key().prop_map(Step::Remove), Just(Step::Clear),];
    if writes { prop_oneof![8 => usual, 1 => written].boxed() } else { usual.boxed() }
}

/// A fetch that counts while it is alive and has been polled.
struct Counted {
    gate: Gate<Result<(), io::Error>>,
    keys: Vec<u64>,
    alive: Arc<[AtomicUsize]>,
    is_polled: bool,
    /// Whether fetches for one key may run side by side.
    may_meet: bool,
}

impl Future for Counted {
    type Output = Result<HashMap<u64, u64>, io::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.is_polled {
            self.is_polled = true;
            for key in &self.keys {
                let others = self.alive[*key as usize].fetch_add(1, Ordering::Relaxed);
                assert!(others == 0 || self.may_meet, "two fetches for {key} at once");
            }
        }
        let polled = Pin::new(&mut self.gate).poll(context);
        polled.map(|ended| ended.map(|()| self.keys.iter().map(|key| (*key, key * 10)).collect()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.is_polled {
            for key in &self.keys {
                self.alive[*key as usize].fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

/// The end of a fetch.
type End = Gate<Result<(), io::Error>>;
type Answers = Vec<(u64, Result<u64, FetchError>)>;

struct World<'a> {
    cache: &'a Cache<u64, u64, Plain>,
    gates: Rc<Cell<Vec<End>>>,
    alive: Arc<[AtomicUsize]>,
    may_meet: bool,
    waiting: Vec<Request<'a, Answers>>,
}

impl<'a> World<'a> {
    /// What makes fetches, each with a gate.
    fn fetches(&self) -> impl Fn(Vec<u64>) -> Counted + use<> {
        let (gates, alive, may_meet) = (Rc::clone(&self.gates), Arc::clone(&self.alive), self.may_meet);
        move |keys| {
            let gate = Gate::new();
            let mut all = gates.take();
            all.push(gate.clone());
            gates.set(all);
            Counted { gate, keys, alive: Arc::clone(&alive), is_polled: false, may_meet }
        }
    }

    fn ask(&mut self, key: u64) {
        let (cache, fetch) = (self.cache, self.fetches());
        self.waiting.push(Box::pin(async move {
            let fetch = || {
                let fetch = fetch(vec![key]);
                async move { fetch.await.map(|all| all[&key]) }
            };
            vec![(key, cache.get_or_fetch(&key, fetch).await)]
        }));
    }

    fn ask_many(&mut self, keys: [u64; 2]) {
        let (cache, fetch) = (self.cache, self.fetches());
        self.waiting.push(Box::pin(async move {
            let answers = cache.get_many_or_fetch(&keys, fetch).await;
            keys.into_iter().zip(answers).collect()
        }));
    }

    /// Polls one who waits; whoever has an answer waits no longer.
    fn poll(&mut self, place: usize) {
        if let Some(answers) = poll(&mut self.waiting[place]) {
            drop(self.waiting.swap_remove(place));
            for (key, answer) in answers {
                assert!(
                    answer.as_ref().is_err()
                        || matches!(answer, Ok(value) if value == key * 10 || value == 7)
                );
                if let Err(error) = answer {
                    let is_usual = matches!(error, FetchError::Failed(_) | FetchError::TooManyFetches(_));
                    assert!(is_usual, "{error}");
                }
            }
        }
    }
}

fn check(steps: &[Step], writes: bool) {
    let hand = Hand::default();
    let nanos = Duration::from_nanos;
    let cache = hand
        .moves(exact(2))
        .max_fetches(FETCHES)
        .time_to_live(nanos(100))
        .stale_while_revalidate(nanos(30))
        .stale_if_error(nanos(50))
        .refresh_ahead(0.7)
        .build();
    let alive: Arc<[AtomicUsize]> = (0..KEYS).map(|_| AtomicUsize::new(0)).collect();
    let mut world =
        World { cache: &cache, gates: Rc::default(), alive, may_meet: writes, waiting: Vec::new() };
    let mut now = 0;
    let gate = |world: &World<'_>, number: usize| {
        let gates = world.gates.take();
        let gate = (!gates.is_empty()).then(|| gates[number % gates.len()].clone());
        world.gates.set(gates);
        gate
    };
    for step in steps {
        let waiting = world.waiting.len();
        match *step {
            Step::Ask(key) => world.ask(key),
            Step::AskMany(one, other) => world.ask_many([one, other]),
            Step::Poll(number) if waiting > 0 => world.poll(number % waiting),
            Step::Leave(number) if waiting > 0 => drop(world.waiting.swap_remove(number % waiting)),
            Step::Open(number) => {
                if let Some(gate) = gate(&world, number) {
                    gate.open(Ok(()));
                }
            }
            Step::Fail(number) => {
                if let Some(gate) = gate(&world, number) {
                    gate.open(Err(io::Error::other("down")));
                }
            }
            Step::Insert(key) => cache.insert(key, 7),
            Step::Remove(key) => drop(cache.remove(&key).map(Box::new)),
            Step::Clear => cache.invalidate_all(),
            Step::Wait(time) => {
                now += time;
                hand.set(now);
            }
            _ => {}
        }
    }
    // Everything that is on its way comes, and all who are still there ask for it, in any order: as many rounds as fetches could begin.
    for _ in 0..steps.len() + 3 {
        let gates = world.gates.take();
        gates.iter().for_each(|gate| gate.open(Ok(())));
        world.gates.set(gates);
        for place in (0..world.waiting.len()).rev() {
            world.poll(place);
        }
    }
    assert!(world.waiting.is_empty(), "{} wait for ever", world.waiting.len());
    assert!(world.alive.iter().all(|alive| alive.load(Ordering::Relaxed) == 0));
    // Nothing is left on its way: as many fetches may begin as at the start.
    drop(world);
    let mut fresh: Vec<Request<'_, Result<u64, FetchError>>> = (0..FETCHES as u64)
        .map(|key| -> Request<'_, _> { Box::pin(cache_fetch(&cache, 100 + key)) })
        .collect();
    assert!(fresh.iter_mut().all(|request| poll(request).is_none()), "fetches are still counted");
    assert!(cache.weight() <= 2);
}

async fn cache_fetch(cache: &Cache<u64, u64, Plain>, key: u64) -> Result<u64, FetchError> {
    cache.get_or_fetch(&key, Gate::<Result<u64, io::Error>>::new).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn everybody_has_an_answer_and_no_key_two_fetches(steps in prop::collection::vec(step(false), 1..60)) {
        check(&steps, false);
    }

    #[test]
    fn everybody_has_an_answer_whatever_is_written(steps in prop::collection::vec(step(true), 1..60)) {
        check(&steps, true);
    }
}
