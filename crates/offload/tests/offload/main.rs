//! Systems of a switch's table from outside: against their rules, naive forms and worked examples.

mod conformance;
mod dyso;
mod example;
