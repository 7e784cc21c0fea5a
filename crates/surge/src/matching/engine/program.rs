//! A regular expression as a program for a backtracking matcher.

use regex_syntax::hir::Look;

use crate::matching::pattern::{ByteSet, Node, Pattern};

/// The longest program. Counted repetitions are written out, so `(a{999}){999}` would be a million instructions.
const LONGEST: usize = 1 << 16;

/// Instruction of the matcher; numbers are places in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Takes this byte.
    Byte(u8),
    /// Takes a byte of the set with this number.
    Set(u32),
    /// Goes on if what is around is so.
    Look(Look),
    /// Goes on at the first place, and comes back for the second if that fails.
    Split(u32, u32),
    /// Goes on there.
    Jump(u32),
    /// Remembers where in the payload a round of a loop begins, in the register with this number.
    Begin(u32),
    /// If the round that began in this register took no byte, leaves the loop for this place: it would never end.
    Leave(u32, u32),
    /// Has matched.
    Match,
}

/// The program of a pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) sets: Vec<ByteSet>,
    pub(super) registers: usize,
}

/// It would be too long.
pub(super) struct TooLong;

impl Program {
    pub(super) fn of(pattern: &Pattern) -> Result<Self, TooLong> {
        let mut program = Self::default();
        program.add(pattern.node())?;
        program.push(Instruction::Match)?;
        Ok(program)
    }

    /// Place of the next instruction.
    fn here(&self) -> u32 {
        self.instructions.len() as u32
    }

    /// Adds an instruction, and says where it is.
    fn push(&mut self, instruction: Instruction) -> Result<usize, TooLong> {
        if self.instructions.len() == LONGEST {
            return Err(TooLong);
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() - 1)
    }

    /// Adds what matches `node`.
    fn add(&mut self, node: &Node) -> Result<(), TooLong> {
        match node {
            Node::Byte(set) => {
                let mut bytes = set.bytes();
                let instruction = match (bytes.next(), bytes.next()) {
                    (Some(byte), None) => Instruction::Byte(byte),
                    _ => Instruction::Set(self.set(*set)),
                };
                self.push(instruction)?;
            }
            Node::Look(look) => {
                self.push(Instruction::Look(*look))?;
            }
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.add(node))?,
            Node::Alternate(nodes) => self.alternate(nodes)?,
            Node::Repeat { node, min, max, greedy } => self.repeat(node, *min, *max, *greedy)?,
        }
        Ok(())
    }

    /// The number of a set.
    fn set(&mut self, set: ByteSet) -> u32 {
        let known = self.sets.iter().position(|known| *known == set);
        let number = known.unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        });
        number as u32
    }

    fn alternate(&mut self, nodes: &[Node]) -> Result<(), TooLong> {
        let Some((last, others)) = nodes.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for node in others {
            let split = self.push(Instruction::Split(0, 0))?;
            self.add(node)?;
            ends.push(self.push(Instruction::Jump(0))?);
            self.instructions[split] = Instruction::Split(split as u32 + 1, self.here());
        }
        self.add(last)?;
        for end in ends {
            self.instructions[end] = Instruction::Jump(self.here());
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>, greedy: bool) -> Result<(), TooLong> {
        let written = if max.is_none() { min.saturating_sub(1) } else { min };
        for _ in 0..written {
            let before = self.here();
            self.add(node)?;
            if self.here() == before {
                // Nothing, however often.
                return Ok(());
            }
        }
        let Some(max) = max else { return self.endless(node, min > 0, greedy) };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Instruction::Split(0, 0))?);
            self.add(node)?;
        }
        for split in splits {
            self.instructions[split] = fork(split as u32 + 1, self.here(), greedy);
        }
        Ok(())
    }

    /// Adds a loop, whose first round is no choice if it `must` be.
    fn endless(&mut self, node: &Node, must: bool, greedy: bool) -> Result<(), TooLong> {
        let first = if must { None } else { Some(self.push(Instruction::Split(0, 0))?) };
        let begin = self.here();
        let round = if is_nullable(node) {
            self.registers += 1;
            let register = self.registers as u32 - 1;
            self.push(Instruction::Begin(register))?;
            Some(register)
        } else {
            None
        };
        self.add(node)?;
        let leave = round.map(|register| self.push(Instruction::Leave(register, 0)).map(|at| (at, register)));
        self.push(fork(begin, self.here() + 1, greedy))?;
        if let Some(split) = first {
            self.instructions[split] = fork(begin, self.here(), greedy);
        }
        if let Some((at, register)) = leave.transpose()? {
            self.instructions[at] = Instruction::Leave(register, self.here());
        }
        Ok(())
    }
}

/// A choice between more and less.
fn fork(more: u32, less: u32, greedy: bool) -> Instruction {
    if greedy { Instruction::Split(more, less) } else { Instruction::Split(less, more) }
}

/// Whether `node` can match without a byte.
fn is_nullable(node: &Node) -> bool {
    match node {
        Node::Byte(_) => false,
        Node::Look(_) => true,
        Node::Concat(nodes) => nodes.iter().all(is_nullable),
        Node::Alternate(nodes) => nodes.is_empty() || nodes.iter().any(is_nullable),
        Node::Repeat { node, min, .. } => *min == 0 || is_nullable(node),
    }
}
