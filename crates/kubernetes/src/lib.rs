#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! 1. [`admission`]: who is next: tenants, workloads, capacity. It knows no Kubernetes.
//! 2. [`objects`], [`resources`], [`names`]: what is read of pods, jobs, nodes, namespaces, tenants and cohorts, and in which units.
//! 3. [`controller`]: what the cluster is, and what to do about it. It connects to nothing.
//! 4. [`connection`]: the API server: what is watched and written, who leads, and what outlives the process.
//!
//! Source: Sadok, *Improving software middleboxes and datacenter task schedulers*, 2018, chapter 4.
#![forbid(unsafe_code)]

pub mod admission;
pub mod connection;
pub mod controller;
pub mod names;
pub mod objects;
pub mod resources;

pub use kube;
