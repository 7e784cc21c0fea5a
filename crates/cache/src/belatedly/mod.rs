//! BELATEDLY: the least total latency that any schedule of a cache could have had, known the whole trace.
//!
//! Source: thesis §2.4, the pruned and merged flow model of §2.4.3. What differs from it:
//!
//! - **A gap is an index into the trace.** The model's constraints are on what the cache holds at every instant, but what it
//!   must hold (for a request that is to be a hit) only grows between two requests: it is enough to look right before each
//!   request, after the fetches that end by then. So time need not be slotted, several requests may arrive at once, and
//!   every fetch may take a time of its own: all that is left of time is which requests come before a fetch ends.
//! - **Prices instead of flows.** With a price on every gap for a unit of the cache, objects no longer compete, and each
//!   one's best path is a dynamic programme over its own requests ([`path`]). By Lagrangian duality the sum of their costs
//!   less capacity × prices is a lower bound whatever the prices, and with the best prices it is the optimum of the flow
//!   model: one object's paths are those of a network, so that relaxing them to fractions gains nothing.
//! - **The schedule is an upper bound.** It is one bit a request: whether the object is kept from there until it is asked
//!   for again. [`Schedule`] replays it and knows whether it fits.
//!
//! From the bottom up: [`instance`] (the problem), [`path`] (one object under prices), [`prices`] (a lower bound), [`schedule`] (a solution).

pub mod instance;
pub mod path;
pub mod prices;
pub mod schedule;

pub use instance::{Arrival, Instance, InstanceError, Terms, Visit};
pub use prices::Prices;
pub use schedule::Schedule;
