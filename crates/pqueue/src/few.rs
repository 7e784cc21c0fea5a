//! A list of fixed length that needs no memory of its own while it is short.

use std::ops::{Deref, DerefMut};

/// Length up to which a list stands where its owner does: as many FIFOs as most ports have.
const FEW: usize = 8;

/// A list of fixed length.
///
/// Where many owners take turns, each place that one of them leads to is one that the processor's cache may not hold.
#[derive(Clone, Debug)]
pub(crate) enum Few<T> {
    /// So many of them; the others are not used.
    Short(u8, [T; FEW]),
    Long(Box<[T]>),
}

impl<T: Copy + Default> Few<T> {
    /// `len` values at their default.
    pub(crate) fn new(len: usize) -> Self {
        if len > FEW {
            return Self::Long(vec![T::default(); len].into());
        }
        Self::Short(len as u8, [T::default(); FEW])
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Short(len, values) => &values[..usize::from(*len)],
            Self::Long(values) => values,
        }
    }
}

impl<T> DerefMut for Few<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Short(len, values) => &mut values[..usize::from(*len)],
            Self::Long(values) => values,
        }
    }
}
