//! The full match: the candidates' regular expressions, one after the other, up to the first rule that matches
//! (§3.5.1).

use super::engine::{Counting, Engine};
use super::prefilter::{Prefilter, Seen};
use super::rules::{RuleError, Rules};

/// Rules made ready for an engine.
#[derive(Debug)]
pub struct Matcher<E> {
    prefilter: Prefilter,
    /// The expressions of each rule, in the order in which they are tried.
    rules: Vec<Vec<E>>,
}

/// Memory that a match needs and leaves for the next; its contents mean nothing.
#[derive(Debug, Default)]
pub struct Scratch<S> {
    seen: Seen,
    candidates: Vec<u32>,
    engine: S,
}

/// A candidate that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The rule, by its number in the file, from 0.
    pub rule: u32,
    /// The steps that its expressions took together; 0 if it has none.
    pub steps: u64,
}

/// Outcome of matching a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The rules whose contents all occur, in the order of the file.
    pub candidates: Vec<u32>,
    /// Those of them that were tried: all up to the first that matched.
    pub trials: Vec<Trial>,
    /// The first rule that matched; the last one tried.
    pub matched: Option<u32>,
}

impl Inspection {
    /// The steps of all trials.
    pub fn steps(&self) -> u64 {
        self.trials.iter().map(|trial| trial.steps).sum()
    }
}

impl<E: Engine> Matcher<E> {
    /// Makes `rules` ready; engines that can blow up give up on an expression after `limit` steps, so that its rule
    /// does not match.
    ///
    /// # Errors
    ///
    /// If an expression, or all contents together, would become too large.
    pub fn new(rules: &Rules, limit: u32) -> Result<Self, RuleError> {
        let file = rules.file();
        let prefilter = Prefilter::new(rules).map_err(|problem| {
            let place =
                super::rules::Place { line: rules.rules().first().map_or(1, |rule| rule.line), column: 1 };
            place
                .error(file, format!("expected contents that fit into an automaton, got too many: {problem}"))
        })?;
        let compile = |pattern| {
            E::compile(pattern, limit).map_err(|problem| {
                let source = super::rules::quoted(pattern.source());
                let problem =
                    format!("expected a regular expression of moderate size, got {source}: {problem}");
                pattern.place().error(file, problem)
            })
        };
        let rules = rules.rules().iter().map(|rule| rule.patterns.iter().map(compile).collect());
        Ok(Self { prefilter, rules: rules.collect::<Result<_, _>>()? })
    }

    /// Number of rules.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// The first rule that matches `payload`, by its number in the file, from 0; the whole work, for those who hold a
    /// clock.
    pub fn matches(&self, payload: &[u8], scratch: &mut Scratch<E::Scratch>) -> Option<u32> {
        let Scratch { seen, candidates, engine } = scratch;
        self.prefilter.candidates(payload, seen, candidates);
        let mut rules = candidates.iter().copied();
        rules.find(|rule| self.rules[*rule as usize].iter().all(|pattern| pattern.matches(payload, engine)))
    }
}

impl<E: Counting> Matcher<E> {
    /// Matches `payload`, and counts.
    pub fn inspect(&self, payload: &[u8], scratch: &mut Scratch<E::Scratch>) -> Inspection {
        let mut inspection = Inspection::default();
        self.prefilter.candidates(payload, &mut scratch.seen, &mut inspection.candidates);
        for rule in inspection.candidates.iter().copied() {
            let mut steps = 0;
            let matched = self.rules[rule as usize].iter().all(|pattern| {
                let count = pattern.count(payload, &mut scratch.engine);
                steps += count.steps;
                count.matched
            });
            inspection.trials.push(Trial { rule, steps });
            if matched {
                inspection.matched = Some(rule);
                break;
            }
        }
        inspection
    }
}
