//! DySO's controller and switch, with a network between them that does what it likes.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::Index;
use trueplane_offload::Key;
use trueplane_offload::policy::dyso::{Controller, Packet, Shape, Switch, Terms};

const TERMS: Terms = Terms { tracked: 6, timeout: 9, ageing: 40, tuning: Some(300) };

fn shape() -> Shape {
    Shape::new(6, 2, 2, 3).unwrap()
}

/// What may happen next.
#[derive(Clone, Debug)]
enum Event {
    Lookup(u64),
    /// A control packet leaves the controller.
    Send,
    /// Any of the packets on their way gets to the switch …
    Process(Index),
    /// … once more …
    Duplicate(Index),
    /// … or a copy of it joins those coming back …
    DuplicateComingBack(Index),
    /// … or any of those coming back to the controller …
    Receive(Index),
    /// … or nowhere.
    LoseOnTheWay(Index),
    LoseComingBack(Index),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (0..40u64).prop_map(Event::Lookup),
        4 => Just(Event::Send),
        4 => any::<Index>().prop_map(Event::Process),
        1 => any::<Index>().prop_map(Event::Duplicate),
        1 => any::<Index>().prop_map(Event::DuplicateComingBack),
        4 => any::<Index>().prop_map(Event::Receive),
        1 => any::<Index>().prop_map(Event::LoseOnTheWay),
        1 => any::<Index>().prop_map(Event::LoseComingBack),
    ]
}

/// Both ends, and the packets between them.
struct Loop {
    switch: Switch,
    controller: Controller,
    going: Vec<Packet>,
    coming: Vec<Packet>,
    dropped: u64,
    /// Lookups on copies that the network made of packets coming back.
    copied: u64,
    lookups: u64,
    now: u64,
    /// The version under way for each row, as far as an onlooker can tell.
    under_way: HashMap<u32, u16>,
}

impl Loop {
    fn new(terms: &Terms) -> Self {
        Self {
            switch: Switch::new(shape()),
            controller: Controller::new(shape(), terms),
            going: Vec::new(),
            coming: Vec::new(),
            dropped: 0,
            copied: 0,
            lookups: 0,
            now: 0,
            under_way: HashMap::new(),
        }
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Lookup(key) => {
                self.switch.lookup(Key(*key));
                self.lookups += 1;
                self.now += 1;
            }
            Event::Send => {
                let packet = self.controller.send(self.now);
                if let Some(update) = packet.update {
                    let known = *self.under_way.entry(update.row).or_insert(update.version);
                    assert_eq!(known, update.version, "two updates of row {} under way", update.row);
                }
                self.going.push(packet);
            }
            Event::Process(index) => {
                if let Some(packet) = take(&mut self.going, index) {
                    self.process(packet);
                }
            }
            Event::Duplicate(index) => {
                if !self.going.is_empty() {
                    self.process(index.get(&self.going).clone());
                }
            }
            Event::DuplicateComingBack(index) => {
                if !self.coming.is_empty() {
                    let copy = index.get(&self.coming).clone();
                    self.copied += copy.history.len() as u64;
                    self.coming.push(copy);
                }
            }
            Event::Receive(index) => {
                if let Some(packet) = take(&mut self.coming, index) {
                    self.receive(packet);
                }
            }
            Event::LoseOnTheWay(index) => drop(take(&mut self.going, index)),
            Event::LoseComingBack(index) => {
                self.dropped += take(&mut self.coming, index).map_or(0, |packet| packet.history.len() as u64);
            }
        }
    }

    fn process(&mut self, mut packet: Packet) {
        self.switch.process(&mut packet);
        self.coming.push(packet);
    }

    fn receive(&mut self, packet: Packet) {
        if let Some(update) = packet.update
            && self.under_way.get(&update.row) == Some(&update.version)
        {
            self.under_way.remove(&update.row);
        }
        self.controller.receive(packet, self.now);
    }

    /// Nothing is lost from now on, until nothing is under way.
    fn settle(&mut self) {
        while !(self.controller.is_settled() && self.going.is_empty() && self.coming.is_empty()) {
            if !self.controller.is_settled() {
                self.going.push(self.controller.send_again(self.now));
            }
            std::mem::take(&mut self.going).into_iter().for_each(|packet| self.process(packet));
            std::mem::take(&mut self.coming).into_iter().for_each(|packet| self.receive(packet));
            self.now += 1;
        }
    }

    fn agrees(&self) -> bool {
        (0..shape().rows()).all(|row| {
            let (mut held, mut believed) =
                (self.switch.table().keys(row).collect::<Vec<_>>(), self.controller.keys(row).to_vec());
            held.sort_unstable();
            believed.sort_unstable();
            held == believed
        })
    }
}

fn take(packets: &mut Vec<Packet>, index: &Index) -> Option<Packet> {
    (!packets.is_empty()).then(|| packets.swap_remove(index.index(packets.len())))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is lost, late, out of order or there twice: no row has two updates under way, every update is made exactly once,
    /// every lookup that was recorded is heard once or went with a lost packet, but for those on copies, and in the end both sides agree.
    #[test]
    fn nothing_is_made_twice_or_lost(events in prop::collection::vec(event(), 0..600)) {
        let mut control = Loop::new(&TERMS);
        for event in &events {
            control.happen(event);
            let carried: u64 = control.coming.iter().map(|packet| packet.history.len() as u64).sum();
            let (switch, heard) = (&control.switch, control.controller.heard());
            prop_assert_eq!(switch.recorded() + switch.lost(), control.lookups);
            prop_assert_eq!(
                switch.recorded() + control.copied,
                heard + control.dropped + carried + switch.unread()
            );
            prop_assert!(switch.applied() <= control.controller.updates());
        }
        control.settle();
        prop_assert!(control.agrees());
        prop_assert_eq!(control.switch.applied(), control.controller.updates());
        // What comes late after that does no harm.
        control.settle();
        prop_assert!(control.agrees());
    }

    /// Where packets take no time and every lookup is exported at once, the table is that of a list sorted by
    /// frequency and recency, row by row.
    #[test]
    fn without_delay_the_table_has_the_hottest_of_each_row(
        keys in prop::collection::vec(0..40u64, 1..400),
        ageing in 5..200u64,
    ) {
        let shape = Shape::new(6, 2, 1, 3).unwrap();
        let terms = Terms { ageing, tuning: None, tracked: 100, ..TERMS };
        let (mut switch, mut controller) = (Switch::new(shape), Controller::new(shape, &terms));
        let mut naive = Naive { counts: HashMap::new(), table: HashMap::new() };
        for (now, &key) in keys.iter().enumerate() {
            let row = shape.row_of(Key(key));
            prop_assert_eq!(switch.lookup(Key(key)), naive.holds(row, key), "lookup {}", now);
            let now = now as u64 + 1;
            // The first takes the lookup along, the second brings what follows from it.
            for _ in 0..2 {
                let mut packet = controller.send(now);
                switch.process(&mut packet);
                controller.receive(packet, now);
            }
            if now.is_multiple_of(ageing) {
                naive.age(now);
            }
            naive.count(row, key, now, shape.chain());
        }
    }
}

/// The policy as a sort, for keys that all have room among those counted.
struct Naive {
    /// Count, when it came to nothing, and when it was last counted.
    counts: HashMap<(u32, u64), (u32, u64, u64)>,
    table: HashMap<u32, Vec<u64>>,
}

impl Naive {
    fn holds(&self, row: u32, key: u64) -> bool {
        self.table.get(&row).is_some_and(|keys| keys.contains(&key))
    }

    fn age(&mut self, now: u64) {
        for (count, zero, _) in self.counts.values_mut().filter(|(count, ..)| *count > 0) {
            *count /= 2;
            if *count == 0 {
                *zero = now;
            }
        }
    }

    fn count(&mut self, row: u32, key: u64, now: u64, chain: usize) {
        let entry = self.counts.entry((row, key)).or_default();
        *entry = (entry.0 + 1, 0, now);
        if self.holds(row, key) {
            return;
        }
        let mut keys: Vec<_> = self.counts.iter().filter(|((other, _), _)| *other == row).collect();
        keys.sort_by_key(|&(_, &(count, zero, last))| std::cmp::Reverse((count.checked_ilog2(), zero, last)));
        let hottest: Vec<u64> = keys.into_iter().take(chain).map(|(&(_, key), _)| key).collect();
        if hottest.contains(&key) {
            self.table.insert(row, hottest);
        }
    }
}

/// A controller that hears `rounds` intervals of a stream without delay: its ageing period in the end.
fn tuned(rounds: u64, stream: impl Fn(u64) -> u64) -> u64 {
    let shape = Shape::new(64, 2, 1, 8).unwrap();
    let terms = Terms { tracked: 16, timeout: 9, ageing: 2_000, tuning: Some(50_000) };
    let mut controller = Controller::new(shape, &terms);
    for now in 0..rounds * 50_000 {
        let update = controller.send(now).update;
        let history = vec![Key(stream(now))];
        controller.receive(Packet { update, history, ..Packet::default() }, now);
    }
    controller.period()
}

/// Half of the lookups are for 120 keys that begin at `hot`, the others for four times as many that stay the same.
fn hot_or_warm(now: u64, hot: u64) -> u64 {
    let draw = trueplane_offload::hash::mix(Key(now));
    if draw.is_multiple_of(2) { 1_000 + hot + (draw >> 8) % 120 } else { (draw >> 8) % 480 }
}

#[test]
fn the_ageing_period_follows_the_workload() {
    // What is hot stays hot: the longer the memory, the better.
    let steady = tuned(16, |now| hot_or_warm(now, 0));
    // What is hot is something else every 4,000 lookups.
    let fickle = tuned(16, |now| hot_or_warm(now, now / 4_000 * 120));
    assert!(steady > 2_000 && fickle < 2_000, "{steady} and {fickle}");
    assert!((50_000 / 1024..=50_000).contains(&steady) && (50_000 / 1024..=50_000).contains(&fickle));
}
