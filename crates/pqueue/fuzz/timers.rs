//! The queue of timers, against a tree of them by deadline.

use std::collections::BTreeMap;

use trueplane_pqueue::{Handle, Refused, TimerQueue};

use super::{Act, Step};

/// Timers in the order in which they are due.
#[derive(Default)]
struct Tree {
    now: u64,
    /// Deadlines and items, by the deadline, or the time at which a late timer got it; then by the number of the step that gave it.
    timers: BTreeMap<(u64, u32), (u64, u32)>,
}

impl Tree {
    /// The key of a timer that gets the deadline `time` as the step `number`.
    fn insert(&mut self, number: u32, time: u64, item: u32) -> (u64, u32) {
        let key = (time.max(self.now), number);
        self.timers.insert(key, (time, item));
        key
    }

    fn pop_due(&mut self, now: u64) -> Option<(u64, u32)> {
        let to = now.max(self.now);
        let first = self.timers.first_entry().filter(|first| first.key().0 <= to);
        self.now = first.as_ref().map_or(to, |first| first.key().0);
        Some(first?.remove())
    }
}

/// A time before, after, somewhat after or far after `now`: the number of the queue says by what.
fn pick(now: u64, step: Step) -> u64 {
    let raw = u64::from(step.raw);
    match step.queue % 4 {
        0 => now.saturating_sub(raw),
        1 => now.saturating_add(raw % 130),
        // Several timers come to one slot of a later wheel, and together to one of the first.
        2 => (now / 4_096 + 1).saturating_mul(4_096).saturating_add(raw % 3),
        _ => now.saturating_add(raw << (step.queue % 49)),
    }
}

/// Does `steps` to the queue and to the tree.
pub fn follow(capacity: usize, steps: &[Step]) {
    let start = steps.first().map_or(0, |step| pick(u64::from(step.raw) << 40, *step));
    let mut queue = TimerQueue::new(start, capacity).expect("a capacity above 0");
    let mut tree = Tree { now: start, ..Tree::default() };
    let mut handles: Vec<(Handle, (u64, u32))> = Vec::new();
    for (number, &step) in steps.iter().enumerate() {
        let (item, time) = (number as u32, pick(tree.now, step));
        match step.act {
            Act::Insert if tree.timers.len() == capacity => {
                assert_eq!(queue.insert(time, item), Err(Refused::Full(item)));
            }
            Act::Insert => {
                let key = tree.insert(item, time, item);
                handles.push((queue.insert(time, item).expect("there is room"), key));
            }
            Act::ExtractMin => {
                let expired: Vec<_> = queue.expire(time).collect();
                let expected: Vec<_> = std::iter::from_fn(|| tree.pop_due(time)).collect();
                assert_eq!(expired, expected, "at {time}");
            }
            // One alone, and what else is due stays.
            Act::ExtractMax => assert_eq!(queue.expire(time).next(), tree.pop_due(time), "at {time}"),
            Act::Remove if handles.is_empty() => {}
            Act::Remove => {
                let place = usize::from(step.raw) % handles.len();
                let (handle, ref mut key) = handles[place];
                let expected = tree.timers.remove(key);
                assert_eq!(queue.find(handle).map(|(deadline, &item)| (deadline, item)), expected);
                assert_eq!(queue.get_mut(handle).map(|(deadline, &mut item)| (deadline, item)), expected);
                if step.queue % 2 == 0 {
                    assert_eq!(queue.cancel(handle), expected);
                } else {
                    // The handle names the timer under its new deadline.
                    assert_eq!(queue.reschedule(handle, time), expected.map(|(deadline, _)| deadline));
                    *key = expected.map_or(*key, |(_, item)| tree.insert(number as u32, time, item));
                }
            }
        }
        check(&queue, &tree);
    }
    let rest: Vec<_> = queue.expire(u64::MAX).collect();
    assert_eq!(rest, std::iter::from_fn(|| tree.pop_due(u64::MAX)).collect::<Vec<_>>());
}

fn check(queue: &TimerQueue<u32>, tree: &Tree) {
    assert_eq!((queue.len(), queue.is_empty()), (tree.timers.len(), tree.timers.is_empty()));
    assert_eq!(queue.now(), tree.now);
    let mut timers: Vec<_> = queue.iter().map(|(deadline, &item)| (deadline, item)).collect();
    let mut expected: Vec<_> = tree.timers.values().copied().collect();
    timers.sort_unstable();
    expected.sort_unstable();
    assert_eq!(timers, expected);
    let first = tree.timers.first_key_value();
    assert_eq!(queue.next_deadline(), first.map(|(_, &(deadline, _))| deadline));
    assert_eq!(queue.wake_at().is_some(), first.is_some());
    if let (Some(wake_at), Some((&(due, _), _))) = (queue.wake_at(), first) {
        assert!(tree.now <= wake_at && wake_at <= due, "{wake_at} is after {due}");
        // In one stretch of 64 it is exact, else it is closer than the time.
        assert!(if due / 64 == tree.now / 64 { wake_at == due } else { wake_at > tree.now });
    }
}
