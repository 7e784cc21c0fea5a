//! A run: the jobs of a log come to a cluster, and somebody lets them go.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use trueplane_fair::Nanos;

use super::job_log::{Job, JobLog};
use super::load::{Form, create, create_tenants, set_nodes};
use super::process::Process;
use super::seen::{Seen, Watcher};
use super::{client, number};

/// The longest time in which nothing ends.
const SILENCE: Duration = Duration::from_secs(120);

/// What came of a job.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) job: Job,
    /// When it was created, by the clock of who created it.
    pub(crate) created: Nanos,
    pub(crate) seen: Seen,
    /// When it was seen open.
    pub(crate) opened: Nanos,
    /// When it was seen to have ended.
    pub(crate) ended: Nanos,
}

/// What came of all jobs.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// What the cluster has.
    pub(crate) capacity: [u64; 2],
    /// The jobs in the order in which they came.
    pub(crate) done: Vec<Done>,
}

/// Sets the cluster up for the log: tenants, and nodes with a part of the mean use. Returns what there is.
pub(crate) async fn set_up(log: &JobLog, form: Form) -> [u64; 2] {
    let client = client("KUBECONFIG").await;
    create_tenants(&client, form).await;
    let percent = number("CAPACITY", 70);
    let nodes = set_nodes(&client, |nodes| log.node(nodes, percent)).await;
    let capacity = log.node(nodes, percent).map(|amount| amount * nodes as u64);
    eprintln!(
        "{} jobs of the log, {:.0} times faster; {nodes} nodes have {} cores and {} GiB, {percent}% of the mean use or the largest job",
        log.jobs.len(),
        log.speed,
        capacity[0],
        capacity[1]
    );
    capacity
}

/// Creates the jobs as they come, and waits until all have ended. The cluster was set up before.
pub(crate) async fn run(log: &JobLog, form: Form, capacity: [u64; 2], controller: &Process) -> Run {
    let client = client("KUBECONFIG").await;
    let watcher = Watcher::start(client.clone(), form);
    let creating = tokio::spawn({
        let (client, jobs) = (client.clone(), log.jobs.clone());
        async move { create(&client, &jobs, form).await }
    });
    let (began, mut heard, mut before) = (Instant::now(), Instant::now(), 0);
    loop {
        sleep(Duration::from_secs(5)).await;
        let [came, opened, ended] = watcher.count();
        if began.elapsed().as_secs() % 30 < 5 {
            let seconds = began.elapsed().as_secs();
            let (cpu, memory) = controller.usage();
            eprintln!(
                "{seconds} s: {came} have come, {opened} were opened, {ended} have ended; the controller: {cpu:.1} s of processor time, at most {memory} MB"
            );
        }
        if ended == log.jobs.len() {
            break;
        }
        if ended > before {
            (before, heard) = (ended, Instant::now());
        }
        assert!(heard.elapsed() < SILENCE, "{ended} of {} have ended, and no more", log.jobs.len());
    }
    let (cpu, memory) = controller.usage();
    eprintln!("the controller took {cpu:.1} s of processor time and at most {memory} MB");
    let created = creating.await.unwrap();
    let mut seen = watcher.stop();
    let done = log.jobs.iter().map(|job| {
        let seen = seen.remove(&job.name).unwrap();
        let (opened, ended) = (seen.opened.unwrap().0, seen.ended.unwrap().0);
        Done { job: job.clone(), created: created[&job.name], seen, opened, ended }
    });
    Run { capacity, done: done.collect() }
}

impl Run {
    /// Fails if something was admitted twice, or more was open at one time than there is.
    pub(crate) fn check(&self) {
        for done in &self.done {
            assert!(done.seen.wrong.is_none(), "{}: {}", done.job.name, done.seen.wrong.unwrap());
        }
        // The versions of writes are their order in the store.
        let mut changes: Vec<(u64, bool, &Job)> = Vec::new();
        for Done { seen, job, .. } in &self.done {
            changes.push((seen.opened.unwrap().1, true, job));
            changes.push((seen.ended.unwrap().1, false, job));
        }
        changes.sort_unstable_by_key(|&(version, ..)| version);
        let (mut held, mut most) = ([0u64; 2], [0u64; 2]);
        for (_, is_start, job) in changes {
            for resource in 0..2 {
                if is_start {
                    held[resource] += job.needs[resource];
                } else {
                    held[resource] -= job.needs[resource];
                }
                most[resource] = most[resource].max(held[resource]);
            }
        }
        eprintln!("at most {most:?} of {:?} were held", self.capacity);
        assert!(
            most.iter().zip(self.capacity).all(|(&most, has)| most <= has),
            "more was open than there is"
        );
    }
}
