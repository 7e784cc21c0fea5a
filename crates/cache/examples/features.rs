//! A feature store: a model asks for the features of many users at once, and all that are missing come in one query.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use trueplane_cache::Cache;

type Features = Arc<[f32]>;

/// The data base, which answers a query for many users.
#[derive(Default)]
struct Base {
    queries: AtomicU64,
    rows: AtomicU64,
}

impl Base {
    fn query(&self, users: Vec<u64>) -> HashMap<u64, Features> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(users.len() as u64, Ordering::Relaxed);
        users.into_iter().map(|user| (user, vec![user as f32, 0.5].into())).collect()
    }
}

/// Runs a future that never waits, as those of this example. A program has a runtime for that.
fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

pub(crate) fn main() {
    let (base, store) = (Base::default(), Cache::<u64, Features>::new(1_000));
    for batch in [[1, 2, 3, 4], [3, 4, 5, 6], [1, 2, 5, 6]] {
        let found =
            run(store.get_many_or_fetch(&batch, |users| ready(Ok::<_, Infallible>(base.query(users)))));
        for (user, features) in batch.into_iter().zip(found) {
            assert_eq!(features.map(|features| features[0]).ok(), Some(user as f32));
        }
    }
    // Six users in two queries; the last batch needs none.
    assert_eq!((base.queries.load(Ordering::Relaxed), base.rows.load(Ordering::Relaxed)), (2, 6));
    println!("{:?}", store.stats().hit_rate());
}
