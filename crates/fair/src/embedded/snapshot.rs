//! The state of a scheduler as bytes.
//!
//! `SDRF`, the version (2 bytes) and the CRC-32 of what follows (4 bytes), both least significant byte first; then [`State`] as postcard
//! writes it. What is no such thing is refused as a whole: a checksum against what happens to bytes, and a look at everything that must
//! fit together against what a checksum cannot see.

use serde::{Deserialize, Serialize};
use trueplane_units::Nanos;

use super::{Needs, SdrfScheduler, Task};
use crate::memory::Growth;
use crate::policy::Sdrf;
use crate::{Cluster, Memory, Scheduler};

const MAGIC: &[u8; 4] = b"SDRF";
const VERSION: u16 = 1;
const HEADER: usize = 10;

/// Why bytes are no state of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// They do not begin as one does.
    #[error("expected a snapshot, which begins with \"SDRF\", a version and a checksum")]
    NoSnapshot,
    /// One of another version.
    #[error("expected a snapshot of version {VERSION}, found version {0}")]
    Version(u16),
    /// Something happened to the bytes.
    #[error(
        "expected the checksum {expected:08x} of the snapshot, found {found:08x}: it is damaged or cut off"
    )]
    Checksum {
        /// Checksum in the snapshot.
        expected: u32,
        /// Checksum of the snapshot's bytes.
        found: u32,
    },
    /// The bytes say nothing that makes sense.
    #[error("expected a snapshot that fits together, found {0}")]
    Inconsistent(&'static str),
}

/// State of a scheduler in a snapshot.
#[derive(Serialize, Deserialize)]
struct State {
    now: u64,
    half_life: Option<u64>,
    epoch: u64,
    capacity: Vec<u64>,
    /// Weights by number; zero for a user who has left.
    weights: Vec<u32>,
    offsets: Vec<i128>,
    /// User, name and needs, in the order of their tickets, which are given anew.
    waiting: Vec<(u32, u64, Vec<u64>)>,
    /// User, name and needs of tasks that run, in the order of names.
    running: Vec<(u32, u64, Vec<u64>)>,
}

impl SdrfScheduler {
    /// Everything that the scheduler knows, as bytes that [`SdrfScheduler::restore`] reads; the same state gives the same bytes.
    ///
    /// Users and tasks are numbers in it, and what they stand for is the caller's: save the names of users by number, and what tasks are,
    /// beside the snapshot and at the same moment.
    ///
    /// O(n·m + t) for n users of m resources and t tasks.
    pub fn snapshot(&self) -> Vec<u8> {
        let cluster = self.scheduler.cluster();
        let (epoch, offsets) = self.scheduler.policy().remembered();
        let mut waiting: Vec<_> = self.scheduler.queued().collect();
        waiting.sort_unstable_by_key(|&(_, ticket, _)| ticket);
        let state = State {
            now: self.now.0,
            half_life: self.memory.map(|memory| memory.half_life_span().0),
            epoch,
            capacity: cluster.capacity().to_vec(),
            weights: (0..cluster.users() as u32).map(|user| cluster.weight_or_zero(user)).collect(),
            offsets: offsets.to_vec(),
            waiting: waiting.iter().map(|(user, _, task)| (*user, task.name, task.needs.to_vec())).collect(),
            running: self
                .running
                .iter()
                .map(|(&name, (user, task))| (*user, name, task.needs.to_vec()))
                .collect(),
        };
        let body = postcard::to_stdvec(&state).expect("a vector takes what is written to it");
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// The scheduler that `bytes` were a [snapshot](SdrfScheduler::snapshot) of; it goes on as the other would have. If the clock has started
    /// anew since, [`rebase`](SdrfScheduler::rebase) it first.
    ///
    /// # Errors
    ///
    /// The bytes are of another version, damaged, or no snapshot at all; nothing is made of them then.
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let body = body(bytes)?;
        let (state, rest): (State, _) = postcard::take_from_bytes(body)
            .map_err(|_| SnapshotError::Inconsistent("a cut or foreign text"))?;
        if !rest.is_empty() {
            return Err(SnapshotError::Inconsistent("bytes behind its end"));
        }
        state.scheduler().map_err(SnapshotError::Inconsistent)
    }
}

/// Returns the bytes after the header, whose version and checksum are right.
fn body(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let (header, body) = bytes.split_at_checked(HEADER).ok_or(SnapshotError::NoSnapshot)?;
    let [m0, m1, m2, m3, v0, v1, checksum @ ..] = header else { return Err(SnapshotError::NoSnapshot) };
    if [*m0, *m1, *m2, *m3] != *MAGIC {
        return Err(SnapshotError::NoSnapshot);
    }
    let version = u16::from_le_bytes([*v0, *v1]);
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let expected = checksum.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
    let found = crc32fast::hash(body);
    if expected == found { Ok(body) } else { Err(SnapshotError::Checksum { expected, found }) }
}

impl State {
    fn scheduler(self) -> Result<SdrfScheduler, &'static str> {
        let now = Nanos(self.now);
        let memory = self.half_life.map(|span| Memory::half_life(Nanos(span))).transpose();
        let memory = memory.map_err(|_| "a half-life of nothing")?;
        let growth = match memory {
            Some(memory) => Some(Growth::resume(memory, self.epoch, now).ok_or("a clock out of step")?),
            None => None,
        };
        let cluster = Cluster::resume(self.capacity, self.weights).map_err(|_| "no cluster")?;
        let sdrf = Sdrf::resume(&cluster, growth, self.offsets).ok_or("other commitments than users")?;
        let mut restored = SdrfScheduler {
            scheduler: Scheduler::new(cluster, sdrf, Needs, false),
            memory,
            waiting: Default::default(),
            running: Default::default(),
            now,
        };
        for (user, name, needs) in self.running {
            restored.resume(user, Task { name, needs: needs.into() })?;
        }
        if !restored.scheduler.policy().is_sound() {
            return Err("commitments that nobody can have");
        }
        for (user, name, needs) in self.waiting {
            restored.submit(user, name, &needs, now).map_err(|_| "a task that cannot wait")?;
        }
        Ok(restored)
    }
}

impl SdrfScheduler {
    /// `task` of `user` has been running.
    fn resume(&mut self, user: u32, task: Task) -> Result<(), &'static str> {
        let cluster = self.scheduler.cluster();
        if !cluster.has(user) || task.needs.len() != cluster.resources() {
            return Err("a task that runs for nobody");
        }
        if !self.scheduler.resume(user, &task) {
            return Err("more tasks than fit the cluster");
        }
        if self.running.insert(task.name, (user, task)).is_some() {
            return Err("two tasks of one name");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user with a commitment, a task that runs and one that waits.
    fn state() -> State {
        let memory = Memory::forgetting(0.01).ok();
        let mut scheduler = SdrfScheduler::new(vec![10, 100], memory).unwrap();
        for weight in [1, 4] {
            scheduler.join(weight, Nanos(0)).unwrap();
        }
        scheduler.submit(0, 7, &[9, 10], Nanos(0)).unwrap();
        scheduler.submit(1, 8, &[4, 10], Nanos(0)).unwrap();
        scheduler.next(Nanos(0)).unwrap();
        scheduler.next(Nanos(60_000_000_000)).unwrap();
        postcard::from_bytes(&scheduler.snapshot()[HEADER..]).unwrap()
    }

    /// What is said of a state that was changed.
    fn said(change: impl Fn(&mut State)) -> Option<&'static str> {
        let mut state = state();
        change(&mut state);
        state.scheduler().err()
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert_eq!(said(|_| {}), None);
        assert_eq!(said(|state| state.half_life = Some(0)), Some("a half-life of nothing"));
        assert_eq!(said(|state| state.epoch = 1), Some("a clock out of step"));
        assert_eq!(said(|state| state.now = u64::MAX), Some("a clock out of step"));
        assert_eq!(said(|state| state.capacity[1] = 0), Some("no cluster"));
        assert_eq!(said(|state| state.weights[0] = 70_000), Some("no cluster"));
        assert_eq!(said(|state| state.weights.push(1)), Some("other commitments than users"));
        assert_eq!(said(|state| state.offsets.truncate(3)), Some("other commitments than users"));
        // As many cells as would fill the memory of any machine.
        let made_up = said(|state| {
            state.capacity = vec![1; 300_000];
            state.weights = vec![1; 300_000];
        });
        assert_eq!(made_up, Some("other commitments than users"));
        let unsound = Some("commitments that nobody can have");
        assert_eq!(said(|state| state.offsets[1] = -2), unsound);
        assert_eq!(said(|state| state.offsets[1] = i128::MAX), unsound);
        assert_eq!(said(|state| state.offsets[3] = 1 << 88), unsound, "more than a quarter by weight 4");
        assert_eq!(
            said(|state| (state.half_life, state.epoch) = (None, 0)),
            unsound,
            "no memory of anything"
        );
        assert_eq!(said(|state| state.running[0].0 = 2), Some("a task that runs for nobody"));
        let left = |state: &mut State| state.weights[0] = 0;
        assert_eq!(said(left), Some("a task that runs for nobody"));
        let with_commitments = said(|state| {
            left(state);
            state.running.clear();
        });
        assert_eq!(with_commitments, unsound);
        assert_eq!(said(|state| state.running[0].2[0] = 11), Some("more tasks than fit the cluster"));
        assert_eq!(said(|state| state.running[0].2.truncate(1)), Some("a task that runs for nobody"));
        assert_eq!(said(|state| state.running.push((0, 7, vec![0, 0]))), Some("two tasks of one name"));
        for wrong in [(2, 9, vec![1, 1]), (0, 7, vec![1, 1]), (0, 8, vec![1, 1]), (0, 9, vec![11, 1])] {
            assert_eq!(said(|state| state.waiting.push(wrong.clone())), Some("a task that cannot wait"));
        }
    }
}
