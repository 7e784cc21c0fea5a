//! Full matching: an intrusion detector that looks for byte strings, then tries the regular expressions of the rules
//! that have them.
//!
//! 1. [`rules`]: the file of rules; [`pattern`]: what its regular expressions may be.
//! 2. [`prefilter`]: which rules a payload may match; [`matcher`]: whether it does.
//! 3. [`engine`]: what tries an expression, backtracking or linear.
//! 4. [`table`]: the steps of all payloads of a data set; [`costs`]: what a step costs; [`estimator`]: what is learnt.
//! 5. [`application`]: all of it for the simulator.
//! 6. [`attack`]: the payload that costs most per bit.
//!
//! ```
//! use std::sync::Arc;
//! use trueplane_surge::application::Application;
//! use trueplane_surge::matching::engine::{Backtracking, STEP_LIMIT};
//! use trueplane_surge::matching::{Costs, FullMatching, Matcher, Ratio, Rules, Table};
//!
//! let text = br#"alert tcp any any -> any any (msg:"slow"; content:"id="; pcre:"/id=(a+)+$/"; sid:1;)"#;
//! let rules = Rules::parse("slow.rules", text)?;
//! let matcher = Matcher::<Backtracking>::new(&rules, STEP_LIMIT)?;
//! let table = Table::new(&matcher, &["hello", "id=aaaaaaaaaaaaaaaaaaaa!"], &())?;
//! let mut application = FullMatching::new(Arc::new(table), Costs::default(), Ratio::default());
//! assert!(application.serve(0) < application.estimate(1)); // by the prior
//! assert!(application.estimate(1) < application.serve(1)); // which was wrong,
//! assert_eq!(application.estimate(1), application.serve(1)); // as it knows now
//! # Ok::<(), trueplane_study::Error>(())
//! ```
//!
//! Source: Atre, *Taming Model Incongruities in Networked Systems*, 2025, §3.5.1, §3.5.2, §3.6.1.

pub mod application;
pub mod attack;
pub mod costs;
pub mod engine;
pub mod estimator;
pub mod matcher;
pub mod pattern;
pub mod prefilter;
pub mod rules;
pub mod table;

pub use application::FullMatching;
pub use attack::{Search, Worst, search, worst_payload};
pub use costs::Costs;
pub use estimator::{Estimator, Ratio};
pub use matcher::{Inspection, Matcher, Trial};
pub use rules::{RuleError, Rules};
pub use table::Table;
