//! Stretches of sequence numbers, and sets of them.

/// The sequence numbers from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First sequence number.
    pub start: u64,
    /// Sequence number behind the last.
    pub end: u64,
}

impl Span {
    /// Number of sequence numbers.
    #[inline]
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it has no sequence number.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether all of `other` lies in it.
    #[inline]
    pub fn covers(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A set of sequence numbers as disjoint spans that do not touch, in ascending order.
///
/// Memory stays allocated when spans leave, so that a set in use allocates nothing. Cost: a search takes O(log n) for n spans; what
/// changes the number of spans moves those behind, O(n).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanSet {
    spans: Vec<Span>,
    total: u64,
}

impl SpanSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The spans in ascending order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Number of sequence numbers in the set.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The span that holds a sequence number.
    pub fn containing(&self, number: u64) -> Option<Span> {
        let index = self.spans.partition_point(|span| span.end <= number);
        self.spans.get(index).copied().filter(|span| span.start <= number)
    }

    /// Whether all of `span` is in the set.
    pub fn covers(&self, span: Span) -> bool {
        span.is_empty() || self.containing(span.start).is_some_and(|found| found.covers(span))
    }

    /// The first stretch of `within` that is not in the set.
    pub fn gap(&self, within: Span) -> Option<Span> {
        let start = self.containing(within.start).map_or(within.start, |span| span.end);
        if start >= within.end {
            return None;
        }
        let next = self.spans.partition_point(|span| span.end <= start);
        let end = self.spans.get(next).map_or(within.end, |span| span.start.min(within.end));
        Some(Span { start, end })
    }

    /// Adds a span. Returns how many of its sequence numbers were new.
    pub fn insert(&mut self, span: Span) -> u64 {
        if span.is_empty() {
            return 0;
        }
        let first = self.spans.partition_point(|known| known.end < span.start);
        let last = self.spans.partition_point(|known| known.start <= span.end);
        let before = self.total;
        if first == last {
            self.spans.insert(first, span);
            self.total += span.len();
        } else {
            let merged = Span {
                start: span.start.min(self.spans[first].start),
                end: span.end.max(self.spans[last - 1].end),
            };
            let covered: u64 = self.spans[first..last].iter().map(|known| known.len()).sum();
            self.spans[first] = merged;
            self.spans.drain(first + 1..last);
            self.total += merged.len() - covered;
        }
        self.total - before
    }

    /// Takes out everything below `number`.
    pub fn remove_below(&mut self, number: u64) {
        let gone = self.spans.partition_point(|span| span.end <= number);
        self.total -= self.spans[..gone].iter().map(|span| span.len()).sum::<u64>();
        self.spans.drain(..gone);
        if let Some(first) = self.spans.first_mut().filter(|first| first.start < number) {
            self.total -= number - first.start;
            first.start = number;
        }
    }
}
