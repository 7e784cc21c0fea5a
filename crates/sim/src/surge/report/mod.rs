//! What the studies say to people.

mod compare;
mod guard;
mod plots;
