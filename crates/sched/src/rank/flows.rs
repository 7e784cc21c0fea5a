//! State per flow in memory of a fixed size.

use trueplane_pqueue::BadShape;

/// A flow may lie in any of so many places: with that many, few sets overflow long before the table is full.
const WAYS: usize = 8;

/// More flows than these cannot be asked for.
const MOST_FLOWS: u64 = 1 << 28;

/// A value for each of a bounded number of flows; the flow that is worth least makes room for another.
///
/// Set-associative, as caches in hardware are: a hash of the flow's name picks a set of 8 places, and the least worth of these 8 goes.
/// So a flow may have to go while other sets have room; what a value is worth is the caller's to say, at every access.
///
/// Every access is O(1) in the worst case, and nothing is allocated after construction. The hash is no secret: someone who can choose
/// names can make flows meet in one set, and so evict whom he likes. Against attackers, name flows by a keyed hash.
#[derive(Clone, Debug)]
pub struct FlowTable<V> {
    /// The sets, one after the other.
    places: Box<[Option<(u64, V)>]>,
}

impl<V> FlowTable<V> {
    /// A table with room for `flows` flows at least: 8 for each of ⌈`flows`/8⌉ sets, rounded up to a power of two.
    ///
    /// # Errors
    ///
    /// If that is 0 or more than 2²⁸.
    pub fn new(flows: usize) -> Result<Self, BadShape> {
        BadShape::check("a number of flows", flows as u64, 1..=MOST_FLOWS)?;
        let sets = flows.div_ceil(WAYS).next_power_of_two();
        Ok(Self { places: std::iter::repeat_with(|| None).take(sets * WAYS).collect() })
    }

    /// Number of flows that there is room for.
    pub fn capacity(&self) -> usize {
        self.places.len()
    }

    /// The value of `flow`, or a `fresh` one in the place of the least worth; of equal ones, any, but always the same.
    #[inline]
    pub fn entry(&mut self, flow: u64, fresh: V, worth: impl Fn(&V) -> u64) -> &mut V {
        let start = self.set(flow) * WAYS;
        let set = &mut self.places[start..start + WAYS];
        let is_flow = |place: &Option<(u64, V)>| place.as_ref().is_some_and(|(name, _)| *name == flow);
        let place = set.iter().position(is_flow).unwrap_or_else(|| {
            // Where nothing is, nothing is lost: before a worth of 0.
            let least = |place: &usize| set[*place].as_ref().map(|(_, value)| worth(value));
            (0..WAYS).min_by_key(least).unwrap_or(0)
        });
        if !is_flow(&set[place]) {
            set[place] = None;
        }
        let (_, value) = set[place].get_or_insert((flow, fresh));
        value
    }

    /// The set in which the flow lies.
    fn set(&self, flow: u64) -> usize {
        let sets = (self.places.len() / WAYS) as u64;
        // Two rounds of multiply and fold, so that names that differ in any bits lie in different sets.
        let mixed = (flow ^ (flow >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed >> 32) & (sets - 1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_value() {
        let mut table = FlowTable::new(1_000).unwrap();
        assert_eq!(table.capacity(), 1_024);
        // A quarter of the capacity: a set would have to draw nine of them to lose one, and none does here.
        for round in 0..3 {
            for flow in 0..256u64 {
                let value = table.entry(flow << 40, 0, |&value: &u64| value);
                assert_eq!(*value, round * flow);
                *value += flow;
            }
        }
    }

    #[test]
    fn the_least_worth_of_a_full_set_goes() {
        let mut table = FlowTable::new(8).unwrap();
        let worth = |value: &u64| *value;
        for flow in 0..8 {
            assert_eq!(*table.entry(flow, 10 + (flow + 5) % 8, worth), 10 + (flow + 5) % 8);
        }
        // Flow 3 has the least, 10.
        assert_eq!(*table.entry(100, 50, worth), 50);
        assert_eq!(*table.entry(3, 7, worth), 7); // in the place of flow 4, with 11
        assert_eq!(*table.entry(4, 60, worth), 60); // and that in the place of flow 3, with 7
        for (flow, value) in [(0, 15), (1, 16), (2, 17), (5, 12), (6, 13), (7, 14), (100, 50), (4, 60)] {
            assert_eq!(*table.entry(flow, 0, worth), value, "{flow}");
        }
    }

    #[test]
    fn a_table_of_nothing_is_an_error() {
        let message = FlowTable::<u64>::new(0).unwrap_err().to_string();
        assert_eq!(message, "expected a number of flows from 1 to 268435456, got 0");
        assert_eq!(FlowTable::<u64>::new(9).unwrap().capacity(), 16);
    }
}
