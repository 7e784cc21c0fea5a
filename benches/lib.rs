//! Benches live beside this file; run them with `cargo bench`.
