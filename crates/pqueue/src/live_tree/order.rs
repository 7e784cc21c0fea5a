//! Who comes after whom.

/// A block holds at most so many; a full one is divided.
const BLOCK: usize = 64;

const NOWHERE: u32 = u32::MAX;

/// Small integers in an order that the caller knows: a B-tree of two levels.
///
/// A place is found by O(log n) questions to the caller; putting something there or taking it out moves up to [`BLOCK`] integers, and
/// where a block is divided or given up, which happens once in many times, one for each block; there are about n / [`BLOCK`] of them for
/// the n elements that there have been at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    blocks: Vec<Vec<u32>>,
    /// The blocks that are not empty, in order.
    sequence: Vec<u32>,
    /// Index of every block in the sequence.
    ranks: Vec<u32>,
    /// Blocks that are empty.
    spare: Vec<u32>,
    /// Block of every element.
    homes: Vec<u32>,
}

impl Order {
    pub(super) fn contains(&self, element: u32) -> bool {
        self.homes.get(element as usize).is_some_and(|&home| home != NOWHERE)
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.blocks[*self.sequence.first()? as usize].first().copied()
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.blocks[*self.sequence.last()? as usize].last().copied()
    }

    /// Those before and after `element`, which is in the order.
    pub(super) fn neighbours(&self, element: u32) -> (Option<u32>, Option<u32>) {
        let (rank, place) = self.find(element);
        let block = |rank: usize| Some(&self.blocks[*self.sequence.get(rank)? as usize]);
        let here = &self.blocks[self.sequence[rank] as usize];
        let before = match place.checked_sub(1) {
            Some(place) => Some(here[place]),
            None => rank.checked_sub(1).and_then(block).and_then(|block| block.last().copied()),
        };
        let after = here.get(place + 1).copied();
        (before, after.or_else(|| block(rank + 1)?.first().copied()))
    }

    /// Puts `element`, which is not in the order, behind all that are `before` it; these must be all up to some place.
    pub(super) fn insert(&mut self, element: u32, before: impl Fn(u32) -> bool) {
        if self.homes.len() <= element as usize {
            self.homes.resize(element as usize + 1, NOWHERE);
        }
        if self.sequence.is_empty() {
            self.add_block(0, vec![element]);
            return;
        }
        let rank =
            self.sequence.partition_point(|&block| before(self.blocks[block as usize][0])).saturating_sub(1);
        let home = self.sequence[rank];
        let block = &mut self.blocks[home as usize];
        let place = block.partition_point(|&other| before(other));
        block.insert(place, element);
        self.homes[element as usize] = home;
        if block.len() == BLOCK {
            let mut upper = Vec::with_capacity(BLOCK);
            upper.extend(block.drain(BLOCK / 2..));
            self.add_block(rank + 1, upper);
        }
    }

    /// Lets `element`, which is not the last, and the one after it change places.
    pub(super) fn swap(&mut self, element: u32) {
        let (rank, place) = self.find(element);
        let home = self.sequence[rank];
        let block = &mut self.blocks[home as usize];
        if place + 1 < block.len() {
            block.swap(place, place + 1);
            return;
        }
        let Some(&next) = self.sequence.get(rank + 1) else { return };
        let other = std::mem::replace(&mut self.blocks[next as usize][0], element);
        self.blocks[home as usize][place] = other;
        self.homes.swap(element as usize, other as usize);
    }

    /// Takes out `element`, which is in the order.
    pub(super) fn remove(&mut self, element: u32) {
        let (rank, place) = self.find(element);
        self.homes[element as usize] = NOWHERE;
        let home = self.sequence[rank] as usize;
        self.blocks[home].remove(place);
        if self.blocks[home].len() > BLOCK / 8 {
            return;
        }
        // What is left of a small block goes to the one before or after it, if there is room for some more then.
        let Some(&next) = self.sequence.get(rank + 1) else {
            if self.blocks[home].is_empty() {
                self.drop_block(rank);
            }
            return;
        };
        if self.blocks[home].len() + self.blocks[next as usize].len() < BLOCK * 3 / 4 {
            let moved = std::mem::take(&mut self.blocks[next as usize]);
            for &element in &moved {
                self.homes[element as usize] = home as u32;
            }
            self.blocks[home].extend(moved);
            self.drop_block(rank + 1);
        } else if self.blocks[home].is_empty() {
            self.drop_block(rank);
        }
    }

    /// All, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.sequence.iter().flat_map(|&block| self.blocks[block as usize].iter().copied())
    }

    /// The rank of the block of `element`, and its place there.
    fn find(&self, element: u32) -> (usize, usize) {
        let home = self.homes[element as usize] as usize;
        // A few at a time, which the compiler makes one comparison.
        let stretch = self.blocks[home].chunks(16).position(|stretch| stretch.contains(&element));
        let start = 16 * stretch.expect("an element is in its home");
        let place = self.blocks[home][start..].iter().position(|&other| other == element);
        (self.ranks[home] as usize, start + place.expect("an element is in its stretch"))
    }

    fn add_block(&mut self, rank: usize, elements: Vec<u32>) {
        let block = self.spare.pop().unwrap_or(self.blocks.len() as u32);
        if block as usize == self.blocks.len() {
            self.blocks.push(Vec::new());
            self.ranks.push(0);
        }
        for &element in &elements {
            self.homes[element as usize] = block;
        }
        self.blocks[block as usize] = elements;
        self.sequence.insert(rank, block);
        self.renumber(rank);
    }

    fn drop_block(&mut self, rank: usize) {
        let block = self.sequence.remove(rank);
        self.spare.push(block);
        self.renumber(rank);
    }

    fn renumber(&mut self, from: usize) {
        for (rank, &block) in self.sequence.iter().enumerate().skip(from) {
            self.ranks[block as usize] = rank as u32;
        }
    }
}
