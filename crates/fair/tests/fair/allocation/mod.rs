//! Divisible allocation: by hand, against independent forms, against linear programs, and what the thesis claims of it.

mod cases;
mod lp;
mod naive;
mod properties;
mod sharing;
mod strategy;
mod worked;
