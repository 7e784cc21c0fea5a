//! Orders of service.

mod fcfs;

pub use fcfs::Fcfs;
