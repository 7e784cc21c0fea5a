//! The example of `docs/concepts/offload.md`, as it is worked there by hand.

use trueplane_offload::batched::Batched;
use trueplane_offload::pace::Pace;
use trueplane_offload::policy::Recency;
use trueplane_offload::policy::dyso::{Controller, Packet, Shape, Switch, Terms};
use trueplane_offload::table::ExactTable;
use trueplane_offload::{Key, System};
use trueplane_testing::page::rows;

/// C is looked up in every slot from here on; before, A and B in turns.
const HOT: u64 = 10;
const SLOTS: u64 = 30;

/// What happens to C, and when.
#[derive(Debug, Default, PartialEq)]
struct Story {
    recorded: Option<u64>,
    exported: Option<u64>,
    decided: Option<u64>,
    installed: Option<u64>,
    acknowledged: Option<u64>,
    misses: u64,
}

/// A and B of one row of two, C of the other.
fn keys(shape: &Shape) -> [Key; 3] {
    let of = |row| (1..).map(Key).filter(move |&key| shape.row_of(key) == row);
    let [a, b] = [0, 1].map(|n| of(0).nth(n).unwrap());
    [a, b, of(1).next().unwrap()]
}

fn key_at(slot: u64, [a, b, c]: [Key; 3]) -> Key {
    if slot >= HOT {
        c
    } else if slot.is_multiple_of(2) {
        a
    } else {
        b
    }
}

/// One entry in eight slots.
fn in_batches(keys: [Key; 3]) -> Story {
    let mut story = Story::default();
    let mut system = Batched::new(Recency::default(), ExactTable::new(4), Pace::new(8, 1), 1);
    for slot in 0..SLOTS {
        let before = system.counts().updates_sent;
        while system.due() <= slot {
            system.control(slot);
        }
        if story.recorded.is_some() && system.counts().updates_sent > before {
            story.decided.get_or_insert(slot);
        }
        look_up(&mut story, slot, keys, |key| system.lookup(key));
    }
    story
}

/// A control packet in every other slot, a slot on its way to the switch and another one back.
fn by_packets(shape: Shape, keys: [Key; 3]) -> Story {
    let c = keys[2];
    let terms = Terms { tracked: 8, timeout: 10, ageing: 1_000, tuning: None };
    let (mut switch, mut controller) = (Switch::new(shape), Controller::new(shape, &terms));
    let (mut going, mut coming) = (None::<Packet>, None::<Packet>);
    let mut story = Story::default();
    for slot in 0..SLOTS {
        if let Some(packet) = coming.take() {
            let brings_word = packet.entries.contains(&c);
            controller.receive(packet, slot);
            if brings_word {
                story.acknowledged.get_or_insert(slot);
            }
        }
        if let Some(mut packet) = going.take() {
            switch.process(&mut packet);
            if packet.history.contains(&c) {
                story.exported.get_or_insert(slot);
            }
            if packet.entries.contains(&c) {
                story.installed.get_or_insert(slot);
            }
            coming = Some(packet);
        }
        if slot >= 2 && slot.is_multiple_of(2) {
            let packet = controller.send(slot);
            if packet.entries.contains(&c) {
                story.decided.get_or_insert(slot);
            }
            going = Some(packet);
        }
        look_up(&mut story, slot, keys, |key| switch.lookup(key));
    }
    story
}

/// The lookup of a slot, and what it tells of C: the first answer is when it is installed.
fn look_up(story: &mut Story, slot: u64, keys: [Key; 3], answers: impl FnOnce(Key) -> bool) {
    let key = key_at(slot, keys);
    let answered = answers(key);
    if key == keys[2] {
        story.recorded.get_or_insert(slot);
        if answered {
            story.installed.get_or_insert(slot);
        } else {
            story.misses += 1;
        }
    }
}

#[test]
fn the_example_comes_out_as_by_hand() {
    let shape = Shape::new(2, 2, 1, 4).unwrap();
    let keys = keys(&shape);
    let stories = [in_batches(keys), by_packets(shape, keys)];
    let rows = rows("offload", "C is looked up from slot 10 on");
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let [step, told @ ..] = &row[..] else { panic!("{row:?}") };
        let found = stories.iter().map(|story| match step.as_str() {
            "recorded" => story.recorded,
            "exported" => story.exported,
            "decided and sent" => story.decided,
            "installed" => story.installed,
            "acknowledged" => story.acknowledged,
            "misses" => Some(story.misses),
            _ => panic!("unknown step {step}"),
        });
        let found: Vec<String> =
            found.map(|slot| slot.map_or_else(String::new, |slot| slot.to_string())).collect();
        assert_eq!(found, told, "{step}");
    }
}
