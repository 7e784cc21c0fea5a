//! Prices that prove bounds: the dual of a problem that falls apart once what is scarce has a price.
//!
//! With a price for what is scarce in every stretch of time, a problem falls apart into small ones, and what these
//! cost, less what all that is scarce is worth, is a lower bound on the whole. It is concave in the prices, and its
//! slope in each of them is what is used less what there is. Prices of single stretches alone find their level
//! slowly: what is used is used over thousands of them. So a price is the sum of one term for each block of 1, 4, 16,
//! … stretches that the stretch is in, and each term follows its own block's mean slope, with steps as in Adam (Kingma
//! and Ba, ICLR 2015): of one length, whatever the slope's scale. Steps shrink in the course of a round, and so does
//! what decisions are smoothed over ([`Softness`]): the next round begins where the last one ended, more carefully,
//! and takes twice as long.
//!
//! A problem implements [`Relaxation`] and is solved by an [`Ascent`]; [`Lanes`] share its small problems among threads.

mod ascent;
mod blocks;
mod lanes;
mod softness;

pub use ascent::{Ascent, Best, Highest, Relaxation, Scarce, sums};
pub use lanes::Lanes;
pub use softness::Softness;
