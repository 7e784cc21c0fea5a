//! One table that every order of service must pass; each against a list that is searched from end to end for the exact rank.

mod bounded;
mod cancel;
mod fairness;
mod naive;
mod table;
mod turns;
mod worked;

use std::collections::HashMap;

use proptest::prelude::*;
use trueplane_surge::policy::PolicyName;
use trueplane_surge::{Packet, Policy};
use trueplane_units::Nanos;

use naive::Naive;
use table::{CAPACITY, Row, table};

/// Something that happens to a policy, after some time.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { flow: u64, bits: u32, work: u64 },
    Serve,
    DropWorst,
}

fn step(most_work: u64) -> impl Strategy<Value = (u64, Step)> {
    // Few values, so that ranks are equal, and any, so that they are not.
    let work =
        prop_oneof![2 => 0..=most_work, 2 => (1..5u64).prop_map(|work| work * 1_000), 1 => Just(most_work)];
    let bits = prop_oneof![3 => (1..4u32).prop_map(|bits| bits * 512), 2 => 1..12_000u32, 1 => any::<u32>()];
    let step = prop_oneof![
        6 => (0..6u64, bits, work).prop_map(|(flow, bits, work)| Step::Arrive { flow, bits, work }),
        4 => Just(Step::Serve),
        1 => Just(Step::DropWorst),
    ];
    let pause = prop_oneof![2 => Just(0u64), 2 => 0..5_000u64, 1 => 0..1_000_000u64];
    (pause, step)
}

fn steps(most_work: u64) -> impl Strategy<Value = Vec<(u64, Step)>> {
    prop::collection::vec(step(most_work), 1..300)
}

/// What went in and did not come out again.
#[derive(Default)]
struct Books {
    waiting: HashMap<u64, Packet>,
    /// Of each flow, the number of the packet that was served last.
    served: HashMap<u64, u64>,
}

impl Books {
    fn out(&mut self, (packet, number): (Packet, u64), name: &str) {
        assert_eq!(
            self.waiting.remove(&number),
            Some(packet),
            "{name}: what leaves has come, and has not left"
        );
    }

    fn serve(&mut self, taken: (Packet, u64), row: &Row) {
        self.out(taken, row.name);
        let last = self.served.insert(taken.0.flow, taken.1);
        assert!(
            !row.in_order || last.is_none_or(|last| last < taken.1),
            "{}: a flow stays in order",
            row.name
        );
    }
}

/// Does `steps` to a policy, and holds every answer to `naive`, if there is one.
fn follow(row: &mut Row, mut naive: Option<Naive>, steps: &[(u64, Step)]) {
    let (mut books, mut now) = (Books::default(), Nanos(0));
    for (number, &(pause, step)) in steps.iter().enumerate() {
        now.0 += pause;
        match step {
            Step::Arrive { flow, bits, work } => {
                let (packet, number) = (Packet { flow, bits, work: Nanos(work) }, number as u64);
                let full = books.waiting.len() == CAPACITY;
                let answer = row.policy.arrive(packet, number, now);
                assert_eq!(answer, if full { Err(number) } else { Ok(()) }, "{}", row.name);
                if !full {
                    books.waiting.insert(number, packet);
                    naive.iter_mut().for_each(|naive| naive.arrive(packet, number));
                }
            }
            Step::Serve => {
                let closeness = naive.as_ref().and_then(Naive::closeness_of_next);
                assert!(closeness.is_none_or(|close| close), "{}: not within the promised factor", row.name);
                let taken = row.policy.serve(now);
                if let Some(naive) = &mut naive {
                    assert_eq!(taken, naive.serve(), "{} at step {number}", row.name);
                }
                taken.into_iter().for_each(|taken| books.serve(taken, row));
            }
            Step::DropWorst => {
                let taken = row.policy.drop_worst(now);
                if let Some(naive) = &mut naive {
                    assert_eq!(taken, naive.drop_worst(), "{} at step {number}", row.name);
                }
                taken.into_iter().for_each(|taken| books.out(taken, row.name));
            }
        }
        assert_eq!(row.policy.len(), books.waiting.len(), "{}", row.name);
        assert_eq!(row.policy.is_empty(), books.waiting.is_empty(), "{}", row.name);
    }
    while let Some(taken) = row.policy.serve(now) {
        if let Some(naive) = &mut naive {
            assert_eq!(Some(taken), naive.serve(), "{} at the end", row.name);
        }
        books.serve(taken, row);
    }
    assert!(books.waiting.is_empty(), "{}: everything leaves", row.name);
}

proptest! {
    /// Jobs of up to a millisecond: all clocks are on the first wheel of a calendar.
    #[test]
    fn every_order_is_that_of_its_ranks(steps in steps(1_000_000)) {
        for mut row in table() {
            let naive = Naive::new(row.rule, row.rounding);
            follow(&mut row, Some(naive), &steps);
        }
    }

    /// Jobs as long as there can be; but nobody walks through so many rounds.
    #[test]
    fn exact_orders_are_exact_for_any_job(steps in steps(u64::MAX >> 10)) {
        for mut row in table().into_iter().filter(|row| row.is_exact() && row.rule != PolicyName::Drr) {
            let naive = Naive::new(row.rule, row.rounding);
            follow(&mut row, Some(naive), &steps);
        }
    }

    #[test]
    fn packets_are_conserved_and_flows_stay_in_order_whatever_jobs_take(steps in steps(u64::MAX)) {
        for mut row in table() {
            follow(&mut row, None, &steps);
        }
    }
}

#[test]
fn capacities_are_as_asked_and_none_is_refused() {
    for row in table() {
        assert_eq!(row.policy.capacity(), CAPACITY, "{}", row.name);
    }
    use trueplane_surge::policy::{Fq, Wsjf, WsjfExact, WsjfInorder};
    assert!(Wsjf::<u64>::new(0).is_err() && WsjfExact::<u64>::new(0).is_err() && Fq::<u64>::new(0).is_err());
    assert!(WsjfInorder::<u64>::new(1 << 29).is_err());
}

/// Room for as many as there may be is only reserved.
#[test]
fn a_large_capacity_is_no_large_memory() {
    use trueplane_surge::policy::{Drr, Fq, Sjf, SjfInorder, Wsjf, WsjfHoq, WsjfInorder};
    let Some(before) = resident() else { return };
    let capacity = 100_000_000;
    let all: [Box<dyn Policy<u64>>; 7] = [
        Box::new(Sjf::new(capacity).unwrap()),
        Box::new(Wsjf::new(capacity).unwrap()),
        Box::new(Fq::new(capacity).unwrap()),
        Box::new(Drr::new(capacity).unwrap()),
        Box::new(WsjfHoq::new(capacity).unwrap()),
        Box::new(WsjfInorder::new(capacity).unwrap()),
        Box::new(SjfInorder::new(capacity).unwrap()),
    ];
    let after = resident().unwrap_or(before);
    // Other tests run beside it, and take some; a byte for every packet of every policy would be 700 MB.
    assert!(after.saturating_sub(before) < 300_000_000, "{before} {after}");
    assert!(all.iter().all(|policy| policy.capacity() == capacity));
}

/// Bytes of memory that this process has in fact, where the system tells.
fn resident() -> Option<u64> {
    let pages =
        std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(pages * 4_096)
}
