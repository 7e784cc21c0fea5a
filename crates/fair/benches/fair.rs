//! What it costs to know who is next on a cluster, in an order that changes by itself.
//!
//! A step: some time passes, the user who is first starts a task, and the task that has run longest ends, so that two users get another
//! priority. A quarter of the users wait; in every hundredth step one of them has nothing more to do and another one begins. The live tree
//! is held against a sort of all who wait at every step, and against a heap of the priorities that users had when something last happened
//! to them, which forgets that time passes. All get the same steps, and are timed when the cluster is full. Checked: in every step that is
//! sorted, the user whom the live tree calls first has the least priority. The heap is wrong where somebody has a smaller priority than
//! the user whom it calls first, by more than rounding.

use std::collections::{BTreeSet, VecDeque};
use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_fair::policy::Sdrf;
use trueplane_fair::{Cluster, Memory, Policy};
use trueplane_units::Nanos;

/// Time between two tasks: 30 million in 29 days.
const GAP: u64 = 83_000_000;

/// Tasks that run at a time, for each user who waits.
const RUNNING: usize = 4;

const STEPS: usize = 1_000_000;

/// What a cluster has of its two resources.
const CAPACITY: u64 = 1 << 30;

fn main() {
    println!("one step: first, and another priority for two users; ns");
    println!(
        "{:>7} {:>10} {:>10} {:>10} {:>10} {:>7} {:>10} {:>7} {:>14} {:>10}",
        "waiting",
        "1 - delta",
        "tournament",
        "live tree",
        "sort",
        "ratio",
        "heap",
        "ratio",
        "heap is wrong",
        "events"
    );
    // `-- 600` is only the first.
    let only = std::env::args().find_map(|argument| argument.parse::<u32>().ok());
    for users in [600, 100_000].into_iter().filter(|&users| only.is_none_or(|only| only == users)) {
        for forgotten in [1e-6, 1e-3, 1e-1] {
            row(users, Memory::forgetting(forgotten).expect("a memory"), forgotten);
        }
    }
}

fn row(waiting: u32, memory: Memory, forgotten: f64) {
    let users = 4 * waiting;
    let cluster = Cluster::new(vec![CAPACITY; 2], vec![1; users as usize]).expect("a cluster");
    let new = || Sdrf::new(&cluster, Some(memory));
    let ordered = || Sdrf::counting(&cluster, Some(memory));
    let script = script(&mut new(), waiting);
    let (mut tree, mut heap) = (ordered(), Heap { naive: Naive::new(users, memory), order: BTreeSet::new() });
    let full = RUNNING * waiting as usize;
    let (tree_nanos, _) = replay(&mut tree, waiting, &script, full..STEPS, |_, _, _| {});
    let mut first = new();
    let (first_nanos, _) = replay(&mut first, waiting, &script, full..STEPS, |_, step, first| {
        assert_eq!(first, step.first, "the tournament chose another one");
    });
    let mut sort = Sort { naive: Naive::new(users, memory), waiting: BTreeSet::new() };
    let sorted = (3_000_000 / waiting as usize).max(30);
    let sorted = full..full + sorted;
    let (sort_nanos, _) = replay(&mut sort, waiting, &script, sorted, |sort, step, first| {
        let (chosen, least) =
            (sort.naive.priority(step.first, step.now), sort.naive.priority(first, step.now));
        assert!((chosen - least).abs() < 1e-9, "the live tree chose {chosen}, there is {least}");
    });
    let mut wrong = 0;
    let (heap_nanos, steps) = replay(&mut heap, waiting, &script, full..STEPS, |heap, step, first| {
        let (chosen, least) =
            (heap.naive.priority(first, step.now), heap.naive.priority(step.first, step.now));
        wrong += usize::from(chosen > least + 1e-9);
    });
    println!(
        "{waiting:7} {forgotten:10.0e} {first_nanos:10.0} {tree_nanos:10.0} {sort_nanos:10.0} {:7.1} {heap_nanos:10.0} {:7.2} {:13.1}% {:10}",
        sort_nanos / first_nanos,
        heap_nanos / first_nanos,
        100.0 * wrong as f64 / steps as f64,
        tree.events().unwrap_or_default(),
    );
}

/// What happens in one step.
struct Step {
    now: Nanos,
    /// Who has nothing more to do, and who begins.
    turn: Option<(u32, u32)>,
    /// Who is first then.
    first: u32,
    /// Whose task starts and whose ends, and what they hold then.
    changes: [(u32, [u64; 2]); 2],
}

/// A cluster that is full, with whom the exact order chooses.
fn script(policy: &mut Sdrf, waiting: u32) -> Vec<Step> {
    let (users, running_at_most) = (4 * waiting, RUNNING * waiting as usize);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut amount = || random.next_u64() % (2 * CAPACITY / running_at_most as u64) + 1;
    let demands: Vec<[u64; 2]> = (0..users).map(|_| [amount(), amount()]).collect();
    let mut held = vec![[0; 2]; users as usize];
    let mut running = VecDeque::new();
    begin(policy, waiting);
    let mut change = |policy: &mut Sdrf, user: u32, starts: bool, now| {
        let (held, demand) = (&mut held[user as usize], demands[user as usize]);
        *held = [0, 1].map(|i| if starts { held[i] + demand[i] } else { held[i] - demand[i] });
        policy.hold(user, held, now);
        (user, *held)
    };
    (0..STEPS as u64)
        .map(|step| {
            let now = Nanos(step * GAP);
            // Users take turns.
            let turn = (step % 100 == 0).then(|| {
                let number = (step / 100) as u32;
                (number % users, (number + waiting) % users)
            });
            take_turns(policy, turn, now);
            let first = policy.first(now).expect("all wait");
            running.push_back(first);
            let starts = change(policy, first, true, now);
            // As long as the cluster fills, the task that starts is another priority for its user only.
            let last = if running.len() > running_at_most { running.pop_front() } else { None };
            let ends = last.map_or(starts, |last| change(policy, last, false, now));
            Step { now, turn, first, changes: [starts, ends] }
        })
        .collect()
}

fn take_turns(policy: &mut impl Policy, turn: Option<(u32, u32)>, now: Nanos) {
    if let Some((rests, begins)) = turn {
        policy.rest(rests, now);
        // A ticket that nobody else has.
        policy.wait(begins, u64::from(u32::MAX) + now.0, now);
    }
}

/// Nanoseconds for a step of those in `timed`, and how many these are; `check` looks at each of them and at who was first, outside what is
/// timed.
fn replay<P: Policy>(
    policy: &mut P,
    waiting: u32,
    script: &[Step],
    timed: Range<usize>,
    mut check: impl FnMut(&P, &Step, u32),
) -> (f64, usize) {
    begin(policy, waiting);
    for step in &script[..timed.start] {
        take_turns(policy, step.turn, step.now);
        step.changes.iter().for_each(|(user, held)| policy.hold(*user, held, step.now));
    }
    let (start, mut checking) = (now(), 0.0);
    for step in &script[timed.clone()] {
        take_turns(policy, step.turn, step.now);
        let first = black_box(policy.first(step.now)).expect("some wait");
        let looks = now();
        check(policy, step, first);
        checking += looks.elapsed().as_secs_f64();
        step.changes.iter().for_each(|(user, held)| policy.hold(*user, held, step.now));
    }
    ((start.elapsed().as_secs_f64() - checking) * 1e9 / timed.len() as f64, timed.len())
}

fn begin(policy: &mut impl Policy, waiting: u32) {
    (0..waiting).for_each(|user| policy.wait(user, u64::from(user), Nanos(0)));
}

/// Commitments in floating point (eq. 4.12), one user at a time.
struct Naive {
    half_life: f64,
    fair: f64,
    held: Vec<[f64; 2]>,
    commitments: Vec<[f64; 2]>,
    since: Vec<Nanos>,
}

impl Naive {
    fn new(users: u32, memory: Memory) -> Self {
        let n = users as usize;
        Self {
            half_life: memory.half_life_span().0 as f64,
            fair: 1.0 / f64::from(users),
            held: vec![[0.0; 2]; n],
            commitments: vec![[0.0; 2]; n],
            since: vec![Nanos(0); n],
        }
    }

    fn commitment(&self, user: u32, now: Nanos) -> [f64; 2] {
        let user = user as usize;
        let left = (-(now.since(self.since[user]).0 as f64) / self.half_life).exp2();
        [0, 1].map(|i| {
            let above = (self.held[user][i] - self.fair).max(0.0);
            above + (self.commitments[user][i] - above) * left
        })
    }

    fn priority(&self, user: u32, now: Nanos) -> f64 {
        let commitment = self.commitment(user, now);
        let held = self.held[user as usize];
        (held[0] + commitment[0]).max(held[1] + commitment[1])
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.commitments[user as usize] = self.commitment(user, now);
        self.since[user as usize] = now;
        self.held[user as usize] = [0, 1].map(|i| held[i] as f64 / CAPACITY as f64);
    }
}

/// Sorts all who wait at every step.
struct Sort {
    naive: Naive,
    waiting: BTreeSet<u32>,
}

impl Policy for Sort {
    fn wait(&mut self, user: u32, _ticket: u64, _now: Nanos) {
        self.waiting.insert(user);
    }

    fn rest(&mut self, user: u32, _now: Nanos) {
        self.waiting.remove(&user);
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.naive.hold(user, held, now);
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        let mut order: Vec<(f64, u32)> =
            self.waiting.iter().map(|&user| (self.naive.priority(user, now), user)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        order.first().map(|&(_, user)| user)
    }

    fn after(&self, _user: u32) -> Option<u32> {
        None
    }
}

/// A heap, as a sorted set, of priorities at the time of the last change.
struct Heap {
    naive: Naive,
    order: BTreeSet<(u64, u32)>,
}

impl Heap {
    /// Priorities are not negative, so that their bits are in their order.
    fn key(&self, user: u32) -> (u64, u32) {
        let at = self.naive.since[user as usize];
        (self.naive.priority(user, at).to_bits(), user)
    }
}

impl Policy for Heap {
    fn wait(&mut self, user: u32, _ticket: u64, _now: Nanos) {
        self.order.insert(self.key(user));
    }

    fn rest(&mut self, user: u32, _now: Nanos) {
        self.order.remove(&self.key(user));
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        let waits = self.order.remove(&self.key(user));
        self.naive.hold(user, held, now);
        if waits {
            self.order.insert(self.key(user));
        }
    }

    fn first(&mut self, _now: Nanos) -> Option<u32> {
        self.order.first().map(|&(_, user)| user)
    }

    fn after(&self, _user: u32) -> Option<u32> {
        None
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
