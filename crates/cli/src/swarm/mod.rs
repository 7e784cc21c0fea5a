//! The swarm test: one number draws a study, a workload and parameters, and whatever comes of it must hold together.
//!
//! For each number, the study runs on one thread and on three. Both runs must end in the same document or in the same error of one
//! line. The document must fit its schema, the page must build, and the numbers must obey the identities of [`identities`].
//!
//! `make test` runs the same numbers every time. `make swarm` goes on from a number of its own until you stop it, or for
//! `SWARM_SECONDS`; `SWARM_SEED=N` with `SWARM_COUNT=1` repeats one.

mod certificate;
mod draw;
mod identities;
mod parameters;
mod workload;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use trueplane_studies::{ForStudies, each};
use trueplane_study::render::{Look, text, write_report};
use trueplane_study::report::Report;
use trueplane_study::{Error, Observer, Study, schema, study};
use trueplane_testing::schema::problems;

use crate::threads::pool;
use draw::Draw;
use identities::Checked;

/// Numbers of the fixed run: about half a minute.
const COUNT: u64 = 400;

/// A run that takes longer than this is given up and counted as slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// Studies that measure this machine.
const LEFT_OUT: &[&str] = &["cache.experiment", "limit.experiment", "spray.experiment"];

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The study had a result.
    Ran,
    /// The study refused the parameters in one line.
    Refused,
    /// The study took too long.
    Slow,
}

/// Stops a run that takes too long, and remembers that it did: some studies then tell what they have.
struct Patience {
    start: Instant,
    is_over: AtomicBool,
}

impl Observer for Patience {
    fn interrupted(&self) -> bool {
        let is_over = self.start.elapsed() > PATIENCE;
        if is_over {
            self.is_over.store(true, Relaxed);
        }
        is_over
    }
}

/// The names of all studies that are drawn.
#[derive(Default)]
struct Names(Vec<&'static str>);

impl ForStudies for Names {
    fn study<S: Study>(&mut self) {
        if !LEFT_OUT.contains(&S::NAME) {
            self.0.push(S::NAME);
        }
    }
}

/// Runs the study of this name.
struct Case<'a> {
    name: &'static str,
    draw: Draw,
    folder: &'a Path,
    outcome: Option<Outcome>,
}

impl ForStudies for Case<'_> {
    fn study<S: Study>(&mut self) {
        if S::NAME == self.name {
            let (options, line) = parameters::draw::<S>(&mut self.draw, self.folder);
            eprintln!("  trueplane {line}");
            self.outcome = Some(run::<S>(&options, self.folder));
        }
    }
}

/// Runs a study on one thread and on three, and checks what comes of it.
fn run<S: Study>(options: &S::Options, folder: &Path) -> Outcome {
    let on = |threads| {
        let patience = Patience { start: now(), is_over: AtomicBool::new(false) };
        let found = pool(Some(threads)).expect("threads").install(|| study::run::<S>(options, &patience));
        if patience.is_over.load(Relaxed) { Err(Error::Interrupted) } else { found }
    };
    match (on(1), on(3)) {
        (Err(Error::Interrupted), _) | (_, Err(Error::Interrupted)) => Outcome::Slow,
        (Err(one), Err(three)) => {
            let (one, three) = (one.to_string(), three.to_string());
            assert_eq!(one, three, "the error depends on the number of threads");
            assert!(!one.is_empty() && !one.contains('\n'), "an error is one line: {one:?}");
            eprintln!("  refused: {one}");
            Outcome::Refused
        }
        (Ok(one), Ok(three)) => {
            assert_eq!(
                format!("{:#}", one.document),
                format!("{:#}", three.document),
                "the result depends on the number of threads"
            );
            check::<S>(&one, folder);
            Outcome::Ran
        }
        (one, three) => panic!(
            "one thread and three do not agree: {:?} and {:?}",
            one.map(|report| report.verdict),
            three.map(|report| report.verdict)
        ),
    }
}

fn check<S: Study>(report: &Report, folder: &Path) {
    let misfits = problems(&schema::of::<S>(), &report.document);
    assert!(misfits.is_empty(), "the document does not fit its schema: {misfits:#?}");
    CHECKED.with_borrow_mut(|checked| {
        let broken = identities::broken(S::NAME, &report.document, checked);
        assert!(broken.is_empty(), "{broken:#?}");
    });
    for look in [Look::default(), Look { width: Some(40), color: true, details: true }] {
        // A narrow terminal breaks lines between words.
        let first = report.title.split(' ').next().expect("a title has a word");
        assert!(text(report, look).contains(first), "the text has no title");
    }
    let page = write_report(report, &folder.join("report")).expect("the page builds");
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert!(page.contains("</html>"), "the page has no end");
    for number in ["NaN", "inf"] {
        let found = page.split(|c: char| !c.is_alphanumeric()).any(|word| word == number);
        assert!(!found, "the page has the word {number}");
    }
}

/// The time, for [`Patience`] and for the length of the whole test.
#[expect(clippy::disallowed_methods, reason = "ends runs that take too long; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

thread_local! {
    /// Outcomes by study.
    static COUNTS: RefCell<BTreeMap<(&'static str, Outcome), u64>> = RefCell::default();
    /// Rows in which each identity was checked.
    static CHECKED: RefCell<Checked> = RefCell::default();
}

/// Runs what `seed` draws.
fn one(seed: u64, names: &[&'static str]) {
    let mut draw = Draw::new(seed);
    let name = *draw.choose(names);
    eprintln!("swarm: SWARM_SEED={seed} {name}");
    let folder = tempfile::tempdir().expect("a folder for workloads");
    let mut case = Case { name, draw, folder: folder.path(), outcome: None };
    each(&mut case);
    let outcome = case.outcome.expect("the study is there");
    assert!(name != "cache.check" || outcome != Outcome::Refused, "a certificate of cache bound is refused");
    COUNTS.with_borrow_mut(|counts| *counts.entry((name, outcome)).or_default() += 1);
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: expected a whole number, got {text:?}")))
}

#[test]
fn whatever_is_drawn_holds_together() {
    let mut names = Names::default();
    each(&mut names);
    let (first, seconds) = (number("SWARM_SEED"), number("SWARM_SECONDS"));
    let count = number("SWARM_COUNT").unwrap_or(if seconds.is_some() { u64::MAX } else { COUNT });
    let (start, first_seed) = (now(), first.unwrap_or(0));
    let time_is_left = || seconds.is_none_or(|seconds| start.elapsed() < Duration::from_secs(seconds));
    for step in (0..count).take_while(|_| time_is_left()) {
        one(first_seed.wrapping_add(step), &names.0);
    }
    COUNTS.with_borrow(|counts| {
        eprintln!("swarm: {counts:#?}");
        if first.is_none() && seconds.is_none() {
            let without = names.0.iter().filter(|&&name| !counts.contains_key(&(name, Outcome::Ran)));
            assert_eq!(without.count(), 0, "some studies never had a result: {counts:#?}");
            let unchecked = CHECKED.with_borrow(identities::unchecked);
            assert!(unchecked.is_empty(), "these were never checked: {unchecked:#?}");
        }
    });
}
