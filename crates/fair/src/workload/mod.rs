//! Logs of tasks, read and generated.
//!
//! [`JobLog`] has them in memory, 24 bytes each, and 4 where rows and tasks are not the same: what they need is kept once for all that need the same.
//!
//! 1. [`JobsSource`], [`LogReading`]: what is asked for, as people write it; [`load()`] reads it by [`LogOptions`].
//! 2. `csv`: rows with named columns, which [`write_csv`] also writes; `slurm`: Slurm's accounting; `kubernetes`: pods, and workloads of Kueue; `swf`, `google`, `alibaba`: public
//!    traces. `decimal` reads one number.
//! 3. [`Generate`]: drawn ones.
//! 4. `builder`: a log while it is read; `reading`: what readers share.
//!
//! ```
//! use trueplane_fair::workload::{LogOptions, from_bytes};
//!
//! let text = b"submit,duration,user,cpu,memory\n0,60,ann,2,0.5\n1.5,10,bob,1,4\n".to_vec();
//! let log = from_bytes("jobs.csv", text, &LogOptions::default(), &())?;
//! assert_eq!((log.tasks.len(), log.resources.join(" ")), (2, "cpu memory".to_owned()));
//!
//! let text = b"submit,duration,user,cpu\n0,60,ann,-2\n".to_vec();
//! let refused = from_bytes("jobs.csv", text, &LogOptions::default(), &()).unwrap_err();
//! assert_eq!(refused.to_string(), "jobs.csv:2: expected an amount of cpu from 0 to 10^18, got \"-2\"");
//! # Ok::<(), trueplane_study::Error>(())
//! ```

mod alibaba;
mod builder;
mod csv;
mod decimal;
mod generate;
mod google;
pub mod kubernetes;
mod load;
mod log;
mod options;
mod parameters;
mod reading;
mod slurm;
mod swf;

pub use builder::{MOST_AMOUNT, MOST_TIME};
pub use csv::write_csv;
pub use decimal::billionths;
pub use generate::Generate;
pub use load::{from_bytes, load};
pub use log::{BILLION, Counted, Cut, Demand, JobLog, LeftOut, Partial, Pool, Task, Unhindered};
pub use options::{JobsSource, LogFormat, LogOptions};
pub use parameters::{ColumnName, LogReading};
