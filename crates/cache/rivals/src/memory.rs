//! Bytes in use, as the allocator gave them.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes that are allocated now.
pub(crate) fn in_use() -> usize {
    ALLOCATOR.allocated()
}
