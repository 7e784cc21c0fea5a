//! What a reader may see, in every order in which a writer's and its steps can be seen: `make loom`.

use loom::sync::Arc as LoomArc;
use loom::thread;

use super::*;

fn flow(n: u8) -> FlowId {
    FlowId::new(6, ([10, 0, 0, n].into(), 1000), ([192, 0, 2, 1].into(), 80))
}

fn writer(flows: usize) -> Writer<[u64; 2]> {
    Writer::new(Limits { unconfirmed: flows, ..Limits::new(flows) }, 1)
}

impl FlowState for [u64; 2] {
    fn to_words(self) -> [u64; 2] {
        self
    }

    fn from_words(words: [u64; 2]) -> Self {
        words
    }
}

/// Runs `check` in every order of steps with at most two preemptions between threads, and with every value that a load may then return:
/// more preemptions take hours, and found nothing more in other programs (Musuvathi and Qadeer, PLDI 2007).
fn in_every_order(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(check);
}

/// Every pair of words is one that was written together.
#[test]
fn no_reader_sees_half_a_state() {
    in_every_order(|| {
        let slot = LoomArc::new(Slot::free());
        let held = |state| Held { flow: flow(1), phase: Phase::Established, state };
        slot.write(&held([1, 1]));
        let reader = LoomArc::clone(&slot);
        let reading = thread::spawn(move || reader.state_of(&flow(1), None));
        slot.write(&held([2, 2]));
        assert!(matches!(reading.join().unwrap(), Some([1, 1] | [2, 2])));
    });
}

/// A slot that another flow takes meanwhile gives no flow the state of the other. (Freeing it before is one more write like it, and hours more
/// of orders.)
#[test]
fn no_reader_sees_another_flows_state() {
    in_every_order(|| {
        let slot = LoomArc::new(Slot::free());
        slot.write(&Held { flow: flow(1), phase: Phase::Established, state: [1, 1] });
        let reader = LoomArc::clone(&slot);
        let reading = thread::spawn(move || reader.state_of(&flow(1), None));
        slot.write(&Held { flow: flow(2), phase: Phase::Established, state: [2, 2] });
        assert!(matches!(reading.join().unwrap(), None | Some([1, 1])));
    });
}

/// Entries inserted before a message was sent are found by the receiver of the message, whatever else is inserted and removed.
#[test]
fn a_flow_that_stays_is_found() {
    in_every_order(|| {
        let mut writer = writer(4);
        let now = Tick::default();
        writer.insert(flow(1), Phase::Established, [1, 1], true, now).unwrap();
        let table = Arc::clone(writer.table());
        let reading = thread::spawn(move || table.find(&flow(1), Some(now)));
        writer.insert(flow(2), Phase::Established, [2, 2], true, now).unwrap();
        writer.remove(&flow(2));
        assert_eq!(reading.join().unwrap(), Some([1, 1]));
    });
}

/// The note that a regular packet was seen is not made for the flow that took the slot meanwhile, and is not lost while the owner notes something.
#[test]
fn a_note_belongs_to_its_flow() {
    let held = |n| Held { flow: flow(n), phase: Phase::Established, state: [1, 1] };
    let (now, later) = (Tick::default(), Tick::at(trueplane_units::Nanos(1_000_000_000)));
    in_every_order(move || {
        let slot = LoomArc::new(Slot::free());
        slot.write(&held(1));
        let (reader, found) = (LoomArc::clone(&slot), slot.head());
        let reading = thread::spawn(move || reader.confirm(found, now));
        slot.touch(later);
        reading.join().unwrap();
        assert!(slot.seen().1, "it was confirmed before or after");
    });
    in_every_order(move || {
        let slot = LoomArc::new(Slot::free());
        slot.write(&held(1));
        let (reader, found) = (LoomArc::clone(&slot), slot.head());
        let reading = thread::spawn(move || reader.confirm(found, now));
        slot.clear();
        slot.set_seen(now, false);
        slot.write(&held(2));
        reading.join().unwrap();
        assert!(!slot.seen().1, "nobody saw a packet of the second flow");
    });
}
