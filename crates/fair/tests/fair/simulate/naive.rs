//! Algorithm 1 as it is written, with everything computed anew at every step: what the simulator must agree with, start by start.

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) submitted: u64,
    pub(crate) duration: u64,
    pub(crate) user: usize,
    pub(crate) demand: Vec<u64>,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Fifo,
    Drf,
    /// With τ in ns.
    Sdrf(f64),
}

/// A cluster while it runs.
struct Cluster<'a> {
    jobs: &'a [Job],
    capacity: &'a [u64],
    weights: &'a [u64],
    order: Order,
    /// In the order of submission.
    waiting: Vec<usize>,
    running: Vec<usize>,
    ends: Vec<u64>,
    commitments: Vec<Vec<f64>>,
}

impl Cluster<'_> {
    fn held(&self, user: usize, resource: usize) -> u64 {
        let of_user = self.running.iter().filter(|&&job| self.jobs[job].user == user);
        of_user.map(|&job| self.jobs[job].demand[resource]).sum()
    }

    fn share(&self, user: usize, resource: usize) -> f64 {
        self.held(user, resource) as f64 / (self.capacity[resource] as f64 * self.weights[user] as f64)
    }

    /// Eq. 4.12: nothing changed for `span` ns.
    fn pass(&mut self, span: u64) {
        let Order::Sdrf(tau) = self.order else { return };
        let own = 1.0 / self.weights.iter().sum::<u64>() as f64;
        let left = (-(span as f64) / tau).exp();
        for user in 0..self.weights.len() {
            for resource in 0..self.capacity.len() {
                let overuse = (self.share(user, resource) - own).max(0.0);
                let commitment = &mut self.commitments[user][resource];
                *commitment = (1.0 - left) * overuse + left * *commitment;
            }
        }
    }

    fn priority(&self, user: usize) -> f64 {
        let resources = 0..self.capacity.len();
        match self.order {
            Order::Fifo => self.first(user) as f64,
            Order::Drf => resources.map(|r| self.share(user, r)).fold(0.0, f64::max),
            Order::Sdrf(_) => {
                resources.map(|r| self.share(user, r) + self.commitments[user][r]).fold(0.0, f64::max)
            }
        }
    }

    /// The first waiting job of a user who has one.
    fn first(&self, user: usize) -> usize {
        *self.waiting.iter().find(|&&job| self.jobs[job].user == user).expect("it waits")
    }

    fn fits(&self, job: usize) -> bool {
        (0..self.capacity.len()).all(|resource| {
            let used: u64 = (0..self.weights.len()).map(|user| self.held(user, resource)).sum();
            used + self.jobs[job].demand[resource] <= self.capacity[resource]
        })
    }

    /// The job that starts next.
    fn next(&self, backfill: bool) -> Option<usize> {
        let mut users: Vec<usize> = self.waiting.iter().map(|&job| self.jobs[job].user).collect();
        users.sort_unstable();
        users.dedup();
        users.sort_by(|&a, &b| {
            self.priority(a).total_cmp(&self.priority(b)).then(self.first(a).cmp(&self.first(b)))
        });
        let mut firsts = users.into_iter().map(|user| self.first(user));
        if backfill {
            firsts.find(|&job| self.fits(job))
        } else {
            firsts.next().filter(|&job| self.fits(job))
        }
    }
}

/// Which jobs start, when, in order.
pub(crate) fn simulate(
    jobs: &[Job],
    capacity: &[u64],
    weights: &[u64],
    order: Order,
    backfill: bool,
) -> Vec<(usize, u64)> {
    let mut cluster = Cluster {
        jobs,
        capacity,
        weights,
        order,
        waiting: Vec::new(),
        running: Vec::new(),
        ends: vec![0; jobs.len()],
        commitments: vec![vec![0.0; capacity.len()]; weights.len()],
    };
    let (mut started, mut submitted, mut now) = (Vec::new(), 0, 0);
    loop {
        let end = cluster.running.iter().map(|&job| cluster.ends[job]).min();
        let submission = jobs.get(submitted).map(|job| job.submitted);
        let Some(next) = end.into_iter().chain(submission).min() else { return started };
        cluster.pass(next - now);
        now = next;
        let ends = cluster.ends.clone();
        cluster.running.retain(|&job| ends[job] > now);
        while let Some(job) = jobs.get(submitted).filter(|job| job.submitted == now) {
            if job.demand.iter().zip(capacity).all(|(demand, capacity)| demand <= capacity) {
                cluster.waiting.push(submitted);
            }
            submitted += 1;
        }
        while let Some(job) = cluster.next(backfill) {
            cluster.waiting.retain(|&other| other != job);
            cluster.running.push(job);
            cluster.ends[job] = now + jobs[job].duration;
            started.push((job, now));
        }
    }
}
