//! Payloads that are made for rules: what a regular expression would match, with one part of it over and over, and
//! something at the end with which the match fails.

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use crate::matching::pattern::{ByteSet, Node};
use crate::matching::rules::Rule;

/// Parts of an expression that are walked through for one payload: nested repetitions are exponential.
const FUEL: u32 = 4096;

/// The most rounds of a part to begin with.
const MOST_ROUNDS: u32 = 64;

/// Bytes that may follow to make a match fail: they are in few classes.
const ENDINGS: [u8; 5] = [0, b'\n', b'!', b'~', 0xff];

/// Bytes that come so many times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    bytes: Vec<u8>,
    times: u32,
}

/// A payload as pieces that can be changed one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    pieces: Vec<Piece>,
}

impl Recipe {
    /// One that `rule` may take long for.
    pub(super) fn of(rule: &Rule, longest: u32, rng: &mut impl Rng) -> Self {
        let mut recipe = Self::default();
        for pattern in &rule.patterns {
            let mut walk = Walk { pieces: Vec::new(), fuel: FUEL, room: longest as usize, rng };
            walk.add(pattern.node());
            recipe.pieces.append(&mut walk.pieces);
        }
        if rng.random_bool(0.7) {
            recipe.pieces.push(Piece { bytes: ENDINGS.choose(rng).copied().into_iter().collect(), times: 1 });
        }
        recipe.complete(rule, longest, rng);
        recipe
    }

    /// The payload, no longer than `longest`.
    pub(super) fn payload(&self, longest: u32) -> Vec<u8> {
        let longest = longest as usize;
        let mut payload = Vec::new();
        for Piece { bytes, times } in &self.pieces {
            for _ in 0..*times {
                if payload.len() + bytes.len() > longest {
                    return payload;
                }
                payload.extend_from_slice(bytes);
            }
        }
        payload
    }

    /// Adds the contents of `rule` that are not there, in front or at the end.
    fn complete(&mut self, rule: &Rule, longest: u32, rng: &mut impl Rng) {
        for content in &rule.contents {
            let payload = self.payload(longest);
            let occurs = payload.windows(content.bytes.len()).any(|window| {
                if content.nocase {
                    window.eq_ignore_ascii_case(&content.bytes)
                } else {
                    window == content.bytes
                }
            });
            if !occurs {
                let at = if rng.random() { self.pieces.len() } else { 0 };
                self.pieces.insert(at, Piece { bytes: content.bytes.clone(), times: 1 });
            }
        }
    }

    /// All that lack something: a piece, half of its rounds, one of them, or half of its bytes.
    pub(super) fn shorter(&self) -> Vec<Self> {
        let shorter = (0..self.pieces.len()).flat_map(|at| {
            let Piece { bytes, times } = &self.pieces[at];
            let (front, back) = bytes.split_at(bytes.len() / 2);
            let kept = [
                (bytes.as_slice(), 0),
                (bytes.as_slice(), times / 2),
                (bytes.as_slice(), times.saturating_sub(1)),
                (front, *times),
                (back, *times),
            ];
            kept.map(|(bytes, times)| {
                let mut shorter = self.clone();
                if bytes.is_empty() || times == 0 {
                    shorter.pieces.remove(at);
                } else {
                    shorter.pieces[at] = Piece { bytes: bytes.to_vec(), times };
                }
                shorter
            })
        });
        shorter.collect()
    }

    /// One that differs in a little; `other` is a rule to borrow from.
    pub(super) fn changed(&self, other: &Rule, longest: u32, rng: &mut impl Rng) -> Self {
        let mut changed = self.clone();
        let pieces = &mut changed.pieces;
        let Some(at) = (!pieces.is_empty()).then(|| rng.random_range(0..pieces.len())) else {
            return Self::of(other, longest, rng);
        };
        match rng.random_range(0..8) {
            0 => pieces[at].times = pieces[at].times.saturating_mul(2).min(longest.max(1)),
            1 => pieces[at].times = (pieces[at].times / 2).max(1),
            2 => pieces[at].times = (pieces[at].times + 1).min(longest.max(1)),
            3 => pieces[at].times = (pieces[at].times - 1).max(1),
            4 => {
                pieces.remove(at);
            }
            5 => {
                let to = rng.random_range(0..pieces.len());
                pieces.swap(at, to);
            }
            6 => pieces.push(Piece { bytes: ENDINGS.choose(rng).copied().into_iter().collect(), times: 1 }),
            _ => {
                // What other rules have to try, too, is tried for the same bits.
                let mut others = Self::of(other, longest, rng).pieces;
                if rng.random() {
                    others.append(pieces);
                    *pieces = others;
                } else {
                    pieces.append(&mut others);
                }
            }
        }
        changed
    }
}

/// A way through an expression.
struct Walk<'a, R> {
    pieces: Vec<Piece>,
    fuel: u32,
    /// Bytes that fit.
    room: usize,
    rng: &'a mut R,
}

impl<R: Rng> Walk<'_, R> {
    fn add(&mut self, node: &Node) {
        if self.fuel == 0 || self.room == 0 {
            return;
        }
        self.fuel -= 1;
        match node {
            Node::Byte(set) => self.byte(set),
            Node::Look(_) => {}
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Alternate(nodes) => {
                if let Some(node) = nodes.choose(self.rng) {
                    self.add(node);
                }
            }
            Node::Repeat { node, min, max, .. } => self.repeat(node, *min, max.unwrap_or(u32::MAX)),
        }
    }

    fn byte(&mut self, set: &ByteSet) {
        let number = self.rng.random_range(0..set.len().max(1));
        let Some(byte) = set.bytes().nth(number) else { return };
        self.room -= 1;
        match self.pieces.last_mut() {
            Some(last) if last.times == 1 => last.bytes.push(byte),
            _ => self.pieces.push(Piece { bytes: vec![byte], times: 1 }),
        }
    }

    /// One round many times, or some rounds of which each is different.
    fn repeat(&mut self, node: &Node, min: u32, max: u32) {
        if max > min.max(1) && self.rng.random() {
            let before = self.pieces.len();
            self.pieces.push(Piece { bytes: Vec::new(), times: 1 });
            self.add(node);
            // Only what is one piece can be repeated as one; rounds of a loop within this one are enough.
            let times = self.rng.random_range(1..=MOST_ROUNDS).clamp(min.max(1), max);
            if let [.., round] = self.pieces.as_mut_slice() {
                round.times = round.times.max(times);
            }
            self.pieces.retain(|piece| !piece.bytes.is_empty());
            let made: usize = self
                .pieces
                .iter()
                .skip(before)
                .map(|piece| piece.bytes.len() * (piece.times - 1) as usize)
                .sum();
            self.room = self.room.saturating_sub(made);
            return;
        }
        let rounds = self.rng.random_range(min..=max.min(min.saturating_add(2)));
        for _ in 0..rounds {
            if self.fuel == 0 || self.room == 0 {
                return;
            }
            self.add(node);
        }
    }
}
