//! The methods of the traits as methods of the queues, so that a program needs no trait in scope.

/// Gives a queue the methods of [`PriorityQueue`](crate::PriorityQueue), `clear` and `drain`.
macro_rules! one_end {
    ([$($generics:tt)*] $queue:ty) => {
        impl<$($generics)*> $queue {
            /// Number of items that the queue can hold.
            #[inline]
            pub fn capacity(&self) -> usize {
                $crate::PriorityQueue::capacity(self)
            }

            /// Number of items in the queue.
            #[inline]
            pub fn len(&self) -> usize {
                $crate::PriorityQueue::len(self)
            }

            /// Whether the queue holds no items.
            #[inline]
            pub fn is_empty(&self) -> bool {
                $crate::PriorityQueue::is_empty(self)
            }

            /// Adds `item`, at the end of those of the same priority, and returns the item that was displaced, if any.
            ///
            /// # Errors
            ///
            /// As [`PriorityQueue::insert`](crate::PriorityQueue::insert): nothing has changed and `item` comes back.
            #[inline]
            pub fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, $crate::Refused<T>> {
                $crate::PriorityQueue::insert(self, priority, item)
            }

            /// The smallest priority, and the item that [`Self::extract_min`] would return.
            #[inline]
            pub fn peek_min(&self) -> Option<(u64, &T)> {
                $crate::PriorityQueue::peek_min(self)
            }

            /// Takes out the oldest item of the smallest priority.
            #[inline]
            pub fn extract_min(&mut self) -> Option<(u64, T)> {
                $crate::PriorityQueue::extract_min(self)
            }

            /// Takes out all items in the order of [`Self::extract_min`].
            ///
            /// Items that the iterator has not returned when it is dropped stay in the queue.
            pub fn drain(&mut self) -> impl Iterator<Item = (u64, T)> {
                std::iter::from_fn(|| self.extract_min())
            }

            /// Drops all items, each at the cost of [`Self::extract_min`]. The queue keeps its memory.
            pub fn clear(&mut self) {
                self.drain().for_each(drop);
            }
        }
    };
}

/// Gives a queue the methods of [`DoubleEnded`](crate::DoubleEnded), and those of [`one_end`].
macro_rules! both_ends {
    ([$($generics:tt)*] $queue:ty) => {
        $crate::methods::one_end!([$($generics)*] $queue);

        impl<$($generics)*> $queue {
            /// The largest priority, and the item that [`Self::extract_max`] would return.
            #[inline]
            pub fn peek_max(&self) -> Option<(u64, &T)> {
                $crate::DoubleEnded::peek_max(self)
            }

            /// Takes out the oldest item of the largest priority.
            #[inline]
            pub fn extract_max(&mut self) -> Option<(u64, T)> {
                $crate::DoubleEnded::extract_max(self)
            }
        }
    };
}

pub(crate) use {both_ends, one_end};
