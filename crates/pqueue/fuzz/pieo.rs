//! The queue of what may leave already, against a list in the order in which items came.

use trueplane_pqueue::{Pieo, Refused};

use super::{Act, Step};

/// An item of the list.
#[derive(Clone, Copy)]
struct Waiting {
    rank: u64,
    eligible_from: u64,
    item: u32,
}

/// Does `steps` to the queue and to the list: time goes on by the number of the queue, and at the other end it seems to go back.
pub fn follow(capacity: usize, steps: &[Step]) {
    let mut pieo = Pieo::new(capacity).expect("a capacity above 0");
    let mut list: Vec<Waiting> = Vec::new();
    let mut now = 0;
    for (number, step) in steps.iter().enumerate() {
        let (item, span) = (number as u32, u64::from(step.queue));
        match step.act {
            Act::Insert => {
                let waiting = Waiting {
                    rank: u64::from(step.raw % 16),
                    eligible_from: now + span.saturating_sub(128),
                    item,
                };
                let inserted = pieo.insert(waiting.rank, waiting.eligible_from, item);
                if list.len() < capacity {
                    assert_eq!(inserted, Ok(()));
                    list.push(waiting);
                } else {
                    assert_eq!(inserted, Err(Refused::Full(item)));
                }
            }
            Act::ExtractMin => {
                now += span % 32;
                let best = best_of(&list, now).map(|place| list.remove(place));
                assert_eq!(pieo.extract_min(now), best.map(|best| (best.rank, best.item)));
            }
            Act::ExtractMax => {
                let best = best_of(&list, now).map(|place| list.remove(place));
                assert_eq!(
                    pieo.extract_min(now.saturating_sub(span)),
                    best.map(|best| (best.rank, best.item))
                );
            }
            Act::Remove => {
                let earliest = list.iter().map(|waiting| waiting.eligible_from.max(now)).min();
                assert_eq!(pieo.next_eligible(now), earliest);
            }
        }
        assert_eq!((pieo.len(), pieo.is_empty()), (list.len(), list.is_empty()));
        // Looking after every step would hide a time that went back.
        if step.act == Act::ExtractMin {
            let best = best_of(&list, now).map(|place| (list[place].rank, list[place].item));
            assert_eq!(pieo.peek_min(now).map(|(rank, &item)| (rank, item)), best);
        }
    }
}

/// Where the first item of the smallest rank is that may leave.
fn best_of(list: &[Waiting], now: u64) -> Option<usize> {
    (0..list.len()).filter(|&place| list[place].eligible_from <= now).min_by_key(|&place| list[place].rank)
}
