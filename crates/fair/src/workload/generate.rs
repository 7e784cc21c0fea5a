//! Tasks that are drawn: `generate:users=600,tasks=1M,seed=1`.
//!
//! User i of n, from 1, submits a share w of all tasks that falls as i^−zipf: few users bring most of them. N = w · tasks is what is
//! expected of the user within the span. Users come in sessions:
//!
//! - A session has a geometric number of tasks, `burst` (or N, if that is less) on average: b.
//! - Tasks of a session follow each other after exponential times of mean g = min(`gap`, 0.9 · span / N).
//! - After a session the user is away for an exponential time of mean b · (span / N − g), so that N come in the span. The first session
//!   begins anywhere in the first b · span / N.
//!
//! Hence users with many tasks are on nine tenths of the time, and all others sporadically. The tasks of a session need the same:
//! for every resource r exp(ln m + σ (√ρ z + √((1 − ρ)/2) (u + e))) with standard normal z of the session, u of the user and the
//! resource, and e of both the session and the resource; ρ is the `correlation` of what is needed of two resources, m = 1/80 and σ = 1.
//! No more than 1 is needed, and three significant digits are kept. A task runs for `duration` · exp(`spread` · (x + y) / √2), x of the
//! session and y of its own, between a millisecond and an eighth of the span (or `duration`, if that is more). All times are whole
//! milliseconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::{Error, Observer};
use trueplane_units::{Decimal, Nanos, Parameters as _, Within, parameter, parameters, unexpected};

use super::builder::{Builder, UNKNOWN};
use super::{BILLION, JobLog, Task};

/// At most so many users submit tasks.
const MOST_USERS: u64 = 1 << 24;
/// At most so many tasks are drawn: 96 GiB.
const MOST_TASKS: u64 = UNKNOWN as u64 - 1;
/// The longest span: ten years.
const LONGEST: u64 = 315_360_000_000_000_000;
/// Names of the first resources; others are called by their number.
const NAMES: [&str; 4] = ["cpu", "memory", "disk", "network"];
const MOST_RESOURCES: u64 = 64;
/// The median of what a task needs.
const MEDIAN: f64 = 1.0 / 80.0;
/// The largest share of time that a user is on.
const ALWAYS: f64 = 0.9;
const MILLI: u64 = 1_000_000;
/// Parameters that the name of a drawn log always contains.
const ALWAYS_NAMED: [&str; 3] = ["users", "tasks", "seed"];
/// Tasks between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 16;

parameters! {
    /// Parameters of drawn tasks.
    ///
    /// By default a day of a cluster with a few users who are always there and many who are there now and then: a million tasks, a quarter of
    /// an hour long on average, as a month of the trace in §4.5 brings in a day.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Generate {
        /// Number of users who submit tasks.
        pub users: Within<u32, 1, MOST_USERS> => { value: "N", default: "600" },
        /// Number of tasks.
        pub tasks: Within<u32, 1, MOST_TASKS> => { value: "N", default: "1M" },
        /// Number of resources that each task needs.
        pub resources: Within<u32, 1, MOST_RESOURCES> => { value: "N", default: "2" },
        /// Exponent of Zipf's law for the shares of users in all tasks. With 0, all users have the same share.
        pub zipf: Decimal<10> => { value: "NUMBER", default: "1.1" },
        /// Approximate time in which users submit tasks.
        pub span: Within<Nanos, 1_000_000_000, LONGEST> => { value: "TIME", default: "24h" },
        /// Mean number of tasks that a user submits in a session.
        pub burst: Within<u32, 1, 1_000_000_000> => { value: "N", default: "50" },
        /// Mean time between two tasks of a session.
        pub gap: Within<Nanos, MILLI, LONGEST> => { value: "TIME", default: "1s" },
        /// Median running time of tasks.
        pub duration: Within<Nanos, MILLI, LONGEST> => { value: "TIME", default: "5min" },
        /// Standard deviation of the natural logarithm of the running time.
        pub spread: Decimal<10> => { value: "NUMBER", default: "1.5" },
        /// Correlation between the amounts of two resources that a task needs.
        pub correlation: Decimal<1> => { value: "NUMBER", default: "0.5" },
        /// Seed of the random number generator. The same seed gives the same log.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

/// A user while tasks are drawn.
struct User {
    /// The mean number of tasks of a session.
    burst: f64,
    /// Mean nanoseconds between tasks, and from a session's last task to the next session.
    gap: f64,
    away: f64,
    /// Standard normal deviate of the user's need of every resource, the same in all sessions.
    taste: Vec<f64>,
    /// The index in the log; [`UNKNOWN`] before the first task.
    index: u32,
    /// Tasks of the session that are still to come.
    left: u64,
    /// Index of the demand of the session's tasks, and the standard normal deviate of their length.
    demand: u32,
    length: f64,
}

impl Generate {
    /// Draws the tasks, the same for the same parameters. O(log users) for a task.
    ///
    /// # Errors
    ///
    /// If the observer interrupts.
    pub fn draw(&self, observer: &dyn Observer) -> Result<JobLog, Error> {
        observer.stage("generating", u64::from(*self.tasks));
        let resources: Vec<String> = (0..*self.resources as usize)
            .map(|number| {
                NAMES.get(number).map_or_else(|| format!("resource{}", number + 1), |&name| name.to_owned())
            })
            .collect();
        let mut builder = Builder::new(self.name(), resources);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut users = self.users(&mut random);
        let first = |(number, user): (u32, &User)| {
            let cycle = user.burst * user.gap + user.away;
            Reverse(((random.random::<f64>() * cycle) as u64, number))
        };
        let mut next: BinaryHeap<Reverse<(u64, u32)>> = (0..).zip(&users).map(first).collect();
        let mut amounts = vec![0; *self.resources as usize];
        for drawn in 1..=u64::from(*self.tasks) {
            let Some(mut top) = next.peek_mut() else { break };
            let Reverse((now, number)) = *top;
            let user = &mut users[number as usize];
            if user.left == 0 {
                self.begin(user, &mut builder, &mut amounts, number, &mut random);
            }
            let own: f64 = StandardNormal.sample(&mut random);
            let task = Task {
                submitted: Nanos(now / MILLI * MILLI),
                duration: self.duration(user.length + own),
                user: user.index,
                demand: user.demand,
            };
            // There are no more than fit.
            let _ = builder.push(task, drawn);
            user.left -= 1;
            let wait: f64 = Exp1.sample(&mut random);
            let mut then = wait * user.gap;
            if user.left == 0 {
                let away: f64 = Exp1.sample(&mut random);
                then += away * user.away;
            }
            *top = Reverse((now.saturating_add(then as u64), number));
            if drawn % REPORT == 0 {
                observer.advance(REPORT);
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
            }
        }
        observer.advance(u64::from(*self.tasks) % REPORT);
        builder.finish(Nanos(0))
    }

    /// Users by their rank, the first with most tasks.
    fn users(&self, random: &mut Xoshiro256PlusPlus) -> Vec<User> {
        let weight = |rank: u32| f64::from(rank).powf(-self.zipf.get());
        let total: f64 = (1..=*self.users).map(weight).sum();
        let span = self.span.0 as f64;
        let user = |rank| {
            let expected = f64::from(*self.tasks) * weight(rank) / total;
            let burst = f64::from(*self.burst).min(expected).max(1.0);
            let each = span / expected;
            let gap = (self.gap.0 as f64).min(ALWAYS * each);
            let taste = (0..*self.resources).map(|_| StandardNormal.sample(random)).collect();
            let away = burst * (each - gap);
            User { burst, gap, away, taste, index: UNKNOWN, left: 0, demand: 0, length: 0.0 }
        };
        (1..=*self.users).map(user).collect()
    }

    /// A session of the user of this number begins.
    fn begin(
        &self,
        user: &mut User,
        builder: &mut Builder,
        amounts: &mut [u128],
        number: u32,
        random: &mut Xoshiro256PlusPlus,
    ) {
        if user.index == UNKNOWN {
            user.index = builder.user(&format!("user{}", number + 1));
        }
        // The whole part of an exponential number is geometric: P(more than k) = (1 − 1/b)^k.
        let more: f64 = Exp1.sample(random);
        user.left = 1 + (more / -(-1.0 / user.burst).ln_1p()) as u64;
        let all: f64 = StandardNormal.sample(random);
        for (amount, taste) in amounts.iter_mut().zip(&user.taste) {
            let own: f64 = StandardNormal.sample(random);
            let apart = ((1.0 - self.correlation.get()) / 2.0).sqrt() * (taste + own);
            *amount = three_digits(MEDIAN * (self.correlation.get().sqrt() * all + apart).exp());
        }
        // Three digits of something above zero are not nothing.
        user.demand = builder.demand(amounts).unwrap_or_default();
        user.length = StandardNormal.sample(random);
    }

    /// Returns the duration of a task that has drawn `normal`, of variance 2.
    fn duration(&self, normal: f64) -> Nanos {
        let median = self.duration.0 as f64;
        let longest = (self.span.0 as f64 / 8.0).max(median);
        let nanos =
            (median * (self.spread.get() * normal * std::f64::consts::FRAC_1_SQRT_2).exp()).min(longest);
        Nanos((nanos as u64 / MILLI).max(1) * MILLI)
    }

    /// Returns the name that asks for this log: all parameters that differ from the usual ones.
    pub fn name(&self) -> String {
        let usual = parameter::settings(&Self::default());
        let given = parameter::settings(self).into_iter().zip(usual);
        let pairs = given.filter_map(|(given, usual)| {
            let field = given.parameter.field;
            let is_named = ALWAYS_NAMED.contains(&field) || given.datum != usual.datum;
            is_named.then(|| format!("{field}={}", given.text))
        });
        format!("generate:{}", pairs.collect::<Vec<_>>().join(","))
    }
}

/// `amount` in billionths, 1 at most, rounded to three significant digits.
fn three_digits(amount: f64) -> u128 {
    let billionths = (amount * 1e9).clamp(1.0, BILLION as f64) as u64;
    let unit = 10u64.pow(billionths.ilog10().saturating_sub(2));
    u128::from((billionths + unit / 2) / unit * unit).min(BILLION)
}

/// Parses the parameters that follow `generate:`.
impl FromStr for Generate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut generate = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) =
                part.split_once('=').map_or((part, ""), |(key, value)| (key.trim(), value.trim()));
            match generate.set(key, value) {
                Some(set) => set.map_err(|error| format!("{key}: {error}"))?,
                None => {
                    let known = parameter::table::<Self>();
                    let known: Vec<String> = known.iter().map(|known| format!("{}=…", known.field)).collect();
                    return Err(unexpected(format!("one of {} after generate:", known.join(", ")), part));
                }
            }
        }
        Ok(generate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> JobLog {
        text.parse::<Generate>().unwrap().draw(&()).unwrap()
    }

    #[test]
    fn a_few_users_bring_most_tasks_in_sessions() {
        let log = drawn("users=100,tasks=200K,span=24h");
        assert_eq!((log.tasks.len(), log.users.len()), (200_000, 100));
        let mut counts = vec![0u32; 100];
        log.tasks.iter().for_each(|task| counts[task.user as usize] += 1);
        let count = |rank: u32| {
            let name = format!("user{rank}");
            f64::from(counts[log.users.iter().position(|user| *user == name).unwrap()])
        };
        // Zipf's weights of 1.1 over 100 users sum up to 4.278.
        assert!((count(1) / (200_000.0 / 4.278) - 1.0).abs() < 0.05, "{}", count(1));
        assert!((count(3) / (count(1) * 3f64.powf(-1.1)) - 1.0).abs() < 0.2, "{}", count(3));
        let last = log.tasks.last().unwrap().submitted.0 as f64 / 86_400e9;
        assert!((last - 1.0).abs() < 0.05, "{last}");
        // A session needs one thing: neighbours of one user mostly do, and there are about as many needs as sessions.
        assert!((3_500..4_600).contains(&log.demands.len()), "{}", log.demands.len());
        assert!(log.tasks.is_sorted_by_key(|task| task.submitted));
    }

    #[test]
    fn the_last_user_is_sporadic() {
        let log = drawn("users=100,tasks=200K");
        let rank = log.users.iter().position(|user| user == "user100").unwrap() as u32;
        let times: Vec<u64> = log
            .tasks
            .iter()
            .filter(|task| task.user == rank)
            .map(|task| task.submitted.0 / 1_000_000_000)
            .collect();
        let long = times.windows(2).filter(|pair| pair[1] - pair[0] > 60).count();
        assert!(times.len() > 100 && long < times.len() / 10, "{long} of {}", times.len());
    }

    #[test]
    fn durations_are_log_normal_and_needs_correlated() {
        let log = drawn("users=300,tasks=300K,burst=1,spread=1,duration=1min");
        let mut durations: Vec<u64> = log.tasks.iter().map(|task| task.duration.0).collect();
        durations.sort_unstable();
        let quantile = |share: f64| (durations[(share * 3e5) as usize] as f64 / 60e9).ln();
        // A normal number is below −1 with a chance of 0.1587.
        assert!(quantile(0.5).abs() < 0.02 && (quantile(0.1587) + 1.0).abs() < 0.02, "{}", quantile(0.1587));
        let (mut both, mut first) = (0.0, 0.0);
        for task in &log.tasks {
            let needs = &log.demands[task.demand as usize];
            let [x, y] = [needs[0], needs[1]].map(|amount| (amount as f64 / 1e9 * 80.0).ln());
            both += x * y;
            first += x * x;
        }
        assert!((both / first - 0.5).abs() < 0.25, "{}", both / first);
        let digits = |amount: u128| amount.to_string().trim_end_matches('0').len();
        assert!(log.demands.iter().flatten().all(|&amount| digits(amount) <= 3 && amount <= BILLION));
    }

    #[test]
    fn one_seed_is_one_log() {
        let one = drawn("tasks=3K,users=20,resources=5,seed=7");
        assert_eq!(one, drawn("tasks=3000,users=20,resources=5,seed=7"));
        assert_ne!(one.tasks, drawn("tasks=3K,users=20,resources=5,seed=8").tasks);
        assert_eq!(one.name, "generate:users=20,tasks=3000,resources=5,seed=7");
        assert_eq!(one.resources, ["cpu", "memory", "disk", "network", "resource5"]);
        assert_eq!(drawn(one.name.strip_prefix("generate:").unwrap()), one);
        let few = drawn("tasks=1,users=1000,zipf=0,span=1s");
        assert_eq!((few.tasks.len(), few.users.len(), few.demands.len()), (1, 1, 1));
    }

    #[test]
    fn wrong_keys_are_refused() {
        for (bad, said) in [
            ("users", "users: expected a count such as 200000, 200K or 1.5M, got \"\""),
            ("users=0", "users: expected 1 to 16777216, got \"0\""),
            ("tasks=5000M", "tasks: expected at most 4294967295, got \"5000M\""),
            ("tasks=4294967295", "tasks: expected 1 to 4294967294"),
            ("zipf=-1", "zipf: expected a number from 0 to 10 such as 0.5, got \"-1\""),
            ("zipf=_", "got \"_\""),
            ("spread=1e99", "got \"1e99\""),
            ("correlation=1.1", "correlation: expected a number from 0 to 1"),
            ("span=1", "span: expected a time such as"),
            ("span=87601h", "span: expected 1s to"),
            ("load=2", "expected one of users=…, tasks=…"),
        ] {
            let error = bad.parse::<Generate>().unwrap_err();
            assert!(error.contains(said), "{bad}: {error}");
        }
    }
}
