//! The command from outside: what its users type, and what the documents promise them.

#[cfg(not(feature = "live"))]
mod absent;
mod browser;
mod cache;
mod cache_bound;
mod cache_check;
#[cfg(feature = "live")]
mod cache_serve;
mod common;
mod demo;
mod docs;
mod fair;
mod fair_allocate;
mod fair_files;
mod interrupts;
mod limit;
#[cfg(feature = "live")]
mod limit_experiment;
#[cfg(feature = "live")]
mod limit_live;
#[cfg(feature = "live")]
mod limit_net;
#[cfg(feature = "live")]
mod limit_places;
mod offload;
mod offload_size;
mod pages;
mod pqueue_rtl;
mod reading;
mod sched;
mod spray_compare;
#[cfg(feature = "live")]
mod spray_run;
mod start;
mod surge;
