//! A doubly linked list threaded through slots.

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Links {
    newer: u32,
    older: u32,
}

const UNLINKED: Links = Links { newer: NONE, older: NONE };

/// An ordered set of small integers: O(1) push at the new end, removal anywhere, and walks from old to new.
///
/// Memory: 8 B per largest index pushed.
#[derive(Clone, Debug)]
pub struct List {
    links: Vec<Links>,
    newest: u32,
    oldest: u32,
    len: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { links: Vec::new(), newest: NONE, oldest: NONE, len: 0 }
    }
}

fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

impl List {
    /// The number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The member that was pushed longest ago.
    pub fn oldest(&self) -> Option<u32> {
        some(self.oldest)
    }

    /// The member pushed right after `index`, which must be a member.
    pub fn newer_than(&self, index: u32) -> Option<u32> {
        some(self.links[index as usize].newer)
    }

    /// Adds `index`, which must not be a member, as the newest.
    pub fn push(&mut self, index: u32) {
        if index as usize >= self.links.len() {
            crate::reserve(&mut self.links, index as usize + 1);
            self.links.resize(index as usize + 1, UNLINKED);
        }
        self.links[index as usize] = Links { newer: NONE, older: self.newest };
        match some(self.newest) {
            Some(newest) => self.links[newest as usize].newer = index,
            None => self.oldest = index,
        }
        self.newest = index;
        self.len += 1;
    }

    /// Takes out `index`, which must be a member.
    pub fn remove(&mut self, index: u32) {
        let Links { newer, older } = self.links[index as usize];
        match some(newer) {
            Some(newer) => self.links[newer as usize].older = older,
            None => self.newest = older,
        }
        match some(older) {
            Some(older) => self.links[older as usize].newer = newer,
            None => self.oldest = newer,
        }
        self.links[index as usize] = UNLINKED;
        self.len -= 1;
    }

    /// Makes `index`, which must be a member, the newest.
    pub fn renew(&mut self, index: u32) {
        if self.newest != index {
            self.remove(index);
            self.push(index);
        }
    }

    /// Takes out the oldest member.
    pub fn pop(&mut self) -> Option<u32> {
        let oldest = self.oldest()?;
        self.remove(oldest);
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_leave_in_the_order_in_which_they_were_renewed() {
        let mut list = List::default();
        for index in [3, 0, 5, 1] {
            list.push(index);
        }
        list.renew(3);
        list.remove(5);
        list.renew(3);
        assert_eq!((list.len(), list.newer_than(0), list.newer_than(3)), (3, Some(1), None));
        assert_eq!(std::iter::from_fn(|| list.pop()).collect::<Vec<_>>(), [0, 1, 3]);
        assert!(list.is_empty() && list.oldest().is_none());
    }
}
