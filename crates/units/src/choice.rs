//! Values that people choose by name, such as policies: [`choices!`](crate::choices) declares them.

use std::fmt;

/// A word that stands for several names in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// The sentences that say what it stands for.
    pub about: &'static str,
}

impl Word {
    /// The words as help texts and errors list them: `all, online or none`.
    pub fn any_of(words: &[Self]) -> String {
        let names: Vec<&str> = words.iter().map(|word| word.name).collect();
        match names.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            names => names.concat(),
        }
    }
}

/// A condition for values that a word stands for.
pub type Condition<T> = fn(T) -> bool;

/// A value that people choose by name. Declare one with [`choices!`](crate::choices).
pub trait Choice: Copy + Eq + Send + Sync + 'static {
    /// Every value, in the order of help texts and tables.
    const ALL: &'static [Self];

    /// The values that the word `all` stands for in a list; the others are variants of these.
    const USUAL: &'static [Self];

    /// Words besides `all` that stand for several values in a list: for those of the usual ones for which the function holds.
    const WORDS: &'static [(Word, Condition<Self>)] = &[];

    /// The name that flags, tables and documents use.
    fn name(self) -> &'static str;

    /// The doc comment of the value: sentences for help texts and reference pages.
    fn about(self) -> &'static str;

    /// The value with this name, in upper or lower case.
    ///
    /// # Errors
    /// If no value has this name.
    fn from_name(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().copied().find(|value| value.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownName {
            expected: one_of(Self::ALL.iter().map(|value| value.name())),
            got: name.to_owned(),
        })
    }
}

/// All names with commas between them, as errors and help texts say them: `one of fifo, pifo`.
pub fn one_of(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    format!("one of {}", names.join(", "))
}

/// A name that no choice has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    expected: String,
    got: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, got \"{}\"", self.expected, self.got)
    }
}

impl std::error::Error for UnknownName {}

/// Declares an enum whose values people choose by name: one row for each value holds its doc comment, its name and its properties.
///
/// The enum is a [`Choice`]: it parses from its names, prints, serialises and deserialises as its name, and can be the type of a
/// parameter. The optional type after the colon is a struct of properties; `properties()` then returns the one of each row.
/// Values in the block `not in all` can be chosen, too, but the word `all` does not stand for them. The block `words` declares further
/// words for lists, each with what it means and with the condition that its values have to meet.
///
/// ```
/// # use trueplane_units::{Choice, Value, choices};
/// /// What is known of an order without running it.
/// #[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// pub struct Traits {
///     /// Whether packets of a flow stay in order.
///     pub in_order: bool,
/// }
///
/// choices! {
///     /// An order of service.
///     pub enum Order: Traits {
///         /// First come, first served.
///         Fcfs = "fcfs" { in_order: true },
///         /// Least work per bit first.
///         Wsjf = "wsjf" { in_order: false },
///     }
///     not in all {
///         /// WSJF that keeps the packets of a flow in order.
///         WsjfInOrder = "wsjf-inorder" { in_order: true },
///     }
///     words {
///         /// All that keep the packets of a flow in order.
///         "ordered" = |order| order.properties().in_order,
///     }
/// }
/// assert_eq!("wsjf".parse(), Ok(Order::Wsjf));
/// assert!(Order::WsjfInOrder.properties().in_order);
/// assert_eq!((Order::ALL.len(), Order::USUAL.len()), (3, 2));
/// assert_eq!(<trueplane_units::Choices<Order>>::parse("ordered").unwrap().0, [Order::Fcfs]);
/// assert_eq!(Order::from_name("lifo").unwrap_err().to_string(), "expected one of fcfs, wsjf, wsjf-inorder, got \"lifo\"");
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident : $properties:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $text:literal { $($row:tt)* } ),+ $(,)?
        }
        $( not in all {
            $( $(#[doc = $doc2:literal])+ $variant2:ident = $text2:literal { $($row2:tt)* } ),+ $(,)?
        } )?
        $( words { $( $(#[doc = $doc3:literal])+ $word:literal = $holds:expr ),+ $(,)? } )?
    ) => {
        $crate::choices! {
            $(#[$meta])*
            $vis enum $name { $( $(#[doc = $doc])+ $variant = $text ),+ }
            $( not in all { $( $(#[doc = $doc2])+ $variant2 = $text2 ),+ } )?
            $( words { $( $(#[doc = $doc3])+ $word = $holds ),+ } )?
        }

        impl $name {
            /// The properties of this value.
            $vis const fn properties(self) -> $properties {
                match self {
                    $( Self::$variant => $properties { $($row)* }, )+
                    $($( Self::$variant2 => $properties { $($row2)* }, )+)?
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $text:literal ),+ $(,)?
        }
        $( not in all {
            $( $(#[doc = $doc2:literal])+ $variant2:ident = $text2:literal ),+ $(,)?
        } )?
        $( words { $( $(#[doc = $doc3:literal])+ $word:literal = $holds:expr ),+ $(,)? } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $( $(#[doc = $doc])+ $variant, )+
            $($( $(#[doc = $doc2])+ $variant2, )+)?
        }

        #[allow(dead_code)]
        impl $name {
            /// Every value, in the order of help texts and tables.
            $vis const ALL: &'static [Self] = &[$( Self::$variant, )+ $($( Self::$variant2, )+)?];

            /// The values that the word `all` stands for in a list; the others are variants of these.
            $vis const USUAL: &'static [Self] = &[$( Self::$variant, )+];

            /// The name that flags, tables and documents use.
            $vis const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                    $($( Self::$variant2 => $text2, )+)?
                }
            }
        }

        impl $crate::Choice for $name {
            const ALL: &'static [Self] = Self::ALL;
            const USUAL: &'static [Self] = Self::USUAL;
            $( const WORDS: &'static [($crate::Word, $crate::choice::Condition<Self>)] = &[
                $( ($crate::Word { name: $word, about: concat!($($doc3, "\n"),+) }, $holds), )+
            ]; )?

            fn name(self) -> &'static str {
                self.name()
            }

            fn about(self) -> &'static str {
                match self {
                    $( Self::$variant => concat!($($doc, "\n"),+), )+
                    $($( Self::$variant2 => concat!($($doc2, "\n"),+), )+)?
                }
                .trim()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                <Self as $crate::Choice>::from_name(text)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err($crate::serde::de::Error::custom)
            }
        }
    };
}
