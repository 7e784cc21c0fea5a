//! Synthetic request traces: popular objects, requested in bursts, replaced by others as time goes by.
//!
//! Delayed hits come from requests for one object that follow each other faster than the object can be fetched. A
//! generator that draws every request independently has few of them at the same load, so this one models the trains.
//!
//! # The model
//!
//! **Sessions** start as a Poisson process. A session asks for one object a heavy-tailed number of times. Within it
//! the object is *on* for a burst of requests with short exponential gaps, then *off* for an exponential pause, and
//! so on. A session without end would be the on-off source whose superposition, with heavy tails, gives the
//! self-similar load seen on real links (Willinger et al., IEEE/ACM ToN 5(1), 1997); with Poisson starts and
//! finite lengths it is a Bartlett-Lewis cluster process. The rest of the load, the **background**, is single
//! requests, Poisson as well.
//!
//! **Which object** a session or single request asks for is drawn from a **catalogue** by a Zipf law over ranks. The
//! catalogue drifts: objects exchange ranks, and new objects take the places of old ones. Without a catalogue every
//! session is for a new object, which is then never seen again: flows.
//!
//! The trace starts in the steady state: sessions that began before time 0 are there at time 0, so the load does
//! not ramp up, and the mean time between requests is [`Profile::irt`] from the first request to the last.
//!
//! # The profiles
//!
//! | parameter (unit) | `zipf` | `cdn` | `network` | `storage` |
//! |---|---|---|---|---|
//! | [`irt`](Profile::irt): mean time between requests | 1 us | 1 us | 3 us | 30 us |
//! | [`objects`](Catalogue::objects): size of the catalogue | 1 per 32 requests | 1 per 32 requests | none | 1 per 16 requests |
//! | [`alpha`](Catalogue::alpha): Zipf exponent | 0.9 | 0.9 | | 0.7 |
//! | [`births`](Catalogue::births): new objects per request | 0 | 0.004 | | 0.0005 |
//! | [`swaps`](Catalogue::swaps): exchanges of rank per request | 0 | 0.01 | | 0.005 |
//! | [`share`](Sessions::share): requests that belong to sessions | 0 | 0.8 | 0.95 | 0.7 |
//! | [`length`](Sessions::length): requests in a session, tail exponent, least–most | | 1.3, 4–4000 | 1.2, 2–5000 | 1.3, 4–1000 |
//! | mean length that follows (requests) | | 15 | 9 | 14 |
//! | [`burst`](Sessions::burst): mean requests between two pauses | | 12 | 8 | 6 |
//! | [`gap`](Sessions::gap): mean gap within a burst | | 300 us | 100 us | 1 ms |
//! | [`pause`](Sessions::pause): mean pause between bursts | | 30 ms | 20 ms | 400 ms |
//! | [`sizes`](Profile::sizes) | log-normal, median 64 KiB, sigma 2, at most 1 GiB | as `zipf` | packets, 64–1514 B | log-normal, median 16 KiB, sigma 1.2, at most 4 MiB, multiples of 512 B |
//!
//! The times between requests are those of table 2.1 of Atre, *Taming model incongruities* (2025), and the number
//! of requests per object in `cdn` and `zipf` is that of its CDN trace (§2.6.1). The other numbers are choices of
//! this project: they put bursts and pauses on both sides of the latencies that the table names for each system.
//! `zipf` is the control: `cdn` under the independent reference model, with neither bursts nor drift.

mod catalogue;
mod generator;
mod lengths;
mod profile;
mod write;

pub use generator::Generator;
pub use lengths::Lengths;
pub use profile::{Catalogue, InvalidProfile, Objects, Profile, Sessions, Sizes};
pub use write::{WriteError, save_csv, write_csv};
