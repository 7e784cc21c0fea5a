//! A backtracking matcher that counts its steps.

use regex_syntax::hir::Look;

use super::program::{Instruction, Program, TooLong};
use super::{Count, Counting, Engine};
use crate::matching::pattern::Pattern;

/// Tries what can be tried in Perl's order, and goes back to the last choice when that fails: exponential at worst.
///
/// A *step* is one instruction: to compare a byte, to look around, to choose between two ways, to jump, to begin or end
/// a round of a loop that may take no byte. Every place of the payload is tried, from the first on; there is none of
/// the short cuts by which PCRE2 skips places where a match cannot begin, nor does it see that a pattern that begins
/// with `^` need not be tried further on (one step a place). After `limit` steps it gives up, as PCRE2 does with its
/// match limit: no match, and as many steps as the limit.
///
/// It keeps no stack of calls: choices lie in the [`Scratch`](Engine::Scratch), no more than steps, nor than
/// instructions times bytes. A loop ends after a round that took no byte, as in Perl.
#[derive(Clone, Debug)]
pub struct Backtracking {
    program: Program,
    limit: u32,
}

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It matched the bytes from the first place to before the second.
    Match(usize, usize),
    /// It does not match.
    NoMatch,
    /// It took too many steps.
    GaveUp,
}

/// Outcome of a search, and the steps that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Outcome of the search.
    pub verdict: Verdict,
    /// Number of steps that it took.
    pub steps: u64,
}

/// A choice to which the search can come back.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Go on with this instruction at this place.
    Try(u32, usize),
    /// Set this register back to this place.
    Restore(u32, usize),
}

/// Choices that are left, and where the rounds of loops began.
#[derive(Debug, Default)]
pub struct Stack {
    choices: Vec<Choice>,
    registers: Vec<usize>,
}

impl Backtracking {
    /// Searches for the first match.
    pub fn find(&self, payload: &[u8], stack: &mut Stack) -> Found {
        stack.registers.clear();
        stack.registers.resize(self.program.registers, 0);
        let mut steps = 0;
        for start in 0..=payload.len() {
            match self.run(payload, start, stack, &mut steps) {
                Verdict::NoMatch => {}
                verdict => return Found { verdict, steps },
            }
        }
        Found { verdict: Verdict::NoMatch, steps }
    }

    /// Tries to match from `start` on.
    fn run(&self, payload: &[u8], start: usize, stack: &mut Stack, steps: &mut u64) -> Verdict {
        let Stack { choices, registers } = stack;
        choices.clear();
        let (mut next, mut at) = (0, start);
        loop {
            if *steps == u64::from(self.limit) {
                return Verdict::GaveUp;
            }
            *steps += 1;
            let goes_on = match self.program.instructions[next as usize] {
                Instruction::Byte(byte) => {
                    at += 1;
                    payload.get(at - 1) == Some(&byte)
                }
                Instruction::Set(set) => {
                    at += 1;
                    payload.get(at - 1).is_some_and(|byte| self.program.sets[set as usize].contains(*byte))
                }
                Instruction::Look(look) => looks(look, payload, at),
                Instruction::Split(first, second) => {
                    choices.push(Choice::Try(second, at));
                    next = first;
                    continue;
                }
                Instruction::Jump(to) => {
                    next = to;
                    continue;
                }
                Instruction::Begin(register) => {
                    choices.push(Choice::Restore(register, registers[register as usize]));
                    registers[register as usize] = at;
                    true
                }
                Instruction::Leave(register, to) => {
                    if registers[register as usize] == at {
                        next = to;
                        continue;
                    }
                    true
                }
                Instruction::Match => return Verdict::Match(start, at),
            };
            next += 1;
            if goes_on {
                continue;
            }
            loop {
                match choices.pop() {
                    None => return Verdict::NoMatch,
                    Some(Choice::Restore(register, place)) => registers[register as usize] = place,
                    Some(Choice::Try(instruction, place)) => {
                        (next, at) = (instruction, place);
                        break;
                    }
                }
            }
        }
    }
}

impl Engine for Backtracking {
    type Scratch = Stack;

    fn compile(pattern: &Pattern, limit: u32) -> Result<Self, String> {
        let program =
            Program::of(pattern).map_err(|TooLong| "its repetitions written out are too long".to_owned())?;
        Ok(Self { program, limit })
    }

    fn matches(&self, payload: &[u8], stack: &mut Stack) -> bool {
        self.count(payload, stack).matched
    }
}

impl Counting for Backtracking {
    fn count(&self, payload: &[u8], stack: &mut Stack) -> Count {
        let Found { verdict, steps } = self.find(payload, stack);
        Count { matched: matches!(verdict, Verdict::Match(..)), steps }
    }
}

/// Whether it looks like that around the place `at`.
fn looks(look: Look, payload: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| payload.get(before)).copied();
    let after = payload.get(at).copied();
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|byte| byte == b'\n'),
        Look::EndLF => after.is_none_or(|byte| byte == b'\n'),
        Look::WordAscii => is_word(before) != is_word(after),
        Look::WordAsciiNegate => is_word(before) == is_word(after),
        // A pattern has no others.
        _ => false,
    }
}
