//! A value of which there is one: a bound is for one latency and one capacity.

use std::ops::Deref;

use trueplane_units::{Datum, List, Name, Shape, Value};

/// One value. Several with commas between them are refused with the command that takes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Single<T>(pub T);

impl<T> Deref for Single<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Value> Value for Single<T> {
    const UNIT: &'static str = T::UNIT;
    const SHAPE: Shape = T::SHAPE;

    fn expected() -> String {
        T::expected()
    }

    fn names() -> Vec<Name> {
        T::names()
    }

    fn range() -> Option<String> {
        T::range()
    }

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Self).map_err(|error| match List::<T>::parse(text) {
            Ok(_) => format!("{error}; trueplane cache compare --bound takes several"),
            Err(_) => error,
        })
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn datum(&self) -> Datum {
        self.0.datum()
    }
}
