//! Which places of a ring are taken.

/// A bit for each place of a ring of 64 × `WORDS` places, and a bit for each word that is not 0.
///
/// `WORDS` is below 64, or a multiple of it; a search looks at a word for every 4,096 places.
#[derive(Debug)]
pub(super) struct Bitmap<const WORDS: usize> {
    words: Box<[u64; WORDS]>,
    summary: Box<[u64]>,
}

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

impl<const WORDS: usize> Bitmap<WORDS> {
    pub(super) fn new() -> Self {
        Self { words: Box::new([0; WORDS]), summary: vec![0; WORDS.div_ceil(WORD)].into() }
    }

    /// The word of this number; numbers go round the ring.
    #[inline]
    pub(super) fn word(&self, number: usize) -> u64 {
        self.words[number % WORDS]
    }

    /// Takes a place. Returns whether it was free.
    #[inline]
    pub(super) fn insert(&mut self, place: usize) -> bool {
        let (number, bit) = (place / WORD % WORDS, 1 << (place % WORD));
        let word = &mut self.words[number];
        let is_free = *word & bit == 0;
        *word |= bit;
        self.summary[number / WORD] |= 1 << (number % WORD);
        is_free
    }

    /// Frees a place.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) {
        let number = place / WORD % WORDS;
        let word = &mut self.words[number];
        *word &= !(1 << (place % WORD));
        if *word == 0 {
            self.summary[number / WORD] &= !(1 << (number % WORD));
        }
    }

    /// How far behind the word of this number the next one is that is not 0; the word itself counts last.
    #[inline]
    pub(super) fn next_word(&self, number: usize) -> Option<usize> {
        let start = (number + 1) % WORDS;
        let (first, shift) = (start / WORD, start % WORD);
        let found = |index: usize, bits: u64| {
            let word = index * WORD + bits.trailing_zeros() as usize;
            Some((word + WORDS - start) % WORDS + 1)
        };
        let bits = self.summary[first] >> shift << shift;
        if bits != 0 {
            return found(first, bits);
        }
        let summaries = self.summary.len();
        // The first one comes again, with the words before the start.
        for ahead in 1..=summaries {
            let index = (first + ahead) % summaries;
            if self.summary[index] != 0 {
                return found(index, self.summary[index]);
            }
        }
        None
    }

    /// How far ahead of a place the next one is that is taken, itself included.
    pub(super) fn next(&self, place: usize) -> Option<usize> {
        let (number, shift) = (place / WORD, place % WORD);
        let bits = self.word(number) >> shift;
        if bits != 0 {
            return Some(bits.trailing_zeros() as usize);
        }
        let words = self.next_word(number)?;
        let bits = self.word(number + words);
        Some(words * WORD + bits.trailing_zeros() as usize - shift)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn agrees<const WORDS: usize>(steps: &[(usize, bool)]) -> Result<(), TestCaseError> {
        let places = WORDS * WORD;
        let (mut bitmap, mut naive) = (Bitmap::<WORDS>::new(), BTreeSet::new());
        for &(place, goes) in steps {
            let place = place % places;
            if goes {
                bitmap.remove(place);
                naive.remove(&place);
            } else {
                prop_assert_eq!(bitmap.insert(place), naive.insert(place));
            }
            for start in [0, place, (place + 1) % places, (place + 64) % places, places - 1] {
                let ahead = |taken: &usize| (taken + places - start) % places;
                prop_assert_eq!(bitmap.next(start), naive.iter().map(ahead).min(), "from {}", start);
                let word = start / WORD;
                let behind = |taken: &usize| (taken / WORD + WORDS - (word + 1) % WORDS) % WORDS + 1;
                prop_assert_eq!(bitmap.next_word(word), naive.iter().map(behind).min(), "behind {}", word);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn is_a_set_on_a_ring(steps in prop::collection::vec((0..100_000_usize, any::<bool>()), 0..60)) {
            agrees::<1>(&steps)?;
            agrees::<2>(&steps)?;
            agrees::<64>(&steps)?;
            agrees::<256>(&steps)?;
        }
    }
}
