//! The shape of every study: parameters, a run that finds rows, and a page that shows them.

use std::fmt::Debug;

use trueplane_units::{Parameters, Setting, parameter};

use crate::page::Page;
use crate::prose::brief;
use crate::report::{Given, Report};
use crate::{Error, Observer, document};

/// A study: what it can be asked, what it finds, and how people read that.
///
/// The command line, the document, the page and the reference texts come from these items; nothing else has to be written for a study.
pub trait Study: 'static {
    /// `subsystem.verb`, such as `sched.bandwidth`.
    const NAME: &'static str;
    /// The help text: the first paragraph says in one sentence what the study is for, the others explain.
    const ABOUT: &'static str;
    /// Command lines that work as they stand in a checkout, one a line, for the help text.
    const EXAMPLES: &'static str;
    /// Belief of the classical model, in one sentence.
    const BELIEF: &'static str;
    /// What the number of threads changes.
    const THREADS: Threads = Threads::Same;

    /// The parameters.
    type Options: Parameters + Clone + Debug + Send + Sync;
    /// The rows: plain typed values, choices as enums.
    type Found;

    /// The title of the page.
    fn title(options: &Self::Options) -> String;

    /// Runs all cases. The same options give the same rows, but for a search that ends by time ([`Threads::Timed`]).
    ///
    /// # Errors
    /// If the options do not fit each other or their inputs, or if the observer interrupts.
    fn run(options: &Self::Options, observer: &dyn Observer) -> Result<Self::Found, Error>;

    /// Puts facts, numbers, tables and plots on the page.
    fn present(options: &Self::Options, found: &Self::Found, page: &mut Page);

    /// Findings in at most five short sentences, the most important first. A later one that would make
    /// the verdict too long is left out.
    fn verdict(options: &Self::Options, found: &Self::Found) -> Vec<String>;

    /// What to do about the findings, in one sentence that begins with a verb; empty if nothing follows from them.
    fn advice(options: &Self::Options, found: &Self::Found) -> String;
}

/// What the number of threads changes in a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Nothing: the study runs on one, and is not asked how many.
    One,
    /// How long it takes: what it finds is the same for any number.
    Same,
    /// What it finds, too, where a search ends by time: more threads then find more.
    Timed,
}

/// Everything that people and programs read of a study.
pub fn report<S: Study>(options: &S::Options, found: &S::Found) -> Report {
    let mut page = Page::default();
    S::present(options, found, &mut page);
    let (name, title) = (S::NAME, S::title(options));
    let (verdict, advice) = (S::verdict(options, found), S::advice(options, found));
    let words = Words { name, title, belief: S::BELIEF, verdict, advice };
    page_report(words, &parameter::settings(options), page)
}

/// The words of a report that are not on its page.
#[derive(Clone, Debug)]
pub struct Words {
    /// `subsystem.verb`, such as `limit.show`.
    pub name: &'static str,
    /// The title of the page.
    pub title: String,
    /// Belief of the classical model, in one sentence.
    pub belief: &'static str,
    /// Findings in at most five short sentences, the most important first.
    pub verdict: Vec<String>,
    /// What to do about them, in one sentence; empty if nothing follows.
    pub advice: String,
}

/// The report of a page, also of a live command that is no study.
pub fn page_report(words: Words, settings: &[Setting], page: Page) -> Report {
    let (facts, mut report) = page.into_parts();
    report.study = words.name.to_owned();
    report.title = words.title;
    report.belief = words.belief.to_owned();
    report.advice = words.advice;
    report.verdict = brief(words.verdict.into_iter().enumerate().collect());
    let given = settings.iter().filter(|setting| setting.is_given());
    report.parameters = given.map(parameter_of).collect();
    report.document = document::of(&report, settings, &facts);
    report
}

fn parameter_of(setting: &Setting) -> Given {
    let is_default =
        setting.parameter.default.is_some_and(|text| setting.parameter.is_value(text, &setting.datum));
    Given { name: setting.parameter.title(), value: setting.text.clone(), is_default }
}

/// Runs a study and shows what it finds.
///
/// # Errors
/// As [`Study::run`].
pub fn run<S: Study>(options: &S::Options, observer: &dyn Observer) -> Result<Report, Error> {
    let found = S::run(options, observer)?;
    Ok(report::<S>(options, &found))
}
