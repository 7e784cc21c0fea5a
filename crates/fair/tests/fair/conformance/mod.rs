//! One table that every order of users must pass, under a scheduler and against a model that works everything out at every step.

mod naive;
mod spy;
mod table;

use std::collections::VecDeque;

use proptest::prelude::*;
use trueplane_fair::{Cluster, Demands, Scheduler};
use trueplane_units::Nanos;

use spy::Spy;
use table::{Row, table};

const CAPACITY: [u64; 2] = [12, 1_000];
const WEIGHTS: [u32; 6] = [1, 1, 2, 1, 5, 1];

type Task = (usize, [u64; 2]);

/// A task is its number and what it needs.
struct Amounts;

impl Demands for Amounts {
    type Task = Task;

    fn of<'a>(&'a self, task: &'a Task) -> &'a [u64] {
        &task.1
    }
}

/// Something that happens to a cluster.
#[derive(Clone, Copy, Debug)]
enum Step {
    Submit {
        user: u32,
        demand: [u64; 2],
    },
    /// One of those that run ends.
    Finish(prop::sample::Index),
}

/// After how many nanoseconds something happens.
fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    // Few amounts, so that shares are equal, and any, so that they are not; nothing of one, and all.
    let first = prop_oneof![4 => 0..4u64, 1 => 0..=CAPACITY[0]];
    let second = prop_oneof![3 => (0..4u64).prop_map(|amount| amount * 250), 3 => 0..=CAPACITY[1]];
    let submit = (0..WEIGHTS.len() as u32, first, second)
        .prop_map(|(user, first, second)| Step::Submit { user, demand: [first, second] });
    let step = prop_oneof![3 => submit, 2 => any::<prop::sample::Index>().prop_map(Step::Finish)];
    // At once, within a period, at the very end of one, over a few, and over many.
    let second = 1_000_000_000u64;
    let pause = prop_oneof![
        4 => Just(0),
        4 => 0..7 * second,
        2 => Just(7 * second),
        2 => 0..100 * second,
        1 => 0..4_000 * second,
    ];
    prop::collection::vec((pause, step), 1..120)
}

/// What went in, and where it is now.
struct Books {
    name: &'static str,
    capacity: [u64; 2],
    scheduler: Scheduler<Spy, Amounts>,
    backfill: bool,
    waiting: Vec<VecDeque<Task>>,
    running: Vec<(u32, Task)>,
    /// Numbers of tasks in the order in which they started.
    started: Vec<usize>,
}

impl Books {
    fn new(row: Row, cluster: &Cluster, backfill: bool) -> Self {
        Self {
            name: row.name,
            capacity: capacity_of(cluster),
            scheduler: Scheduler::new(cluster.clone(), Spy::new(row, cluster), Amounts, backfill),
            backfill,
            waiting: vec![VecDeque::new(); cluster.users()],
            running: Vec::new(),
            started: Vec::new(),
        }
    }

    fn free(&self) -> [u64; 2] {
        self.running.iter().fold(self.capacity, |[a, b], (_, (_, [x, y]))| [a - x, b - y])
    }

    fn fits(&self, user: u32) -> bool {
        let free = self.free();
        self.waiting[user as usize]
            .front()
            .is_some_and(|(_, demand)| demand[0] <= free[0] && demand[1] <= free[1])
    }

    /// Starts what may start, which is what the policy's order says and what fits, and nothing else.
    fn start_all(&mut self, now: Nanos) {
        loop {
            let answer = self.scheduler.start(now);
            let order = &self.scheduler.policy().order;
            let reach = if self.backfill { order.len() } else { order.len().min(1) };
            let expected = order[..reach].iter().copied().find(|&user| self.fits(user));
            assert_eq!(answer.as_ref().map(|&(user, _)| user), expected, "{}: {order:?}", self.name);
            let Some((user, task)) = answer else { break };
            assert_eq!(self.waiting[user as usize].pop_front(), Some(task), "{}: in its order", self.name);
            self.started.push(task.0);
            self.running.push((user, task));
            self.balance();
        }
        self.balance();
    }

    /// What is held and what is free is what runs.
    fn balance(&self) {
        assert_eq!(self.scheduler.free(), self.free(), "{}", self.name);
        for user in 0..self.waiting.len() as u32 {
            let its = self.running.iter().filter(|(other, _)| *other == user);
            let held = its.fold([0, 0], |[a, b], (_, (_, [x, y]))| [a + x, b + y]);
            assert_eq!(self.scheduler.held(user), held, "{}", self.name);
            assert_eq!(self.scheduler.waiting_of(user), self.waiting[user as usize].len(), "{}", self.name);
        }
        let waiting: usize = self.waiting.iter().map(VecDeque::len).sum();
        assert_eq!(self.scheduler.waiting(), waiting as u64, "{}", self.name);
    }

    fn finish(&mut self, at: usize, now: Nanos) {
        let (user, task) = self.running.swap_remove(at);
        self.scheduler.finish(user, &task, now);
    }
}

/// Does `steps`, and then lets everything end.
fn follow(row: Row, cluster: &Cluster, backfill: bool, steps: &[(u64, Step)]) -> Vec<usize> {
    let mut books = Books::new(row, cluster, backfill);
    let (mut now, mut submitted) = (Nanos(0), 0);
    for &(pause, step) in steps {
        now = now.after(Nanos(pause));
        match step {
            Step::Submit { user, demand } => {
                books.waiting[user as usize].push_back((submitted, demand));
                books.scheduler.submit(user, (submitted, demand), now);
                submitted += 1;
            }
            Step::Finish(index) if !books.running.is_empty() => {
                books.finish(index.index(books.running.len()), now);
            }
            Step::Finish(_) => {}
        }
        books.start_all(now);
    }
    while !books.running.is_empty() {
        now = now.after(Nanos(3_000_000_000));
        books.finish(0, now);
        books.start_all(now);
    }
    let mut numbers = books.started.clone();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..submitted), "{}: every task has started, once", books.name);
    books.started
}

fn cluster() -> Cluster {
    Cluster::new(CAPACITY.to_vec(), WEIGHTS.to_vec()).unwrap()
}

/// Of its two resources.
fn capacity_of(cluster: &Cluster) -> [u64; 2] {
    [0, 1].map(|resource| cluster.capacity()[resource])
}

prop_compose! {
    /// A cluster of many users, of whose second resource two units are the fair share of weight 1, so that parts of fair shares are held
    /// exactly; and what happens there, within few periods.
    fn crowds()(
        users in 1..=200usize,
        weighted: bool,
        steps in prop::collection::vec(
            (prop_oneof![3 => Just(0), 1 => 0..9_000_000_000u64], any::<prop::sample::Index>(), 0..3u64, 0..5u64, 0..5u32),
            1..150,
        ),
    ) -> (Cluster, Vec<(u64, Step)>) {
        let weights: Vec<u32> = (0..users).map(|user| if weighted { WEIGHTS[user % WEIGHTS.len()] } else { 1 }).collect();
        let capacity = vec![12, 2 * weights.iter().map(|&weight| u64::from(weight)).sum::<u64>()];
        let step = |(pause, which, first, second, what): (u64, prop::sample::Index, u64, u64, u32)| {
            // Few users do most of it, so that they have more than their parts.
            let user = (if what == 0 { which.index(users) } else { which.index(users.min(8)) }) as u32;
            let demand = [first, second.min(capacity[1])];
            (pause, if what < 4 { Step::Submit { user, demand } } else { Step::Finish(which) })
        };
        let steps = steps.into_iter().map(step).collect();
        (Cluster::new(capacity.clone(), weights).unwrap(), steps)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// With up to 200 users, whose parts of the cluster are hardly ever whole numbers of anything.
    #[test]
    fn every_order_of_many_users_is_that_of_its_formula((cluster, steps) in crowds(), backfill: bool) {
        for row in table(&cluster) {
            follow(row, &cluster, backfill, &steps);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// A silence of more than 2⁴⁹ ns, six and a half days: 80,000 periods.
    #[test]
    fn every_order_after_a_long_silence_is_that_of_its_formula(
        steps in steps(),
        at in any::<prop::sample::Index>(),
        more in 0..7_000_000_000u64,
    ) {
        let cluster = cluster();
        let mut steps = steps;
        let at = at.index(steps.len());
        steps[at].0 = (1 << 49) + more;
        for row in table(&cluster) {
            follow(row, &cluster, true, &steps);
        }
    }
}

proptest! {
    #[test]
    fn every_order_is_that_of_its_formula(steps in steps(), backfill: bool) {
        let cluster = cluster();
        for row in table(&cluster) {
            let name = row.name;
            let started = follow(row, &cluster, backfill, &steps);
            // Every task of a user is older than its next one, but only FIFO is in the order of all.
            prop_assert!(name != "fifo" || backfill || started.is_sorted(), "{started:?}");
        }
    }

    /// The order is the same for whoever asks all the time and for whoever asks only at the end.
    #[test]
    fn to_ask_changes_nothing(steps in calls()) {
        let cluster = cluster();
        for (mut asked, mut quiet) in table(&cluster).into_iter().zip(table(&cluster)) {
            let mut now = 0;
            for (ticket, (pause, user, held, waits)) in steps.iter().enumerate() {
                for part in 1..=4 {
                    asked.policy.first(Nanos(now + pause * part / 5));
                }
                now += pause;
                for policy in [&mut asked.policy, &mut quiet.policy] {
                    policy.hold(*user, held, Nanos(now));
                    if *waits {
                        policy.wait(*user, ticket as u64, Nanos(now));
                    } else {
                        policy.rest(*user, Nanos(now));
                    }
                }
            }
            let orders = [&mut asked.policy, &mut quiet.policy].map(|policy| {
                let first = policy.first(Nanos(now));
                std::iter::successors(first, |&user| policy.after(user)).collect::<Vec<_>>()
            });
            prop_assert_eq!(&orders[0], &orders[1], "{}", asked.name);
        }
    }
}

/// What a scheduler might say, without one: after how long who holds what, and whether it waits.
fn calls() -> impl Strategy<Value = Vec<(u64, u32, [u64; 2], bool)>> {
    let held = [0..=CAPACITY[0], 0..=CAPACITY[1]];
    prop::collection::vec((0..50_000_000_000u64, 0..WEIGHTS.len() as u32, held, any::<bool>()), 1..60)
}
