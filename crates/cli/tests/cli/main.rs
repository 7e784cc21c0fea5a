//! The command from outside: what its users type, and what the documents promise them.

mod cache;
mod cache_bound;
mod cache_check;
mod common;
mod docs;
mod fair;
mod fair_allocate;
mod fair_files;
mod guide;
mod limit;
mod limit_experiment;
mod limit_live;
mod offload;
mod offload_size;
mod pqueue_rtl;
mod sched;
mod spray_compare;
mod spray_memory;
mod spray_run;
mod surge;
mod surge_pipeline;
