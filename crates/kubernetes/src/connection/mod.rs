//! The connection to the API server: what is watched and written, who leads, and what outlives the process.
//!
//! 1. `watch`: pods, jobs, nodes, namespaces, tenants and cohorts, as they are and as they change.
//! 2. `write`: admissions, events and conditions.
//! 3. `lease`: one process leads; the others are ready to.
//! 4. `state`: a ConfigMap with who has had how much.
//! 5. `http`, `page`, `metrics`: how it does, for people, Prometheus and probes.

mod clock;
mod http;
mod lease;
mod metrics;
mod page;
mod problem;
mod shared;
pub mod state;
mod watch;
mod write;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch as signal};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use trueplane_fair::Nanos;

use crate::controller::{Controller, Order, Outcome, Policy};
use crate::objects::Kind;
use crate::resources::ResourceNames;
use clock::Clock;
use lease::Lease;
use shared::Shared;
use state::State;
use watch::{Change, Watched};
use write::Writer;

pub use lease::Times;
pub use problem::one_line;
pub use shared::Place;

/// Changes that are taken before the next look at what to do.
const BATCH: usize = 512;
/// Time between two looks at what to do although nothing happens.
const TICK: Duration = Duration::from_millis(250);
/// Time between two writes of the state while somebody holds something.
const SAVE: Nanos = Nanos(5_000_000_000);
/// Who holds the lease for this long and does not lead leaves it to others.
const UNABLE: Nanos = Nanos(45_000_000_000);
/// Time until one who could not lead tries again.
const PAUSE: Nanos = Nanos(30_000_000_000);
/// If watches tell nothing for this long before everything was told once, they begin anew.
const SILENCE: Nanos = Nanos(30_000_000_000);
/// Time between two tries to read the state.
const LOAD_AGAIN: Nanos = Nanos(2_000_000_000);

/// Why the controller cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A part of the process has ended, which is a mistake in it.
    #[error("a part of the controller has ended: {0}")]
    Ended(String),
}

/// A name for this process that no other has: its host, its number, and the time.
pub fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "unknown" } else { host.trim() };
    format!("{host}_{}_{:x}", std::process::id(), Clock::new().now().0)
}

/// The time since 1970, by the clock of this machine.
pub fn time_since_1970() -> Nanos {
    Clock::new().now()
}

/// Runs a controller until `stop` changes: while it leads, it watches the cluster and admits what waits. With a `listener` it tells how it does over
/// HTTP. Whatever it has to say on the way goes to `log`, a line each.
///
/// An API server that is away, that does not allow something, or a saved state that cannot be used, ends nothing: the log says so, and it is tried
/// again.
///
/// # Errors
///
/// A part of the process has ended by a mistake of ours.
pub async fn run(
    client: Client,
    policy: Policy,
    place: Place,
    times: Times,
    listener: Option<TcpListener>,
    log: impl Fn(&str) + Send + Sync + 'static,
    mut stop: signal::Receiver<()>,
) -> Result<(), Error> {
    let log: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(log);
    let clock = Clock::new();
    let shared = Arc::new(Shared {
        controller: Mutex::new(Controller::new(policy)),
        turned: Mutex::new(clock.now()),
        unable_until: Mutex::new(Nanos(0)),
        clock,
        watch_errors: Mutex::new(0),
    });
    let mut tasks = JoinSet::new();
    let is_well = Box::new({
        let shared = shared.clone();
        move || shared.is_well()
    });
    let (lease, mut leading) = Lease::new(client.clone(), place.clone(), times, clock, is_well, log.clone());
    let lease = Arc::new(lease);
    tasks.spawn({
        let lease = lease.clone();
        async move { lease.keep().await }
    });
    if let Some(listener) = listener {
        tasks.spawn(http::serve(listener, shared.clone()));
    }
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        shared.turn();
        if let Some(term) = lease.term() {
            let mut term = Term::begin(&client, &place, &shared, &lease, term, &log);
            let ended = term.lead(&mut stop, &mut tasks).await;
            shared.controller().forget_all();
            match ended {
                Ended::Stopped => {
                    // From here on nothing is written, and the lease is not renewed.
                    tasks.shutdown().await;
                    lease.resign();
                    if term.writer.finish().await {
                        lease.release().await;
                        log("ends, and gives the lease back");
                    }
                    return Ok(());
                }
                Ended::Lost => {
                    // What is on its way is written before the next term looks at everything.
                    term.writer.finish().await;
                    log("another process leads, or the API server is away: nothing is admitted here");
                }
                Ended::Unable => {
                    term.writer.finish().await;
                    shared.cannot_lead(PAUSE);
                    lease.resign();
                    lease.release().await;
                    log("cannot lead, and leaves it to others for a while");
                }
                Ended::Broken(problem) => return Err(Error::Ended(problem)),
            }
        }
        tokio::select! {
            _ = stop.changed() => {
                tasks.shutdown().await;
                if lease.term().is_some() {
                    lease.resign();
                    lease.release().await;
                }
                return Ok(());
            }
            Some(ended) = tasks.join_next() => return Err(Error::Ended(told(ended))),
            _ = leading.changed() => {}
            _ = tick.tick() => {}
        }
    }
}

fn told(ended: Result<(), tokio::task::JoinError>) -> String {
    ended.map_or_else(|error| error.to_string(), |()| "without an error".to_owned())
}

/// The end of a term.
enum Ended {
    /// The process is to end.
    Stopped,
    /// It leads no more.
    Lost,
    /// It cannot lead: something that it needs is not allowed, or cannot be used.
    Unable,
    /// A part of it has ended by a mistake.
    Broken(String),
}

/// A time in which this process leads. It begins with a look at everything, so that nothing is decided by what somebody saw before.
struct Term {
    number: u64,
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    log: Arc<dyn Fn(&str) + Send + Sync>,
    names: ResourceNames,
    watches: JoinSet<()>,
    changes: mpsc::Receiver<Change>,
    watched: Watched,
    writer: Writer,
    outcomes: mpsc::UnboundedReceiver<(String, Outcome)>,
    state: State,
    /// When the state is to be read or written next.
    next: Nanos,
    /// When the term began.
    began: Nanos,
    /// When a watch last told something new before everything was told.
    heard: Nanos,
    /// The last thing that the log was told of the state.
    said: String,
    /// What was told of kinds that cannot be read.
    told_unreadable: BTreeSet<String>,
}

impl Term {
    fn begin(
        client: &Client,
        place: &Place,
        shared: &Arc<Shared>,
        lease: &Arc<Lease>,
        number: u64,
        log: &Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        shared.controller().forget_all();
        let mut watches = JoinSet::new();
        let (changed, changes) = mpsc::channel(BATCH);
        watch::spawn(&mut watches, client, shared, &changed, log);
        let (done, outcomes) = mpsc::unbounded_channel();
        Self {
            number,
            shared: shared.clone(),
            lease: lease.clone(),
            log: log.clone(),
            names: shared.controller().policy().resources.clone(),
            watches,
            changes,
            watched: Watched::default(),
            writer: Writer::new(client.clone(), place, (lease.clone(), number), done, log.clone()),
            outcomes,
            state: State::new(client.clone(), place.clone()),
            next: Nanos(0),
            began: shared.clock.now(),
            heard: shared.clock.now(),
            said: String::new(),
            told_unreadable: BTreeSet::new(),
        }
    }

    /// Leads until the term is over.
    async fn lead(&mut self, stop: &mut signal::Receiver<()>, tasks: &mut JoinSet<()>) -> Ended {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = stop.changed() => {
                    self.save().await;
                    return Ended::Stopped;
                }
                Some(ended) = tasks.join_next() => return Ended::Broken(told(ended)),
                Some(ended) = self.watches.join_next() => return Ended::Broken(told(ended)),
                Some(change) = self.changes.recv() => self.apply(change),
                Some((uid, outcome)) = self.outcomes.recv() => self.note(&uid, &outcome),
                _ = tick.tick() => {}
            }
            self.shared.turn();
            if self.lease.term() != Some(self.number) {
                return Ended::Lost;
            }
            let now = self.shared.clock.now();
            if self.shared.controller().leads() {
                let orders: Vec<Order> = self.shared.controller().work(now);
                orders.into_iter().for_each(|order| self.writer.write(order));
                // What was known of it goes on to count.
                self.tell_unreadable();
                if now >= self.next {
                    self.save().await;
                }
            } else if now.since(self.began) > UNABLE && now.since(self.heard) > UNABLE {
                return Ended::Unable;
            } else if !self.watched.is_complete() && !self.watched.unreadable.is_empty() {
                self.tell_unreadable();
            } else if !self.watched.is_complete() {
                if now.since(self.heard) > SILENCE {
                    self.say("the API server does not answer, and is asked anew".to_owned());
                    return Ended::Lost;
                }
            } else if now >= self.next {
                self.load().await;
            }
        }
    }

    fn apply(&mut self, change: Change) {
        let mut controller = self.shared.controller();
        let now = self.shared.clock.now();
        let is_complete = self.watched.is_complete();
        let mut is_news = self.watched.apply(&mut controller, change, now);
        for _ in 0..BATCH {
            let Ok(change) = self.changes.try_recv() else { break };
            is_news |= self.watched.apply(&mut controller, change, now);
        }
        if is_news && !is_complete {
            self.heard = now;
        }
    }

    /// Tells of kinds that cannot be read, with an event about the definition of each, once.
    fn tell_unreadable(&mut self) {
        for (kind, problem) in &self.watched.unreadable {
            if !self.told_unreadable.insert(problem.clone()) {
                continue;
            }
            let resource = kind.resource();
            self.writer.write(Order::Tell {
                kind: Kind::Definition,
                namespace: String::new(),
                name: format!("{}.{}", resource.plural, resource.group),
                uid: String::new(),
                is_warning: true,
                reason: "UnknownVersion",
                text: problem.clone(),
            });
        }
    }

    fn note(&mut self, uid: &str, outcome: &Outcome) {
        let mut controller = self.shared.controller();
        let now = self.shared.clock.now();
        controller.done(uid, outcome, now);
        while let Ok((uid, outcome)) = self.outcomes.try_recv() {
            controller.done(&uid, &outcome, now);
        }
    }

    /// Goes on with the state that was saved. If that does not work, nothing is admitted, and it is tried again.
    async fn load(&mut self) {
        let now = self.shared.clock.now();
        let loaded = self.state.load(&self.names).await;
        let problem = match loaded {
            Ok(saved) => {
                // The lock ends with this line.
                let outcome = self.shared.controller().lead(saved.as_ref(), self.shared.clock.now());
                match outcome {
                    Ok(()) => {
                        let past = if saved.is_some() {
                            "with the past that was saved"
                        } else {
                            "without a saved past"
                        };
                        (self.log)(&format!("leads, {past}"));
                        let missing = self.shared.controller().missing(now);
                        for name in missing {
                            (self.log)(&format!("no node has any {name}: what asks for it waits"));
                        }
                        self.next = Nanos(now.0.saturating_add(SAVE.0));
                        return;
                    }
                    Err(error) => self.unusable(&error.to_string()),
                }
            }
            Err(state::LoadError::Damaged(problem)) => self.unusable(&problem),
            Err(state::LoadError::Away(problem)) => {
                format!("cannot read ConfigMap {}, and admits nothing: {problem}", self.state.place())
            }
        };
        self.next = Nanos(now.0.saturating_add(LOAD_AGAIN.0));
        self.say(problem);
    }

    fn unusable(&self, problem: &str) -> String {
        format!(
            "the state in ConfigMap {} cannot be used, and nothing is admitted: {problem}; delete the ConfigMap to begin without a past",
            self.state.place()
        )
    }

    /// Writes the state; what goes wrong is told, and tried again with the next.
    async fn save(&mut self) {
        let now = self.shared.clock.now();
        self.next = Nanos(now.0.saturating_add(SAVE.0));
        let (saved, status) = {
            let mut controller = self.shared.controller();
            controller.tick(now);
            (controller.save(now), controller.status(now))
        };
        let Some(saved) = saved else { return };
        let writing = self.state.save(&saved, &self.names, &status);
        match tokio::time::timeout(write::PATIENCE, writing).await {
            Ok(Ok(())) => self.said.clear(),
            Ok(Err(problem)) => self.say(format!("cannot save the state: {problem}")),
            Err(_) => self.say("cannot save the state: the API server does not answer".to_owned()),
        }
    }

    /// Tells something, if it is another thing than last time.
    fn say(&mut self, text: String) {
        if self.said != text {
            (self.log)(&text);
            self.said = text;
        }
    }
}
