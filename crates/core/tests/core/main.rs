//! The library from outside: every policy, model and format against its rules, a naive form, worked examples and committed vectors.

mod cache_conformance;
