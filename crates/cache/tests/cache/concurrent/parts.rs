//! Values that come in parts.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use trueplane_cache::{Cache, FetchError, Outcome, Parts, Reader, Sink};

use super::{Gate, Plain, poll};

type Files = Cache<u64, Parts<u64>, Plain>;
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

fn files() -> Files {
    builder().build()
}

fn builder() -> trueplane_cache::Builder<u64, Parts<u64>, Plain> {
    Cache::builder()
        .capacity(100)
        .shards(1)
        .hasher(Plain::Itself)
        .weigher(|_, parts: &Parts<u64>| parts.with(|parts| parts.iter().sum()))
}

/// What a reader says now: a part, nothing yet, the end or an error.
fn read(reader: &mut Reader<u64, u64, Plain>) -> Option<Option<Result<u64, FetchError>>> {
    match reader.poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => Some(read),
        Poll::Pending => None,
    }
}

fn all(reader: &mut Reader<u64, u64, Plain>) -> Vec<u64> {
    std::iter::from_fn(|| read(reader).expect("it does not wait")).map(Result::unwrap).collect()
}

/// A fetch that brings a part whenever a gate opens, and ends with the last one.
async fn by_gates(
    sink: Sink<u64>,
    gates: [Gate<u64>; 3],
    end: Result<(), io::Error>,
) -> Result<(), io::Error> {
    for gate in gates {
        sink.push(gate.await);
    }
    end
}

fn gates() -> [Gate<u64>; 3] {
    [Gate::new(), Gate::new(), Gate::new()]
}

#[test]
fn all_read_the_parts_as_they_arrive() {
    let (cache, gates) = (files(), gates());
    let fetch = |sink| by_gates(sink, gates.clone(), Ok(()));
    let mut first = cache.get_or_stream(&1, fetch).unwrap();
    assert!(read(&mut first).is_none());
    gates[0].open(10);
    let mut second = cache.get_or_stream(&1, |_| async { Ok::<_, Infallible>(()) }).unwrap();
    // Whoever comes first works on the fetch; the other one gets what it brings.
    assert_eq!(read(&mut second).unwrap().unwrap().unwrap(), 10);
    assert_eq!(read(&mut first).unwrap().unwrap().unwrap(), 10);
    gates[1].open(20);
    gates[2].open(30);
    // A reader that leaves leaves its work to the others.
    drop(first);
    assert_eq!(all(&mut second), [20, 30]);
    assert!(read(&mut second).unwrap().is_none());
    assert_eq!((cache.len(), cache.weight(), cache.stats().fetches), (1, 60, 1));
    let mut third = cache.get_or_stream(&1, |_| async { Ok::<_, Infallible>(()) }).unwrap();
    assert_eq!(all(&mut third), [10, 20, 30]);
    assert!(cache.get(&1).unwrap().is_whole());
}

#[test]
fn readers_hear_of_a_failure_after_what_has_come() {
    let (cache, gates) = (files(), gates());
    let mut first =
        cache.get_or_stream(&1, |sink| by_gates(sink, gates.clone(), Err(io::Error::other("cut")))).unwrap();
    let mut second = cache.get_or_stream(&1, |_| async { Ok::<_, Infallible>(()) }).unwrap();
    (0..3).for_each(|place| gates[place].open(place as u64));
    for reader in [&mut first, &mut second] {
        for part in 0..3 {
            assert_eq!(read(reader).unwrap().unwrap().unwrap(), part);
        }
        assert_eq!(read(reader).unwrap().unwrap().unwrap_err().to_string(), "cut");
        assert!(read(reader).unwrap().is_none());
    }
    assert!(cache.is_empty());
    let mut panics = cache
        .get_or_stream(&2, |sink: Sink<u64>| async move {
            sink.push(1);
            if true {
                panic!("lost");
            }
            Ok::<_, Infallible>(())
        })
        .unwrap();
    assert_eq!(read(&mut panics).unwrap().unwrap().unwrap(), 1);
    assert!(matches!(read(&mut panics), Some(Some(Err(FetchError::Panicked(_))))));
    assert!(read(&mut panics).unwrap().is_none());
}

#[test]
fn a_task_goes_on_when_all_readers_have_left() {
    let tasks: Arc<Mutex<Vec<Task>>> = Arc::default();
    let spawned = Arc::clone(&tasks);
    let cache = builder().spawner(move |task| spawned.lock().unwrap().push(task)).build();
    let gates = gates();
    let mut reader = cache.get_or_stream(&1, |sink| by_gates(sink, gates.clone(), Ok(()))).unwrap();
    let mut task: super::Request<'_, ()> = tasks.lock().unwrap().pop().unwrap();
    assert!(read(&mut reader).is_none() && poll(&mut task).is_none());
    gates[0].open(1);
    assert!(poll(&mut task).is_none());
    assert_eq!(read(&mut reader).unwrap().unwrap().unwrap(), 1);
    drop(reader);
    gates[1].open(2);
    gates[2].open(3);
    assert!(poll(&mut task).is_some());
    assert_eq!(cache.get(&1).unwrap().with(<[u64]>::to_vec), [1, 2, 3]);
}

#[test]
fn without_readers_a_fetch_is_dropped() {
    let (cache, gates) = (files(), gates());
    let mut reader = cache.get_or_stream(&1, |sink| by_gates(sink, gates.clone(), Ok(()))).unwrap();
    gates[0].open(1);
    assert!(read(&mut reader).is_some());
    drop(reader);
    let mut again = cache
        .get_or_stream(&1, |sink| async move {
            sink.push(7);
            Ok::<_, Infallible>(())
        })
        .unwrap();
    assert_eq!(all(&mut again), [7]);
    // A whole value that somebody fetches at once is read when it is there.
    let gate = Gate::new();
    let mut whole: super::Request<'_, _> = {
        let gate = gate.clone();
        Box::pin(cache.get_or_fetch(&2, || gate))
    };
    assert!(poll(&mut whole).is_none());
    let mut reader = cache.get_or_stream(&2, |_| async { Ok::<_, Infallible>(()) }).unwrap();
    assert!(read(&mut reader).is_none());
    gate.open(Ok::<_, Infallible>([4, 5].into_iter().collect::<Parts<u64>>()));
    assert!(poll(&mut whole).is_some());
    assert_eq!(all(&mut reader), [4, 5]);
}

#[test]
fn readers_know_whether_they_hit() {
    let (cache, gates) = (files(), gates());
    let none = |_| async { Ok::<_, Infallible>(()) };
    let mut first = cache.get_or_stream(&1, |sink| by_gates(sink, gates.clone(), Ok(()))).unwrap();
    let second = cache.get_or_stream(&1, none).unwrap();
    assert_eq!((first.outcome(), second.outcome()), (Outcome::Miss, Outcome::Delayed));
    [1, 2, 3].into_iter().zip(&gates).for_each(|(part, gate)| gate.open(part));
    assert_eq!(all(&mut first), [1, 2, 3]);
    let third = cache.get_or_stream(&1, none).unwrap();
    assert_eq!(third.outcome(), Outcome::Hit);
    assert!(third.parts().is_some_and(Parts::is_whole));
    // One that is unfit is fetched again, and stays until then.
    let is_short = |parts: &Parts<u64>| parts.with(<[u64]>::len) < 4;
    let gates = self::gates();
    let fetch = |sink| by_gates(sink, gates.clone(), Ok(()));
    let mut renewing = cache.get_or_stream_unless(&1, is_short, fetch).unwrap();
    let mut waiting = cache.get_or_stream_unless(&1, is_short, none).unwrap();
    assert_eq!((renewing.outcome(), waiting.outcome()), (Outcome::Miss, Outcome::Delayed));
    assert_eq!(cache.get_or_stream(&1, none).unwrap().outcome(), Outcome::Hit);
    [7, 8, 9].into_iter().zip(&gates).for_each(|(part, gate)| gate.open(part));
    assert_eq!((all(&mut renewing), all(&mut waiting)), (vec![7, 8, 9], vec![7, 8, 9]));
    assert_eq!(cache.get(&1).unwrap().with(<[u64]>::to_vec), [7, 8, 9]);
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_reader_is_woken_once_for_each_part_however_often_it_looks() {
    let tasks: Arc<Mutex<Vec<Task>>> = Arc::default();
    let spawned = Arc::clone(&tasks);
    let cache = builder().spawner(move |task| spawned.lock().unwrap().push(task)).build();
    let gates = gates();
    let fetch = |sink| by_gates(sink, gates.clone(), Ok(()));
    let mut readers: Vec<_> =
        (0..3).map(|_| (cache.get_or_stream(&1, fetch).unwrap(), Arc::new(Woken::default()))).collect();
    let mut task: super::Request<'_, ()> = tasks.lock().unwrap().pop().unwrap();
    assert!(poll(&mut task).is_none());
    for part in 0..3 {
        for (reader, woken) in &mut readers {
            let waker = Waker::from(Arc::clone(woken));
            for _ in 0..=part {
                assert!(reader.poll_next(&mut Context::from_waker(&waker)).is_pending());
            }
        }
        gates[part as usize].open(part);
        let _ = poll(&mut task);
        for (reader, woken) in &mut readers {
            // Those who wait for the last part hear of the end, too.
            assert!((part + 1..=part + 2).contains(&woken.0.load(Ordering::Relaxed)));
            assert_eq!(read(reader).unwrap().unwrap().unwrap(), part);
        }
    }
}
