use proptest::prelude::*;

use super::LiveTree;
use crate::curve::tests::Line;

#[test]
fn lines_that_cross_change_places() {
    let mut tree = LiveTree::default();
    for (name, slope, offset) in [(0, 0, 30), (1, 1, 20), (2, 2, 10), (3, 3, 0)] {
        tree.set(name, Line { slope, offset, name }, 0);
    }
    assert_eq!(tree.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    // All four meet at 10, where the lower name comes first; at 11 the order is turned round.
    tree.advance(10);
    assert_eq!(tree.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((tree.first(11), tree.last(11)), (Some(3), Some(0)));
    assert_eq!(tree.iter().collect::<Vec<_>>(), [3, 2, 1, 0]);
    assert_eq!((tree.after(2), tree.after(0), tree.after(9)), (Some(1), None, None));
    assert!(tree.crossings() >= 2);
}

/// The trap of looking only at those who have met their neighbours.
#[test]
fn who_has_met_nobody_may_have_to_move() {
    let mut tree = LiveTree::default();
    // From the largest to the smallest: 4, 3, 2, 1. Names 1 and 2 fly apart; 0 falls and 3 rises, each in the wake of one of them.
    for (name, slope, offset) in [(0, -5, 4), (1, -10, 3), (2, 10, 2), (3, 5, 1)] {
        tree.set(name, Line { slope, offset, name }, 0);
    }
    tree.advance(10);
    assert_eq!(tree.iter().collect::<Vec<_>>(), [2, 3, 0, 1]);
}

#[derive(Clone, Debug)]
enum Step {
    Set(u32, i64, i64),
    Remove(u32),
    Wait(u64),
    ChangeAll(i64),
}

fn step(names: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..names, -9..9i64, -200..200i64).prop_map(|(name, slope, offset)| Step::Set(name, slope, offset)),
        2 => (0..names).prop_map(Step::Remove),
        4 => (0..12u64).prop_map(Step::Wait),
        1 => (-3..3i64).prop_map(Step::ChangeAll),
    ]
}

/// The order is that of a sort, at every instant, and so is everything that is said of it.
fn is_sorted_at_every_instant(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut tree = LiveTree::default();
    let mut naive: Vec<Line> = Vec::new();
    let mut now = 0;
    for step in steps {
        match step {
            Step::Set(name, slope, offset) => {
                let line = Line { slope, offset, name };
                naive.retain(|old| old.name != name);
                naive.push(line);
                tree.set(name, line, now);
            }
            Step::Remove(name) => {
                let expected = naive.iter().position(|old| old.name == name).map(|i| naive.swap_remove(i));
                prop_assert_eq!(tree.remove(name, now), expected);
            }
            Step::Wait(span) => {
                now += span;
                tree.advance(now);
            }
            Step::ChangeAll(by) => {
                now /= 2;
                naive.iter_mut().for_each(|line| line.slope *= by);
                tree.change_all(now, |_, line| line.slope *= by);
            }
        }
        naive.sort_by_key(|line| std::cmp::Reverse(line.at(now)));
        let expected: Vec<u32> = naive.iter().map(|line| line.name).collect();
        prop_assert_eq!(tree.first(now), expected.first().copied());
        prop_assert_eq!(tree.last(now), expected.last().copied());
        prop_assert_eq!(tree.len(), expected.len());
        prop_assert!(tree.certificates.earliest() > now, "nothing is due any more");
        prop_assert_eq!(tree.iter().collect::<Vec<_>>(), &*expected);
        for pair in expected.windows(2) {
            prop_assert_eq!(tree.after(pair[0]), Some(pair[1]));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_order_is_that_of_a_sort(steps in prop::collection::vec(step(40), 1..200)) {
        is_sorted_at_every_instant(steps)?;
    }

    /// Blocks are divided, merged and given up.
    #[test]
    fn with_many_elements_too(
        many in prop::collection::vec(step(400), 600..1000),
        removals in prop::collection::vec((0..400u32).prop_map(Step::Remove), 500..700),
        more in prop::collection::vec(step(400), 0..200),
    ) {
        is_sorted_at_every_instant(many.into_iter().chain(removals).chain(more).collect())?;
    }
}
