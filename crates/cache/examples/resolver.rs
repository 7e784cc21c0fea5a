//! A resolver such as one for DNS: every answer says how long it holds, names that do not exist are remembered for a while, and when the servers
//! are down old answers are better than none.

use std::collections::HashMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trueplane_cache::{Cache, FetchError, Nanos, PolicyName};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    address: Ipv4Addr,
    holds: Duration,
}

#[derive(Debug, PartialEq, Eq)]
enum Problem {
    NoSuchName,
    Unreachable,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Problem {}

/// The servers, which are far away.
#[derive(Default)]
struct Servers {
    names: Mutex<HashMap<String, Answer>>,
    asked: AtomicU64,
}

impl Servers {
    fn ask(&self, name: &str) -> Result<Answer, Problem> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let names = self.names.lock().map_err(|_| Problem::Unreachable)?;
        if names.is_empty() {
            return Err(Problem::Unreachable);
        }
        names.get(name).cloned().ok_or(Problem::NoSuchName)
    }
}

struct Resolver {
    servers: Servers,
    answers: Cache<String, Answer>,
}

impl Resolver {
    fn resolve(&self, name: &str) -> Result<Ipv4Addr, FetchError> {
        self.answers.get_or_fetch_blocking(name, || self.servers.ask(name)).map(|answer| answer.address)
    }
}

pub(crate) fn main() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    let pass = |seconds: u64| NOW.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    let resolver = Resolver {
        servers: Servers::default(),
        answers: Cache::builder()
            .capacity(10_000)
            .policy(PolicyName::LruMad)
            .expire_after(|_, answer: &Answer| Some(answer.holds))
            .negative_time_to_live(Duration::from_secs(5))
            .stale_if_error(Duration::from_secs(3600))
            .clock(|| Nanos(NOW.load(Ordering::Relaxed)))
            .build(),
    };
    let www = Answer { address: Ipv4Addr::new(192, 0, 2, 1), holds: Duration::from_secs(60) };
    if let Ok(mut names) = resolver.servers.names.lock() {
        names.insert("www.example".to_owned(), www.clone());
    }
    assert_eq!(resolver.resolve("www.example").ok(), Some(www.address));
    pass(59);
    assert_eq!(resolver.resolve("www.example").ok(), Some(www.address));
    assert_eq!(resolver.servers.asked.load(Ordering::Relaxed), 1);

    // A name that does not exist is asked for once in five seconds.
    for _ in 0..3 {
        let error = resolver.resolve("no.example").expect_err("there is none");
        assert_eq!(error.downcast_ref(), Some(&Problem::NoSuchName));
    }
    assert_eq!(resolver.servers.asked.load(Ordering::Relaxed), 2);

    // The servers are down, and the answer is too old.
    if let Ok(mut names) = resolver.servers.names.lock() {
        names.clear();
    }
    pass(30 * 60);
    assert_eq!(resolver.resolve("www.example").ok(), Some(www.address));
    assert_eq!(resolver.resolve("new.example").unwrap_err().downcast_ref(), Some(&Problem::Unreachable));
    pass(60 * 60);
    assert!(resolver.resolve("www.example").is_err());
    println!("asked {} times", resolver.servers.asked.load(Ordering::Relaxed));
}
