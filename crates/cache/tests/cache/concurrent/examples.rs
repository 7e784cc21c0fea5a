//! The examples run, and what they assert holds.

#[path = "../../../examples/features.rs"]
mod features;
#[path = "../../../examples/middleware.rs"]
mod middleware;
#[path = "../../../examples/resolver.rs"]
mod resolver;
#[path = "../../../examples/thumbnails.rs"]
mod thumbnails;

#[test]
fn examples_run() {
    features::main();
    middleware::main();
    resolver::main();
    thumbnails::main();
}
