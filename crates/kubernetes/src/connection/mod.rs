//! The connection to the API server: what is watched and written, who leads, and what outlives the process.
//!
//! 1. `watch`: pods, jobs, nodes and namespaces, as they are and as they change.
//! 2. `write`: admissions and events.
//! 3. `lease`: one process leads; the others are ready to.
//! 4. `state`: a ConfigMap with who has had how much.
//! 5. `http`: how it does, for people, Prometheus and probes.

mod clock;
mod http;
mod lease;
mod metrics;
mod page;
pub mod state;
mod watch;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Client;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch as signal};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use trueplane_fair::Nanos;

use crate::controller::{Controller, Order, Policy};
use crate::resources::ResourceNames;
use clock::Clock;
use lease::Lease;
use state::State;
use watch::Watched;
use write::Writer;

pub use lease::Times;

/// Where the controller keeps what is its own, and how it is called.
#[derive(Clone, Debug)]
pub struct Place {
    /// The namespace of its lease and its ConfigMap.
    pub namespace: String,
    /// The name of both.
    pub name: String,
    /// The name of this process, which no other has.
    pub identity: String,
}

/// Changes that are taken before the next look at what to do.
const BATCH: usize = 512;
/// Time between two looks at what to do although nothing happens.
const TICK: Duration = Duration::from_millis(250);
/// Time between two writes of the state while somebody holds something.
const SAVE: Nanos = Nanos(5_000_000_000);
/// The loop is well if it has turned within this.
const WELL: Nanos = Nanos(30_000_000_000);
/// Time that writes on their way get when the process is told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Why the controller cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API server does not let it do something without which it cannot work.
    #[error("{0}")]
    Forbidden(String),
    /// The saved state cannot be used.
    #[error(
        "the state in ConfigMap {place} cannot be used: {problem}; delete the ConfigMap to begin without a past"
    )]
    State {
        /// Namespace and name of the ConfigMap.
        place: String,
        /// What is wrong.
        problem: String,
    },
}

/// What all parts of the process share.
#[derive(Debug)]
struct Shared {
    controller: Mutex<Controller>,
    clock: Clock,
    /// When the loop last turned.
    turned: Mutex<Nanos>,
    /// Errors of watches, which begin again by themselves.
    watch_errors: Mutex<u64>,
}

impl Shared {
    fn controller(&self) -> MutexGuard<'_, Controller> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch_errors(&self) -> u64 {
        *self.watch_errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_well(&self) -> bool {
        let turned = *self.turned.lock().unwrap_or_else(PoisonError::into_inner);
        self.clock.now().since(turned) < WELL
    }
}

/// Runs a controller until `stop` changes: watches the cluster, and while it leads, admits what waits. With a `listener` it tells how it does over
/// HTTP. Whatever it has to say on the way goes to `log`, a line each.
///
/// # Errors
///
/// The API server does not let it do what it has to, or the saved state is damaged. An API server that is away is no error: it waits.
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
    let names = policy.resources.clone();
    let shared = Arc::new(Shared {
        controller: Mutex::new(Controller::new(policy)),
        turned: Mutex::new(clock.now()),
        clock,
        watch_errors: Mutex::new(0),
    });
    let mut tasks = JoinSet::new();
    let (changed, mut changes) = mpsc::channel(BATCH);
    watch::spawn(&mut tasks, &client, &shared, &changed, &log);
    let (lease, mut leading) =
        Lease::new(client.clone(), place.clone(), times, shared.clock.clone(), log.clone());
    let lease = Arc::new(lease);
    tasks.spawn({
        let lease = lease.clone();
        async move { lease.keep().await }
    });
    if let Some(listener) = listener {
        tasks.spawn(http::serve(listener, shared.clone()));
    }
    let (done, mut outcomes) = mpsc::unbounded_channel();
    let writer = Writer::new(client.clone(), &place, lease.clone(), done, log.clone());
    let mut state = State::new(client, place);
    let mut watched = Watched::default();
    let mut saved_at = Nanos(0);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(change) = changes.recv() => {
                let mut controller = shared.controller();
                let now = shared.clock.now();
                watched.apply(&mut controller, change, now);
                for _ in 0..BATCH {
                    let Ok(change) = changes.try_recv() else { break };
                    watched.apply(&mut controller, change, now);
                }
            }
            Some((uid, outcome)) = outcomes.recv() => {
                let mut controller = shared.controller();
                let now = shared.clock.now();
                controller.done(&uid, &outcome, now);
                while let Ok((uid, outcome)) = outcomes.try_recv() {
                    controller.done(&uid, &outcome, now);
                }
            }
            _ = leading.changed() => {}
            _ = tick.tick() => {}
        }
        let now = shared.clock.now();
        *shared.turned.lock().unwrap_or_else(PoisonError::into_inner) = now;
        let (leads, is_to_lead) = (shared.controller().leads(), lease.leads() && watched.is_complete());
        if leads && !lease.leads() {
            shared.controller().rest();
            log("another process leads, or the API server is away: nothing is admitted here");
        }
        if !leads && is_to_lead {
            match state.load(&names).await {
                Err(state::LoadError::Away(_)) => continue,
                Err(state::LoadError::Damaged(problem)) => {
                    return Err(Error::State { place: state.place(), problem });
                }
                Ok(saved) => {
                    let outcome = shared.controller().lead(saved.as_ref(), shared.clock.now());
                    outcome
                        .map_err(|error| Error::State { place: state.place(), problem: error.to_string() })?;
                    let past =
                        if saved.is_some() { "with the past that was saved" } else { "without a saved past" };
                    log(&format!("leads, {past}"));
                }
            }
        }
        if lease.leads() && shared.controller().leads() {
            let orders: Vec<Order> = shared.controller().work(shared.clock.now());
            orders.into_iter().for_each(|order| writer.write(order));
            if now.since(saved_at) >= SAVE {
                saved_at = now;
                save(&shared, &names, &mut state, &log).await;
            }
        }
    }
    writer.finish(GRACE).await;
    if lease.leads() && shared.controller().leads() {
        save(&shared, &names, &mut state, &log).await;
    }
    tasks.shutdown().await;
    lease.release().await;
    Ok(())
}

/// Writes the state; what goes wrong is told, and tried again with the next.
async fn save(
    shared: &Shared,
    names: &ResourceNames,
    state: &mut State,
    log: &Arc<dyn Fn(&str) + Send + Sync>,
) {
    let now = shared.clock.now();
    let (saved, status) = {
        let mut controller = shared.controller();
        controller.tick(now);
        (controller.save(now), controller.status(now))
    };
    if let Some(saved) = saved
        && let Err(error) = state.save(&saved, names, &status).await
    {
        log(&format!("cannot save the state: {error}"));
    }
}
